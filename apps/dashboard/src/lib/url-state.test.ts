import { describe, expect, it } from "vitest";
import { formatSelection, parseSelection, tokenIn } from "./url-state.ts";

const s = "0198f2aa-1111-7000-8000-000000000001";
const r = "0198f2aa-2222-8000-8000-000000000002";

describe("the selection in the address", () => {
  it.each([
    [`?session=${s}&run=${r}`, s, r],
    [`?run=${r}&session=${s}&x=1`, s, r],
    [`?session=${s}`, s, null],
    [`?run=${r}`, null, null],
    ["", null, null],
    ["?session=", null, null],
    ["?session=../../etc", null, null],
    [`?session=${s}&run=%3Cscript%3E`, s, null],
  ])("%s", (search, session, run) => {
    expect(parseSelection(search)).toEqual({ session, run });
  });

  it("survives being written and read", () => {
    for (const selection of [
      { session: s, run: r },
      { session: s, run: null },
      { session: null, run: null },
    ]) {
      expect(parseSelection(formatSelection(selection))).toEqual(selection);
    }
  });

  it("leaves other parameters alone", () => {
    expect(formatSelection({ session: s, run: null }, `?x=1&session=old&run=${r}`)).toBe(`?x=1&session=${s}`);
  });

  it("is nothing at all when nothing is selected", () => {
    expect(formatSelection({ session: null, run: r })).toBe("");
  });
});

describe("the token in what was pasted", () => {
  it.each([
    ["abc", "abc"],
    ["  abc\n", "abc"],
    ["http://127.0.0.1:7777/#token=abc", "abc"],
    ["#token=abc", "abc"],
    ["http://127.0.0.1:7777/#x", null],
    ["   ", null],
  ])("%j", (text, expected) => {
    expect(tokenIn(text)).toBe(expected);
  });
});

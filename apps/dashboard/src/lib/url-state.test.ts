import { describe, expect, it } from "vitest";
import { formatSelection, parseSelection, tokenIn } from "./url-state.ts";

const s = "0198f2aa-1111-7000-8000-000000000001";
const r = "0198f2aa-2222-8000-8000-000000000002";

describe("the selection in the address", () => {
  it.each([
    [`?session=${s}&run=${r}`, s, r, null],
    [`?run=${r}&session=${s}&x=1`, s, r, null],
    [`?session=${s}`, s, null, null],
    [`?run=${r}`, null, null, null],
    ["", null, null, null],
    ["?session=", null, null, null],
    ["?session=../../etc", null, null, null],
    [`?session=${s}&run=%3Cscript%3E`, s, null, null],
    ["?view=approvals", null, null, "approvals"],
    ["?view=hosts", null, null, "hosts"],
    ["?view=other", null, null, null],
    [`?view=approvals&session=${s}`, s, null, null],
  ])("%s", (search, session, run, view) => {
    expect(parseSelection(search)).toEqual({ session, run, view });
  });

  it("survives being written and read", () => {
    for (const selection of [
      { session: s, run: r, view: null },
      { session: s, run: null, view: null },
      { session: null, run: null, view: null },
      { session: null, run: null, view: "approvals" as const },
      { session: null, run: null, view: "hosts" as const },
    ]) {
      expect(parseSelection(formatSelection(selection))).toEqual(selection);
    }
  });

  it("leaves other parameters alone", () => {
    const old = `?x=1&session=old&run=${r}&view=approvals`;
    expect(formatSelection({ session: s, run: null, view: null }, old)).toBe(`?x=1&session=${s}`);
  });

  it("is nothing at all when nothing is selected", () => {
    expect(formatSelection({ session: null, run: r, view: null })).toBe("");
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

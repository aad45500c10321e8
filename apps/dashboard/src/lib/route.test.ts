import { describe, expect, it } from "vitest";
import { emptyRoute, formatRoute, parseRoute, tokenIn } from "./route.ts";

const s = "0198f2aa-1111-7000-8000-000000000001";
const r = "0198f2aa-2222-8000-8000-000000000002";

describe("the route in the URL", () => {
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
    expect(parseRoute(search)).toEqual({ ...emptyRoute, session, run, view });
  });

  it.each([
    [`?session=${s}&show=timeline`, { session: s, show: "timeline" }],
    [`?session=${s}&show=other`, { session: s }],
    [`?session=${s}&run=${r}&tab=conversation`, { session: s, run: r, tab: "conversation" }],
    [`?session=${s}&tab=other`, { session: s }],
    ["?tab=conversation", {}],
    ["?show=timeline", {}],
    ["?view=agents", { view: "agents" }],
    ["?view=agents&agent=coder&folder=%2Fmy%2Fproject", { view: "agents", agent: "coder", folder: "/my/project" }],
    ["?view=agents&agent=..%2Fcoder", { view: "agents" }],
    ["?view=hosts&agent=coder&folder=%2F", { view: "hosts" }],
  ])("%s has its other parts", (search, expected) => {
    const route = parseRoute(search);
    expect(route).toEqual({ ...emptyRoute, ...expected });
    expect(parseRoute(formatRoute(route))).toEqual(route);
  });

  it("is the same after formatting and parsing", () => {
    for (const route of [
      { ...emptyRoute, session: s, run: r, view: null },
      { ...emptyRoute, session: s, run: null, view: null },
      { ...emptyRoute, session: null, run: null, view: null },
      { ...emptyRoute, session: null, run: null, view: "approvals" as const },
      { ...emptyRoute, session: null, run: null, view: "hosts" as const },
    ]) {
      expect(parseRoute(formatRoute(route))).toEqual(route);
    }
  });

  it("keeps other parameters", () => {
    const old = `?x=1&session=old&run=${r}&view=approvals`;
    expect(formatRoute({ ...emptyRoute, session: s, run: null, view: null }, old)).toBe(`?x=1&session=${s}`);
  });

  it("is empty without a session and a view", () => {
    expect(formatRoute({ ...emptyRoute, session: null, run: r, view: null })).toBe("");
  });
});

describe("the token in a pasted text", () => {
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

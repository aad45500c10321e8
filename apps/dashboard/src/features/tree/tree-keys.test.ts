import { describe, expect, it } from "vitest";
import { runRow } from "../../lib/fixtures.test-helper.ts";
import { buildTree, visibleRows } from "../../lib/tree.ts";
import type { Tree } from "./tree-keys.ts";
import { pressKey } from "./tree-keys.ts";

/** A root with 20 children, all in view. */
function aTree(): Tree {
  const children = Array.from({ length: 20 }, (_, i) => runRow({ run: `c${i + 1}`, parentRun: "root", order: i + 1 }));
  const roots = buildTree([runRow({ run: "root", parentRun: null, order: 0 }), ...children]);
  const rows = visibleRows(roots, new Set());
  const nothing = (): void => {};
  return {
    roots,
    rows,
    indexOf: (run) => rows.findIndex(({ node }) => node.run.run === run),
    ...{ fold: nothing, unfold: nothing, toggle: nothing, foldAll: nothing, unfoldAll: nothing },
    unfoldToFailure: () => null,
  };
}

describe("a key", () => {
  it.each([
    ["ArrowDown", null, "root"],
    ["ArrowDown", "c1", "c2"],
    ["ArrowDown", "c20", "c20"],
    ["ArrowUp", null, "root"],
    ["ArrowUp", "c1", "root"],
    ["ArrowUp", "root", "root"],
    ["j", "c1", "c2"],
    ["k", "c2", "c1"],
    ["PageDown", "root", "c10"],
    ["PageUp", "c12", "c2"],
    ["Home", "c7", "root"],
    ["Home", null, "root"],
    ["End", "c7", "c20"],
    ["End", null, "c20"],
    ["ArrowLeft", "c3", "root"],
    ["ArrowRight", "root", "c1"],
    ["ArrowRight", "c3", null],
  ])("%s at %s goes to %s", (key, selected, expected) => {
    expect(pressKey(key, aTree(), selected)).toEqual({ target: expected });
  });

  it("that the tree does not use has no effect", () => {
    expect(pressKey("x", aTree(), "root")).toBeNull();
  });
});

import { describe, expect, it } from "vitest";
import { runRow } from "./fixtures.test-helper.ts";
import { ancestors, buildTree, nextFailure, type TreeNode, visibleRows } from "./tree.ts";

/** The shape of a forest in display order: `a(b c(d))`. */
function shape(nodes: readonly TreeNode[]): string {
  return nodes.map(({ run, children }) => run.run + (children.length > 0 ? `(${shape(children)})` : "")).join(" ");
}

function run(id: string, parentRun: string | null, order: number, part: Parameters<typeof runRow>[0] | object = {}) {
  return runRow({ run: id, parentRun, order, ...part });
}

describe("the tree of a session", () => {
  it("marks runs on another host than their parent, if both hosts are known", () => {
    const on = (host: string | null) => ({ host });
    const rows = [
      run("a", null, 0, on("daemon")),
      run("b", "a", 1, on("worker")),
      run("c", "b", 2, on("worker")),
      run("d", "b", 3, on("daemon")),
      run("e", "a", 4, on(null)),
      run("f", "e", 5, on("worker")),
    ];
    const marked = visibleRows(buildTree(rows), new Set()).filter(({ node }) => node.isOnOtherHost);
    expect(marked.map(({ node }) => node.run.run)).toEqual(["b", "d"]);
  });

  it("has a retry right after its earlier attempt, even if other runs began in between", () => {
    const rows = [
      run("a", null, 0),
      run("b", "a", 1, { task: "survey" }),
      run("c", "a", 2, { task: "interview" }),
      run("d", "a", 3, { agent: "tester", task: "interview" }),
      run("c3", "a", 6, { task: "interview", attempt: 3 }),
      run("c2", "a", 5, { task: "interview", attempt: 2 }),
    ];
    expect(shape(buildTree(rows))).toBe("a(b c c2 c3 d)");
  });

  it.each([
    [
      "children stand by order, whatever order they arrive in",
      [
        ["c", "a", 2],
        ["a", null, 0],
        ["b", "a", 1],
      ],
      "a(b c)",
    ],
    [
      "a child that came after another's child stands after both",
      [
        ["a", null, 0],
        ["b", "a", 1],
        ["x", "b", 2],
        ["b2", "a", 3],
      ],
      "a(b(x) b2)",
    ],
    [
      "a run whose parent is missing is a root for now",
      [
        ["a", null, 0],
        ["d", "gone", 3],
        ["e", "d", 4],
      ],
      "a d(e)",
    ],
    [
      "several roots",
      [
        ["b", null, 1],
        ["a", null, 0],
      ],
      "a b",
    ],
    [
      "a run that names itself is a root",
      [
        ["a", "a", 0],
        ["b", "a", 1],
      ],
      "a(b)",
    ],
    [
      "a circle is cut at its oldest run",
      [
        ["a", "b", 5],
        ["b", "a", 4],
        ["r", null, 0],
        ["c", "a", 6],
      ],
      "r b(a(c))",
    ],
    [
      "equal orders fall back to the id",
      [
        ["b", null, 0],
        ["a", null, 0],
      ],
      "a b",
    ],
    ["nothing", [], ""],
  ] as const)("%s", (_sentence, rows, expected) => {
    expect(shape(buildTree(rows.map(([id, parent, order]) => run(id, parent, order))))).toBe(expected);
  });

  it("marks orphans until their parent arrives", () => {
    const child = run("b", "a", 1);
    expect(buildTree([child])[0]?.orphan).toBe(true);
    const [root] = buildTree([child, run("a", null, 0)]);
    expect([root?.orphan, root?.children[0]?.orphan]).toEqual([false, false]);
  });

  it("counts the descendants of each run", () => {
    const [root] = buildTree([
      run("a", null, 0),
      run("b", "a", 1, { status: "failed" }),
      run("c", "b", 2, { status: "timeout" }),
      run("d", "b", 3, { status: "cancelled" }),
      run("e", "a", 4, { status: "pending" }),
    ]);
    expect(root?.below).toEqual({ runs: 4, active: 1, failed: 2 });
    expect(root?.children[0]?.below).toEqual({ runs: 2, active: 0, failed: 1 });
  });

  it("has a retry with another agent after the attempts that it replaces", () => {
    const rows = [
      run("a", null, 0),
      run("b", "a", 1, { task: "survey" }),
      run("c", "a", 2, { task: "interview" }),
      run("b2", "a", 3, { task: "survey", attempt: 2 }),
      run("x", "a", 4, { agent: "writer", task: "survey", attempt: 3 }),
      run("y", "a", 5, { agent: "writer", task: "other", attempt: 2 }),
      // This is not the second attempt of c.
      run("z", "a", 6, { agent: "writer", task: "interview", attempt: 3 }),
    ];
    expect(shape(buildTree(rows))).toBe("a(b b2 x c y z)");
  });

  it("sums the usage of each run and its descendants", () => {
    const spent = { totalTokens: 10, toolCalls: 1, costUsd: 0.5 };
    const [root] = buildTree([run("a", null, 0, spent), run("b", "a", 1, spent), run("c", "b", 2, spent)]);
    expect(root?.used).toEqual({ tokens: 30, toolCalls: 3, costUsd: 1.5, spawns: 2 });
    expect(root?.children[0]?.used.spawns).toBe(1);
  });

  it("has an unknown cost if one part is unknown", () => {
    const rows = [run("a", null, 0, { costUsd: 1 }), run("b", "a", 1, { costUsd: null, iterations: 1 })];
    expect(buildTree(rows)[0]?.used.costUsd).toBeNull();
  });

  it("handles a chain of 20 000 and a row of 200 000 without a stack overflow", () => {
    const chain = Array.from({ length: 20_000 }, (_, i) => run(`r${i}`, i === 0 ? null : `r${i - 1}`, i));
    expect(visibleRows(buildTree(chain), new Set()).at(-1)?.level).toBe(20_000);
    const wide = Array.from({ length: 200_000 }, (_, i) => run(`r${i}`, i === 0 ? null : "r0", i));
    expect(visibleRows(buildTree(wide), new Set())).toHaveLength(200_000);
  });
});

describe("the visible rows", () => {
  const roots = buildTree([run("a", null, 0), run("b", "a", 1), run("c", "b", 2), run("d", "a", 3)]);

  it("have their position for screen readers", () => {
    const places = visibleRows(roots, new Set()).map((row) => [
      row.node.run.run,
      row.level,
      `${row.posInSet}/${row.setSize}`,
      row.expanded,
      row.parentIndex,
    ]);
    expect(places).toEqual([
      ["a", 1, "1/1", true, -1],
      ["b", 2, "1/2", true, 0],
      ["c", 3, "1/1", null, 1],
      ["d", 2, "2/2", null, 0],
    ]);
  });

  it("contain a folded row, but not its descendants", () => {
    const rows = visibleRows(roots, new Set(["b"]));
    expect(rows.map((row) => [row.node.run.run, row.expanded])).toEqual([
      ["a", true],
      ["b", false],
      ["d", null],
    ]);
  });
});

describe("the next failure", () => {
  const roots = buildTree([
    run("a", null, 0),
    run("b", "a", 1, { status: "failed" }),
    run("c", "b", 2),
    run("d", "a", 3, { status: "timeout" }),
    run("e", "a", 4, { status: "cancelled" }),
  ]);
  it.each([
    [null, 1, "b"],
    [null, -1, "d"],
    ["a", 1, "b"],
    ["b", 1, "d"],
    ["d", 1, "b"],
    ["b", -1, "d"],
    ["e", -1, "d"],
  ] as const)("from %s going %i is %s", (from, direction, expected) => {
    expect(nextFailure(roots, from, direction)).toBe(expected);
  });

  it("is null if no run has failed", () => {
    expect(nextFailure(buildTree([run("a", null, 0)]), "a", 1)).toBeNull();
  });
});

describe("the ancestors of a run", () => {
  it.each([
    ["nearest first", { a: null, b: "a", c: "b" }, "c", ["b", "a"]],
    ["end at a missing parent, which is named", { b: "gone" }, "b", ["gone"]],
    ["do not go round a circle", { a: "b", b: "a" }, "a", ["b"]],
  ])("%s", (_sentence, parents, of, expected) => {
    const runs = new Map(Object.entries(parents).map(([id, parent]) => [id, run(id, parent, 0)]));
    expect(ancestors(runs, of)).toEqual(expected);
  });
});

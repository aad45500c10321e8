import type { Mutant } from "./mutant.ts";

const liveTree = "test/browser/live-tree.test.ts > the live tree";
const facts = `${liveTree} > shows each run's agent, status, depth, steps, step limit and demo label`;
const icons = "apps/dashboard/src/components/icons.test.ts";
const treeRow = "apps/dashboard/src/features/tree/tree-row.tsx";

/** Breaks the promises of S5.9: the tree on the page. */
export const mutants: readonly Mutant[] = [
  {
    name: "no level of the tree is indented",
    rows: ["S5.9a"],
    file: treeRow,
    find: "style={{ width: indentPx(level, props.layout) }}",
    replace: "style={{ width: indentPx(level, props.layout) * 0 }}",
    tests: [`${liveTree} > indents each level, and folds and unfolds what is below a row`],
  },
  {
    name: "a folded row shows what is below it",
    rows: ["S5.9a"],
    file: "apps/dashboard/src/lib/tree.ts",
    find: "row.expanded = !collapsed.has(node.run.run);",
    replace: "row.expanded = !collapsed.has(`${node.run.run}?`);",
    tests: [`${liveTree} > indents each level, and folds and unfolds what is below a row`],
  },
  {
    name: "all agents have the icon of an unknown role",
    rows: ["S5.9b"],
    file: "apps/dashboard/src/components/icons.tsx",
    find: "{roleIcons[role]}",
    replace: "{roleIcons[role] && roleIcons.other}",
    tests: [`${icons} > a role`],
  },
  {
    name: "the planner is drawn like the reviewer",
    rows: ["S5.9b"],
    file: "apps/dashboard/src/components/icons.tsx",
    find: "{roleIcons[role]}",
    replace: '{roleIcons[role === "planner" ? "reviewer" : role]}',
    tests: [`${icons} > a role`],
  },
  {
    name: "a run that timed out has the badge of a failed one",
    rows: ["S5.9c"],
    file: "apps/dashboard/src/components/badges.tsx",
    find: '    <span className="badge" data-status={row.status} data-kind={kind}>\n      <svg viewBox="0 0 16 16" aria-hidden="true">\n        {glyphs[kind]}',
    replace:
      '    <span className="badge" data-status={row.status} data-kind={kind}>\n      <svg viewBox="0 0 16 16" aria-hidden="true">\n        {glyphs[kind === "timeout" ? "failed" : kind]}',
    tests: [`${icons} > a status`],
  },
  {
    name: "a run shows no duration",
    rows: ["S5.9d"],
    file: treeRow,
    find: '<span className="figure">{durationText(run, now)}</span>',
    replace: '<span className="figure">{durationText(run, now).slice(99)}</span>',
    tests: [facts],
  },
  {
    name: "a run shows no iterations",
    rows: ["S5.9d"],
    file: treeRow,
    find: "        {run.iterations}\n",
    replace: "",
    tests: [facts],
  },
];

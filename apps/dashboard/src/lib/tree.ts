import type { RunRow } from "@troupe/core";
import type { Spent } from "@troupe/core/internal";
import { isActive, isFailure } from "./status.ts";

/** A run in its place, with what its subtree holds: a folded row still tells what goes on below. */
export interface TreeNode {
  run: RunRow;
  children: TreeNode[];
  /** Its parent is named but not among the rows (yet). */
  orphan: boolean;
  /** On another host than its parent. */
  elsewhere: boolean;
  below: { runs: number; active: number; failed: number };
  /** By it and all below it: what counts against its budget. */
  used: Spent;
}

/** A row of the treegrid, with what assistive technology is told of its place. */
export interface TreeRow {
  node: TreeNode;
  level: number;
  posInSet: number;
  setSize: number;
  /** `null` for a leaf. */
  expanded: boolean | null;
  /** Index of the parent's row; -1 for a root. */
  parentIndex: number;
}

/**
 * The delegation trees among these runs, children by `order`, retries right after the attempts before them.
 *
 * Rows arrive one by one: a run whose parent is missing stands as a root until the parent comes. Rows that name each
 * other in a circle, which no healthy record holds, are shown all the same, the oldest of them as a root.
 */
export function buildTree(runs: Iterable<RunRow>): TreeNode[] {
  const sorted = [...runs].sort(byOrder);
  const nodes = new Map<string, TreeNode>();
  for (const run of sorted) {
    nodes.set(run.run, newNode(run));
  }
  const roots: TreeNode[] = [];
  for (const node of nodes.values()) {
    const parent = node.run.parentRun === null ? undefined : nodes.get(node.run.parentRun);
    if (parent) {
      parent.children.push(node);
      node.elsewhere = isElsewhere(node.run, parent.run);
    } else {
      node.orphan = node.run.parentRun !== null;
      roots.push(node);
    }
  }
  for (const node of nodes.values()) node.children = withRetriesTogether(node.children);
  breakCircles(nodes, roots);
  countBelow(roots);
  return roots;
}

/** The rows to show, top to bottom, without what is folded away. */
export function visibleRows(roots: readonly TreeNode[], collapsed: ReadonlySet<string>): TreeRow[] {
  const rows: TreeRow[] = [];
  const stack: TreeRow[] = [];
  pushSiblings(stack, roots, 1, -1);
  for (let row = stack.pop(); row; row = stack.pop()) {
    const { node } = row;
    if (node.children.length > 0) row.expanded = !collapsed.has(node.run.run);
    rows.push(row);
    if (row.expanded) pushSiblings(stack, node.children, row.level + 1, rows.length - 1);
  }
  return rows;
}

/** All nodes, depth first, folded or not. */
export function walk(roots: readonly TreeNode[]): TreeNode[] {
  const found: TreeNode[] = [];
  const stack = roots.toReversed();
  for (let node = stack.pop(); node; node = stack.pop()) {
    found.push(node);
    for (const child of node.children.toReversed()) stack.push(child);
  }
  return found;
}

/** The failed run after (or before) a given one, round the end; `null` when none failed. */
export function nextFailure(roots: readonly TreeNode[], from: string | null, direction: 1 | -1): string | null {
  const all = walk(roots);
  const start = all.findIndex((node) => node.run.run === from);
  for (let step = 1; step <= all.length; step++) {
    const origin = start < 0 && direction < 0 ? 0 : start;
    const node = all[(origin + direction * step + all.length * 2) % all.length];
    if (node && isFailure(node.run)) return node.run.run;
  }
  return null;
}

/** Ids of all ancestors, nearest first: what must be unfolded for a run to be seen. */
export function ancestors(runs: ReadonlyMap<string, RunRow>, run: string): string[] {
  const found = new Set<string>();
  let parent = runs.get(run)?.parentRun ?? null;
  while (parent !== null && parent !== run && !found.has(parent)) {
    found.add(parent);
    parent = runs.get(parent)?.parentRun ?? null;
  }
  return [...found];
}

function byOrder(a: RunRow, b: RunRow): number {
  return a.order - b.order || (a.run < b.run ? -1 : 1);
}

function newNode(run: RunRow): TreeNode {
  return {
    run,
    children: [],
    orphan: false,
    elsewhere: false,
    below: { runs: 0, active: 0, failed: 0 },
    used: { tokens: run.totalTokens, costUsd: run.costUsd, toolCalls: run.toolCalls, spawns: 0 },
  };
}

function isElsewhere({ host }: RunRow, parent: RunRow): boolean {
  return host !== null && parent.host !== null && host !== parent.host;
}

/** However much else began between an attempt and the next one: what belongs together is read together. */
function withRetriesTogether(children: TreeNode[]): TreeNode[] {
  if (children.every(({ run }) => run.attempt <= 1)) return children;
  const requests = new Map<string, TreeNode[]>();
  for (const child of byAttempt(children)) {
    const request = `${child.run.agent} ${child.run.task}`;
    const same = requests.get(request) ?? alternativeTo(child, requests);
    if (same) same.push(child);
    else requests.set(request, [child]);
  }
  const groupOf = new Map([...requests.values()].flatMap((same) => same.map((child) => [child, same] as const)));
  return [...new Set(children.map((child) => groupOf.get(child) ?? [child]))].flat();
}

/** A retry with another agent: it follows the attempts at the same task that ended just before it. */
function alternativeTo({ run }: TreeNode, requests: ReadonlyMap<string, TreeNode[]>): TreeNode[] | undefined {
  if (run.attempt <= 1) return undefined;
  return [...requests.values()].find((same) => {
    const last = same.at(-1)?.run;
    return last?.task === run.task && last.attempt === run.attempt - 1;
  });
}

function byAttempt(nodes: readonly TreeNode[]): TreeNode[] {
  return nodes.toSorted((a, b) => a.run.attempt - b.run.attempt);
}

/** Last one first, so that the first is popped first. */
function pushSiblings(stack: TreeRow[], nodes: readonly TreeNode[], level: number, parentIndex: number): void {
  for (const [i, node] of [...nodes.entries()].reverse()) {
    stack.push({ node, level, posInSet: i + 1, setSize: nodes.length, expanded: null, parentIndex });
  }
}

/** Makes a root of the oldest run of each circle, and cuts it out of its parent's children. */
function breakCircles(nodes: ReadonlyMap<string, TreeNode>, roots: TreeNode[]): void {
  const reached = new Set(walk(roots));
  if (reached.size === nodes.size) return;
  for (const node of nodes.values()) {
    if (reached.has(node)) continue;
    const parent = nodes.get(node.run.parentRun ?? "");
    if (parent) parent.children = parent.children.filter((child) => child !== node);
    node.orphan = true;
    roots.push(node);
    for (const found of walk([node])) reached.add(found);
  }
}

function countBelow(roots: readonly TreeNode[]): void {
  for (const { children, below, used } of walk(roots).reverse()) {
    for (const child of children) {
      add(used, child.used);
      below.runs += child.below.runs + 1;
      below.active += child.below.active + Number(isActive(child.run));
      below.failed += child.below.failed + Number(isFailure(child.run));
    }
  }
}

function add(used: Spent, more: Spent): void {
  used.tokens += more.tokens;
  used.toolCalls += more.toolCalls;
  used.spawns += more.spawns + 1;
  used.costUsd = used.costUsd === null || more.costUsd === null ? null : used.costUsd + more.costUsd;
}

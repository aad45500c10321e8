import type { RunRow } from "@troupe/core";
import type { Spent } from "@troupe/core/internal";
import { isActive, isFailure } from "./status.ts";

/** A run in the tree. It has sums of its descendants, which a folded row shows. */
export interface TreeNode {
  run: RunRow;
  children: TreeNode[];
  /** The row of its parent has not arrived. */
  orphan: boolean;
  /** The run is on another host than its parent. */
  isOnOtherHost: boolean;
  below: { runs: number; active: number; failed: number };
  /** Usage of the run and its descendants, which counts against its budget. */
  used: Usage;
}

/** Usage, and how many of its tokens are an estimate. */
export interface Usage extends Spent {
  estimatedTokens?: number;
}

/** A row of the treegrid, with its position for screen readers. */
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
 * Builds the delegation trees of runs. Children are in the order of `order`, and retries follow their earlier attempts.
 *
 * Rows arrive one by one, so a run is a root until the row of its parent arrives. A damaged record can contain a cycle of
 * parents. The tree shows such runs as well, with the oldest one as a root.
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
      node.isOnOtherHost = isOnDifferentHost(node.run, parent.run);
    } else {
      node.orphan = node.run.parentRun !== null;
      roots.push(node);
    }
  }
  for (const node of nodes.values()) node.children = groupRetries(node.children);
  breakCycles(nodes, roots);
  sumDescendants(roots);
  return roots;
}

/** The visible rows from top to bottom, without folded ones. */
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

/** All nodes, depth first. */
export function flatten(roots: readonly TreeNode[]): TreeNode[] {
  const nodes: TreeNode[] = [];
  const stack = roots.toReversed();
  for (let node = stack.pop(); node; node = stack.pop()) {
    nodes.push(node);
    for (const child of node.children.toReversed()) stack.push(child);
  }
  return nodes;
}

/** The next (or previous) failed run, with wrap-around; `null` if no run has failed. */
export function nextFailure(roots: readonly TreeNode[], from: string | null, direction: 1 | -1): string | null {
  const all = flatten(roots);
  const start = all.findIndex((node) => node.run.run === from);
  for (let step = 1; step <= all.length; step++) {
    const origin = start < 0 && direction < 0 ? 0 : start;
    const node = all[(origin + direction * step + all.length * 2) % all.length];
    if (node && isFailure(node.run)) return node.run.run;
  }
  return null;
}

/** Ids of all ancestors, nearest first. */
export function ancestors(runs: ReadonlyMap<string, RunRow>, run: string): string[] {
  const ids = new Set<string>();
  let parent = runs.get(run)?.parentRun ?? null;
  while (parent !== null && parent !== run && !ids.has(parent)) {
    ids.add(parent);
    parent = runs.get(parent)?.parentRun ?? null;
  }
  return [...ids];
}

function byOrder(a: RunRow, b: RunRow): number {
  return a.order - b.order || (a.run < b.run ? -1 : 1);
}

function newNode(run: RunRow): TreeNode {
  return {
    run,
    children: [],
    orphan: false,
    isOnOtherHost: false,
    below: { runs: 0, active: 0, failed: 0 },
    used: {
      tokens: run.totalTokens,
      costUsd: run.costUsd,
      toolCalls: run.toolCalls,
      spawns: 0,
      ...(run.estimatedTokens > 0 ? { estimatedTokens: run.estimatedTokens } : {}),
    },
  };
}

function isOnDifferentHost({ host }: RunRow, parent: RunRow): boolean {
  return host !== null && parent.host !== null && host !== parent.host;
}

/** Moves each retry behind the earlier attempt, even if other runs began in between. */
function groupRetries(children: TreeNode[]): TreeNode[] {
  if (children.every(({ run }) => run.attempt <= 1)) return children;
  const requests = new Map<string, TreeNode[]>();
  for (const child of byAttempt(children)) {
    const request = `${child.run.agent} ${child.run.task}`;
    const same = requests.get(request) ?? earlierAttempts(child, requests);
    if (same) same.push(child);
    else requests.set(request, [child]);
  }
  const groupOf = new Map([...requests.values()].flatMap((same) => same.map((child) => [child, same] as const)));
  return [...new Set(children.map((child) => groupOf.get(child) ?? [child]))].flat();
}

/** The attempts at the same task that a retry with another agent continues. */
function earlierAttempts({ run }: TreeNode, requests: ReadonlyMap<string, TreeNode[]>): TreeNode[] | undefined {
  if (run.attempt <= 1) return undefined;
  return [...requests.values()].find((same) => {
    const last = same.at(-1)?.run;
    return last?.task === run.task && last.attempt === run.attempt - 1;
  });
}

function byAttempt(nodes: readonly TreeNode[]): TreeNode[] {
  return nodes.toSorted((a, b) => a.run.attempt - b.run.attempt);
}

/** Pushes the last one first, so that the first one is popped first. */
function pushSiblings(stack: TreeRow[], nodes: readonly TreeNode[], level: number, parentIndex: number): void {
  for (const [i, node] of [...nodes.entries()].reverse()) {
    stack.push({ node, level, posInSet: i + 1, setSize: nodes.length, expanded: null, parentIndex });
  }
}

/** Makes the oldest run of each cycle a root and removes it from its parent's children. */
function breakCycles(nodes: ReadonlyMap<string, TreeNode>, roots: TreeNode[]): void {
  const reached = new Set(flatten(roots));
  if (reached.size === nodes.size) return;
  for (const node of nodes.values()) {
    if (reached.has(node)) continue;
    const parent = nodes.get(node.run.parentRun ?? "");
    if (parent) parent.children = parent.children.filter((child) => child !== node);
    node.orphan = true;
    roots.push(node);
    for (const descendant of flatten([node])) reached.add(descendant);
  }
}

function sumDescendants(roots: readonly TreeNode[]): void {
  for (const { children, below, used } of flatten(roots).reverse()) {
    for (const child of children) {
      add(used, child.used);
      below.runs += child.below.runs + 1;
      below.active += child.below.active + Number(isActive(child.run));
      below.failed += child.below.failed + Number(isFailure(child.run));
    }
  }
}

function add(used: Usage, more: Usage): void {
  if (more.estimatedTokens) used.estimatedTokens = (used.estimatedTokens ?? 0) + more.estimatedTokens;
  used.tokens += more.tokens;
  used.toolCalls += more.toolCalls;
  used.spawns += more.spawns + 1;
  used.costUsd = used.costUsd === null || more.costUsd === null ? null : used.costUsd + more.costUsd;
}

import type { Tree } from "./use-tree.ts";

/** What a key asks of the tree: the run to go to, or nothing but a fold. `null`: not one of the tree's keys. */
export type KeyEffect = { go: string | null } | null;

/** Rows that Page Up and Page Down pass. */
const page = 10;

const moves: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  j: (at) => at + 1,
  k: (at) => at - 1,
  PageDown: (at) => at + page,
  PageUp: (at) => at - page,
  Home: () => 0,
  End: (_at, last) => last,
};

/** Keys that work wherever the focus is, unless somebody is typing. */
export const globalKeys: ReadonlySet<string> = new Set(["j", "k", "[", "]"]);

/** Does what a key asks, as the ARIA practices have it for a treegrid. */
export function pressKey(key: string, tree: Tree, selected: string | null): KeyEffect {
  const move = moves[key];
  if (move) return { go: runAt(tree, clampedMove(move, tree.indexOf(selected), tree.rows.length - 1)) };
  if (key === "]" || key === "[") return { go: tree.reachFailure(selected, key === "]" ? 1 : -1) };
  if (key === "ArrowRight") return right(tree, tree.indexOf(selected));
  if (key === "ArrowLeft") return left(tree, tree.indexOf(selected));
  return null;
}

/** Nothing selected is a place before the first row. */
function clampedMove(move: (at: number, last: number) => number, at: number, last: number): number {
  return Math.min(Math.max(move(at, last), 0), last);
}

function right(tree: Tree, at: number): KeyEffect {
  const row = tree.rows[at];
  if (!row || row.expanded === null) return { go: null };
  if (row.expanded) return { go: runAt(tree, at + 1) };
  tree.unfold(row.node.run.run);
  return { go: null };
}

function left(tree: Tree, at: number): KeyEffect {
  const row = tree.rows[at];
  if (!row) return { go: null };
  if (!row.expanded) return { go: runAt(tree, row.parentIndex) };
  tree.fold(row.node.run.run);
  return { go: null };
}

function runAt(tree: Tree, index: number): string | null {
  return tree.rows[index]?.node.run.run ?? null;
}

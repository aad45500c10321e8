import type { TreeNode, TreeRow } from "../../lib/tree.ts";

/** The visible tree and its folding. */
export interface Tree {
  roots: readonly TreeNode[];
  rows: readonly TreeRow[];
  /** Index of a run's row, or of its nearest visible ancestor; -1 without either. */
  indexOf(run: string | null): number;
  fold(run: string): void;
  unfold(run: string): void;
  toggle(run: string): void;
  foldAll(): void;
  unfoldAll(): void;
  /** The next failed run in that direction. Unfolds its ancestors. */
  unfoldToFailure(from: string | null, direction: 1 | -1): string | null;
}

/** The run to select, or `target: null` if the key only folds. `null` if the tree does not use the key. */
type KeyEffect = { target: string | null } | null;

/** Rows of a Page Up or Page Down. */
const pageRows = 10;

const moves: Readonly<Record<string, (at: number, last: number) => number>> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  j: (at) => at + 1,
  k: (at) => at - 1,
  PageDown: (at) => at + pageRows,
  PageUp: (at) => at - pageRows,
  Home: () => 0,
  End: (_at, last) => last,
};

/** Keys that work with any focus, except in input fields. */
export const globalKeys: ReadonlySet<string> = new Set(["j", "k", "[", "]"]);

/** Applies a key as the ARIA practices for a treegrid define it. */
export function pressKey(key: string, tree: Tree, selected: string | null): KeyEffect {
  const move = moves[key];
  if (move) return { target: runAt(tree, clampedMove(move, tree.indexOf(selected), tree.rows.length - 1)) };
  if (key === "]" || key === "[") return { target: tree.unfoldToFailure(selected, key === "]" ? 1 : -1) };
  if (key === "ArrowRight") return right(tree, tree.indexOf(selected));
  if (key === "ArrowLeft") return left(tree, tree.indexOf(selected));
  return null;
}

/** Without a selection, the position is before the first row. */
function clampedMove(move: (at: number, last: number) => number, at: number, last: number): number {
  return Math.min(Math.max(move(at, last), 0), last);
}

function right(tree: Tree, at: number): KeyEffect {
  const row = tree.rows[at];
  if (!row || row.expanded === null) return { target: null };
  if (row.expanded) return { target: runAt(tree, at + 1) };
  tree.unfold(row.node.run.run);
  return { target: null };
}

function left(tree: Tree, at: number): KeyEffect {
  const row = tree.rows[at];
  if (!row) return { target: null };
  if (!row.expanded) return { target: runAt(tree, row.parentIndex) };
  tree.fold(row.node.run.run);
  return { target: null };
}

function runAt(tree: Tree, index: number): string | null {
  return tree.rows[index]?.node.run.run ?? null;
}

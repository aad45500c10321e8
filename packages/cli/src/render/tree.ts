import type { RunRow } from "@troupe/core";
import { describeAgent, describeBailout, describeStatus } from "@troupe/core/texts";
import type { Colours } from "../terminal/terminal.ts";
import { cleanLine } from "./clean.ts";
import { formatCost, formatDuration, shortRunId } from "./format.ts";
import { type Cell, type Column, layout, truncate } from "./layout.ts";
import { statusStyle } from "./status.ts";

export interface TreeLine {
  run: RunRow;
  /** Branch characters before this line, and before the lines below it. */
  head: string;
  below: string;
}

const right: Column = { align: "right" };
const columns: readonly Column[] = [{}, {}, { flexible: true }, right, right, right, {}, {}];

/** The runs of a session as a tree, one line each, sub-runs in the order of their start. */
export function renderTree(
  runs: readonly RunRow[],
  options: { width: number; colours: Colours; now: number },
): string[] {
  const placed = treeLines(runs);
  const lines = layout(
    columns,
    placed.map((each) => cellsOf(each, options)),
    options.width,
  );
  return placed.flatMap((each, i) => [lines[i] ?? "", ...noteOf(each, options)]);
}

/** The runs in the order of the tree, with the branch characters of each line. */
export function treeLines(runs: readonly RunRow[]): TreeLine[] {
  const childrenOf = byParent(runs);
  const lines: TreeLine[] = [];
  // An explicit stack: the tree can be deeper than the call stack.
  const waiting = (childrenOf.get(null) ?? []).map((run) => ({ run, head: "", below: "" })).reverse();
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const children = childrenOf.get(next.run.run) ?? [];
    const { below } = next;
    lines.push({ ...next, below: below + (children.length > 0 ? "│  " : "   ") });
    for (const [i, run] of [...children.entries()].reverse()) {
      const last = i === children.length - 1;
      waiting.push({ run, head: `${below}${last ? "└─ " : "├─ "}`, below: `${below}${last ? "   " : "│  "}` });
    }
  }
  return lines;
}

/** A run with an unknown parent is shown at the top level. */
function byParent(runs: readonly RunRow[]): Map<string | null, RunRow[]> {
  const known = new Set(runs.map((run) => run.run));
  const children = new Map<string | null, RunRow[]>();
  for (const run of [...runs].sort((one, other) => one.order - other.order)) {
    const parent = run.parentRun !== null && known.has(run.parentRun) ? run.parentRun : null;
    const siblings = children.get(parent);
    if (siblings) siblings.push(run);
    else children.set(parent, [run]);
  }
  return children;
}

function cellsOf({ run, head }: TreeLine, options: { colours: Colours; now: number }): Cell[] {
  const { colours } = options;
  const style = statusStyle(run.exactStatus);
  const settled = run.completedAt !== null;
  const elapsedMs = run.durationMs ?? (settled ? null : options.now - Date.parse(run.startedAt));
  return [
    { text: `${head}${style.glyph} ${cleanLine(describeAgent(run))}`, paint: paintAfter(head, style.paint(colours)) },
    { text: describeStatus(run), paint: style.paint(colours) },
    { text: cleanLine(run.task) },
    { text: elapsedMs === null ? "" : formatDuration(elapsedMs), paint: colours.dim },
    { text: run.iterations === 1 ? "1 step" : `${run.iterations} steps`, paint: colours.dim },
    { text: formatCost(run.costUsd, { isEstimate: run.estimatedTokens > 0 }), paint: colours.dim },
    { text: run.attempt > 1 ? `attempt ${run.attempt}/${run.maxAttempts}` : "", paint: colours.yellow },
    { text: shortRunId(run), paint: colours.dim },
  ];
}

/** Paints a text without the branch characters before it. */
export function paintAfter(head: string, paint: (text: string) => string): (text: string) => string {
  return (text) => (text.startsWith(head) ? head + paint(text.slice(head.length)) : text);
}

/** The error or the current activity below a run's line. */
function noteOf({ run, below }: TreeLine, options: { width: number; colours: Colours }): string[] {
  const bailout = run.bailoutReason === null ? null : describeBailout(run.bailoutReason);
  const note = run.error ?? bailout ?? (run.completedAt === null ? run.activity : null);
  if (!note) return [];
  const noteWidth = Math.max(20, options.width - below.length);
  return [below + options.colours.dim(truncate(cleanLine(note), noteWidth))];
}

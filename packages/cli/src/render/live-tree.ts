import type { LiveEvent, RunRow } from "@troupe/core";
import { describeAgent, describeStatus } from "@troupe/core/texts";
import type { Colours } from "../terminal/terminal.ts";
import { cleanLine, cleanText } from "./clean.ts";
import { formatCost, formatDuration } from "./format.ts";
import { type Cell, type Column, layout, truncate, wrap } from "./layout.ts";
import { statusStyle } from "./status.ts";
import { paintAfter, treeLines } from "./tree.ts";

export interface LiveTreeSize {
  width: number;
  /** The most lines. */
  height: number;
}

/** The runs under way, for a place at the end of a terminal that is drawn again and again. */
export interface LiveTree {
  change(runs: readonly RunRow[]): void;
  live(event: LiveEvent, nowMs: number): void;
  lines(size: LiveTreeSize, nowMs: number): string[];
}

/** A running call, or the state of the run. */
interface Activity {
  text: string;
  sinceMs: number;
}

/** Newest lines of the root's text. */
const textLinesMax = 3;
/** The rest of a long text is never shown. */
const textCharactersMax = 2_000;

/**
 * Follows the runs of a session.
 *
 * @example
 * const tree = createLiveTree(colours);
 * tree.change(change.runs);
 * output.keepBelow(tree.lines({ width: output.width, height: 10 }, Date.now()));
 */
export function createLiveTree(colours: Colours): LiveTree {
  const runs = new Map<string, RunRow>();
  const activities = new Map<string, Activity>();
  let text = "";
  const isRoot = (run: string): boolean => runs.get(run)?.parentRun === null;
  return {
    change(rows) {
      for (const row of rows) runs.set(row.run, row);
    },
    live(event, nowMs) {
      if (event.kind === "text.delta" && isRoot(event.run)) text = (text + event.text).slice(-textCharactersMax);
      // A new step of the root begins with a new text.
      if (event.kind === "state.entered" && isRoot(event.run)) text = "";
      if (event.kind === "tool.started") {
        const words = [event.tool, event.detail].map(cleanLine).filter(Boolean);
        activities.set(event.run, { text: `⚙ ${words.join(": ")}`, sinceMs: nowMs });
      }
      if (event.kind === "tool.finished" || event.kind === "state.entered") activities.delete(event.run);
    },
    lines(size, nowMs) {
      const active = [...runs.values()].filter(({ completedAt }) => completedAt === null);
      const written = textLines(text, size.width).map((line) => colours.dim(line));
      const rows = rowsOf(active, { activities, colours, size, nowMs });
      return [...cut(rows, size.height - written.length, colours), ...written];
    },
  };
}

function textLines(text: string, width: number): string[] {
  const clean = cleanText(text).trim();
  return clean === ""
    ? []
    : wrap(clean, width - 3)
        .slice(-textLinesMax)
        .map((line) => `  ${line}`);
}

/** The queue of a wide tree is longer than a screen. */
function cut(rows: readonly string[], height: number, colours: Colours): string[] {
  if (rows.length <= height) return [...rows];
  const shown = rows.slice(0, Math.max(0, height - 1));
  return [...shown, colours.dim(`  … and ${rows.length - shown.length} more runs`)];
}

const right: Column = { align: "right" };
const columns: readonly Column[] = [{}, {}, { flexible: true }, right, right, right];

interface RowScope {
  activities: ReadonlyMap<string, Activity>;
  colours: Colours;
  size: LiveTreeSize;
  nowMs: number;
}

function rowsOf(active: readonly RunRow[], { activities, colours, size, nowMs }: RowScope): string[] {
  const rows = treeLines(active).map(({ run, head }): Cell[] => {
    const style = statusStyle(run.exactStatus);
    const activity = activities.get(run.run);
    const since = activity ? ` · ${formatDuration(nowMs - activity.sinceMs)}` : "";
    const place = run.queuePosition === null ? "" : ` (${run.queuePosition})`;
    return [
      { text: `${head}${style.glyph} ${cleanLine(describeAgent(run))}`, paint: paintAfter(head, style.paint(colours)) },
      { text: `${describeStatus(run)}${place}`, paint: style.paint(colours) },
      { text: activity ? `${activity.text}${since}` : cleanLine(run.activity ?? run.task) },
      { text: formatDuration(nowMs - Date.parse(run.startedAt)), paint: colours.dim },
      { text: run.totalTokens === 0 ? "" : `${run.totalTokens.toLocaleString("en-US")} tokens`, paint: colours.dim },
      { text: formatCost(run.costUsd, { isEstimate: run.estimatedTokens > 0 }), paint: colours.dim },
    ];
  });
  return layout(columns, rows, size.width - 1).map((line) => truncateColoured(line, size.width - 1));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds our own colours
const colourCodes = /\u001b\[[0-9;]*m/g;

/** A line that is wider than a narrow terminal loses its colours and its end, because a wrapped line cannot be replaced. */
function truncateColoured(line: string, width: number): string {
  const plain = line.replace(colourCodes, "");
  const short = truncate(plain, Math.max(1, width));
  return short === plain ? line : short;
}

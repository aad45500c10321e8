import type { LiveEvent, RunRow } from "@troupe/core";
import type { RecordChange } from "@troupe/core/internal";
import { describeAgent, describeBailout, describeRetry, describeSpaceWait } from "@troupe/core/texts";
import type { Colours } from "../terminal/terminal.ts";
import { cleanLine } from "./clean.ts";
import { formatDuration } from "./format.ts";
import { pad, truncate } from "./layout.ts";
import { statusStyle } from "./status.ts";

interface ProgressEvent {
  at: number;
  run: RunRow;
  glyph: string;
  paint: (text: string) => string;
  text: string;
}

export interface ProgressOptions {
  width: number;
  colours: Colours;
  /** Time of the submission: wall clock in milliseconds. */
  startedAt: number;
}

export interface Progress {
  apply(change: RecordChange): string[];
  /** Lines for a live event: a call with its result, a model call that waits for a retry, or a wait for space on a disk. */
  live(event: LiveEvent, nowMs: number): string[];
}

/** Shorter waits are not shown. */
const waitShownMs = 1_000;

/**
 * Turns changes of the record into lines: started, delegated, retried, wrote, settled. A change has complete rows, and some
 * repeat, so each line comes from the difference to the previous row.
 *
 * @example
 * const progress = createProgress({ width: 80, colours, startedAt: Date.now() });
 * for (const line of progress.apply(change)) process.stderr.write(`${line}\n`);
 */
export function createProgress(options: ProgressOptions): Progress {
  const seen = new Map<string, RunRow>();
  return {
    apply(change) {
      const runs = [...change.runs].sort((one, other) => one.order - other.order);
      const before = new Map(runs.map(({ run }) => [run, seen.get(run)]));
      for (const run of runs) seen.set(run.run, run);
      const events = runs.flatMap((run) => eventsOf(run, before.get(run.run), { seen, colours: options.colours }));
      return events.sort((one, other) => one.at - other.at).map((each) => toLine(each, options));
    },
    live(event, nowMs) {
      const run = seen.get(event.run);
      if (event.kind === "tool.finished" && run)
        return [toLine(toolEvent(run, event, nowMs, options.colours), options)];
      if (event.kind === "disk.waiting" && run)
        return [toLine(spaceEvent(run, event, nowMs, options.colours), options)];
      if (event.kind !== "model.retrying" || event.waitMs < waitShownMs || !run) return [];
      return [toLine(retryEvent(run, event, nowMs, options.colours), options)];
    },
  };
}

function eventsOf(
  run: RunRow,
  before: RunRow | undefined,
  context: { seen: Map<string, RunRow>; colours: Colours },
): ProgressEvent[] {
  const { colours } = context;
  const events: ProgressEvent[] = [];
  if (!before) events.push(startEvent(run, context));
  for (const file of filesWritten(run, before, context.seen)) {
    const text = `${cleanLine(describeAgent(run))} changed ${cleanLine(file)}`;
    events.push({ at: Date.parse(run.lastEventAt), run, glyph: "✎", paint: colours.blue, text });
  }
  if (run.completedAt !== null && !before?.completedAt) events.push(endEvent(run, run.completedAt, colours));
  return events;
}

/** New files of a run. A settled run lists the files of its sub-runs too, which have lines already. */
function filesWritten(run: RunRow, before: RunRow | undefined, seen: ReadonlyMap<string, RunRow>): string[] {
  const known = new Set(before?.filesModified);
  if (run.completedAt !== null) {
    for (const child of seen.values()) {
      if (child.parentRun === run.run) for (const file of child.filesModified) known.add(file);
    }
  }
  return run.filesModified.filter((file) => !known.has(file));
}

function startEvent(run: RunRow, { seen, colours }: { seen: Map<string, RunRow>; colours: Colours }): ProgressEvent {
  const agent = cleanLine(describeAgent(run));
  const task = cleanLine(run.task);
  const at = Date.parse(run.startedAt);
  const parent = run.parentRun === null ? undefined : seen.get(run.parentRun);
  if (run.attempt > 1) {
    const text = `${agent} tries again (${run.attempt}/${run.maxAttempts}): ${task}`;
    return { at, run, glyph: "↻", paint: colours.yellow, text };
  }
  if (run.parentRun === null) return { at, run, glyph: "●", paint: colours.cyan, text: `${agent}: ${task}` };
  const by = parent ? `${cleanLine(describeAgent(parent))} → ` : "→ ";
  return { at, run, glyph: "●", paint: colours.cyan, text: `${by}${agent}: ${task}` };
}

function toolEvent(
  run: RunRow,
  { tool, detail, durationMs, ok, result }: Extract<LiveEvent, { kind: "tool.finished" }>,
  nowMs: number,
  colours: Colours,
): ProgressEvent {
  const call = [tool, detail].map(cleanLine).filter(Boolean).join(": ");
  const facts = [formatDuration(durationMs), cleanLine(result)].filter(Boolean).join(" · ");
  const text = `${cleanLine(describeAgent(run))} ${call} · ${facts}`;
  return { at: nowMs, run, glyph: "⚙", paint: ok ? colours.dim : colours.red, text };
}

function retryEvent(
  run: RunRow,
  event: Extract<LiveEvent, { kind: "model.retrying" }>,
  nowMs: number,
  colours: Colours,
): ProgressEvent {
  const text = `${cleanLine(describeAgent(run))} ${describeRetry(event)}`;
  return { at: nowMs, run, glyph: "↻", paint: colours.yellow, text };
}

function spaceEvent(
  run: RunRow,
  event: Extract<LiveEvent, { kind: "disk.waiting" }>,
  nowMs: number,
  colours: Colours,
): ProgressEvent {
  const text = `${cleanLine(run.agent)} ${describeSpaceWait(event)}`;
  return { at: nowMs, run, glyph: "↻", paint: colours.yellow, text: cleanLine(text) };
}

function bailoutOf({ bailoutReason }: RunRow): string | null {
  return bailoutReason === null ? null : describeBailout(bailoutReason);
}

function endEvent(run: RunRow, completedAt: string, colours: Colours): ProgressEvent {
  const style = statusStyle(run.exactStatus);
  const took = run.durationMs === null ? "" : ` in ${formatDuration(run.durationMs)}`;
  const why = cleanLine(run.error ?? bailoutOf(run) ?? run.summary ?? "");
  const text = `${cleanLine(describeAgent(run))} ${run.exactStatus.replaceAll("_", " ")}${took}${why ? `: ${why}` : ""}`;
  return { at: Date.parse(completedAt), run, glyph: style.glyph, paint: style.paint(colours), text };
}

/** Deepest indentation, so that text still fits. */
const depthShownMax = 12;

function toLine(
  { at, run, glyph, paint, text }: ProgressEvent,
  { width, colours, startedAt }: ProgressOptions,
): string {
  const elapsed = pad(`${Math.max(0, (at - startedAt) / 1_000).toFixed(1)}s`, 7, "right");
  const indent = "  ".repeat(Math.min(run.depth, depthShownMax));
  const textWidth = Math.max(20, width - elapsed.length - indent.length - 4);
  return `${colours.dim(elapsed)}  ${indent}${paint(glyph)} ${truncate(text, textWidth)}`;
}

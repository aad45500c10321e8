import { type Entry, replayAgent } from "@troupe/core";
import type { RecordedEntry, Recording } from "../replay/recording.ts";

/** A step after which a session can be forked: all of its calls have an outcome. */
export interface ForkPoint {
  run: string;
  agent: string;
  /** 0 is the start of the run. */
  step: number;
  /** Position in the feed of the last entry that the fork has. */
  position: number;
}

/** Entries that belong to a step and come after its model call. */
const outcomes: ReadonlySet<string> = new Set([
  "model.replied",
  "calls.planned",
  "tool.finished",
  "child.settled",
  "children.checked",
]);

/** All fork points of a session, run by run. The step with the answer of a run is none: nothing follows it. */
export function forkPointsOf(recording: Recording): ForkPoint[] {
  const byRun = Map.groupBy(
    recording.items.filter((item): item is RecordedEntry => item.kind === "entry"),
    ({ entry }) => entry.run,
  );
  return [...byRun.values()].flatMap(pointsOfRun);
}

function pointsOfRun(items: readonly RecordedEntry[]): ForkPoint[] {
  const [first] = items;
  if (first?.entry.kind !== "run.opened") return [];
  const { run, request } = first.entry;
  const last = (step: number) => lastOutcome(items, step);
  const steps = items.flatMap(({ entry }) =>
    entry.kind === "model.replied" && entry.reply.calls.length > 0 ? [entry.step] : [],
  );
  const start = items.findLast(({ entry }) => entry.kind === "run.opened" || entry.kind === "intent.assessed") ?? first;
  const isRejected = items[1]?.entry.kind === "run.settled";
  const points = isRejected ? [] : [{ run, agent: request.agent, step: 0, position: start.position }];
  for (const step of new Set(steps)) {
    const end = last(step);
    if (end) points.push({ run, agent: request.agent, step, position: end.position });
  }
  return points;
}

/** The last outcome of a step; null if a call of it has none. */
function lastOutcome(items: readonly RecordedEntry[], step: number): RecordedEntry | null {
  const begin = items.findIndex(({ entry }) => entry.kind === "model.replied" && entry.step === step);
  const later = items.findIndex(({ entry }, i) => i > begin && isLater(entry, step));
  const own = items.slice(begin, later === -1 ? undefined : later);
  const end = own.findLast(({ entry }) => outcomes.has(entry.kind));
  if (!end) return null;
  const known = items.slice(0, items.indexOf(end) + 1).map(({ entry }) => entry);
  const { calls } = replayAgent(known);
  return calls.every(({ phase }) => phase === "settled") ? end : null;
}

function isLater(entry: Entry, step: number): boolean {
  const isOfRun = entry.kind === "model.replied" || entry.kind === "model.failed" || entry.kind.startsWith("context.");
  return entry.kind === "run.settled" || (isOfRun && "step" in entry && entry.step > step);
}

import type { RunRow } from "@troupe/core";
import type { TimelineEvent } from "@troupe/core/internal";
import { isActive } from "./status.ts";

/** `working`: since the last recorded event; the call in progress is recorded when it ends. */
export const phaseKinds = ["queued", "working", "delegating", "model", "tool", "waiting", "paused"] as const;
export type PhaseKind = (typeof phaseKinds)[number];

export const phaseLabels: Readonly<Record<PhaseKind, string>> = {
  queued: "in the queue",
  working: "working",
  delegating: "waits for its agents",
  model: "model",
  tool: "tools",
  waiting: "waits for a person",
  paused: "paused",
};

/** A part of a run's time. */
export interface Phase {
  kind: PhaseKind;
  startMs: number;
  endMs: number;
  /** The tool of a call. */
  name: string | null;
}

/** A run over time. */
export interface Lane {
  startMs: number;
  /** Now, for a run that has not ended. */
  endMs: number;
  phases: Phase[];
}

interface OpenPhases {
  queuedAt: number | null;
  openedAt: number | null;
  delegatedAt: number | null;
  pausedAt: number | null;
  /** When each open approval was requested. */
  asked: Map<string, number>;
}

/**
 * The phases of a run from its events, in the order of the record. Without events, the run is one phase from its start to
 * its end.
 */
export function laneOf(run: RunRow, events: readonly TimelineEvent[], nowMs: number): Lane {
  const phases: Phase[] = [];
  const startedAt = Date.parse(run.startedAt);
  const open: OpenPhases = { queuedAt: null, openedAt: null, delegatedAt: null, pausedAt: null, asked: new Map() };
  if (run.parentRun === null) open.queuedAt = startedAt;
  for (const event of events) addEvent(event, open, phases);
  const endMs = isActive(run) ? Math.max(nowMs, startedAt) : Date.parse(run.completedAt ?? run.lastEventAt);
  closePhases(run, open, phases, endMs);
  const startMs = Math.min(startedAt, ...phases.map((phase) => phase.startMs));
  return { startMs, endMs: Math.max(endMs, startMs), phases: phases.sort(byLayer) };
}

function addEvent({ kind, at, durationMs = 0, name }: TimelineEvent, open: OpenPhases, phases: Phase[]): void {
  const add = (phase: PhaseKind, startMs: number | null, endMs = at, tool: string | null = null): void => {
    if (startMs !== null && endMs > startMs) phases.push({ kind: phase, startMs, endMs, name: tool });
  };
  switch (kind) {
    case "queued":
      open.queuedAt ??= at;
      return;
    case "opened":
      if (open.openedAt === null) add("queued", open.queuedAt);
      open.openedAt ??= at;
      return;
    case "model":
      add("delegating", open.delegatedAt, at - durationMs);
      open.delegatedAt = null;
      add("model", at - durationMs);
      return;
    case "tool":
      add("tool", at - durationMs, at, name ?? null);
      return;
    case "delegated":
      open.delegatedAt ??= at;
      return;
    case "asked":
      if (name !== undefined) open.asked.set(name, at);
      return;
    case "answered":
      add("waiting", open.asked.get(name ?? "") ?? null);
      open.asked.delete(name ?? "");
      return;
    case "paused":
      open.pausedAt ??= at;
      return;
    case "resumed":
      add("paused", open.pausedAt);
      open.pausedAt = null;
      return;
    case "parked":
    case "settled":
      return;
  }
}

/** The phases that are still open last until the end of the run, or until now. */
function closePhases(run: RunRow, open: OpenPhases, phases: Phase[], endMs: number): void {
  const add = (kind: PhaseKind, startMs: number | null): void => {
    if (startMs !== null && endMs > startMs) phases.push({ kind, startMs, endMs, name: null });
  };
  const lastMs = Math.max(...phases.map((phase) => phase.endMs), open.openedAt ?? Date.parse(run.startedAt));
  for (const askedAt of open.asked.values()) add("waiting", askedAt);
  add("paused", open.pausedAt);
  add("delegating", open.delegatedAt);
  if (open.openedAt === null && run.exactStatus === "queued") add("queued", open.queuedAt ?? Date.parse(run.startedAt));
  const isIdle = open.asked.size > 0 || open.pausedAt !== null || open.delegatedAt !== null;
  const isAtWork = isActive(run) && run.exactStatus === "running" && !isIdle;
  if (isAtWork || phases.length === 0) add("working", lastMs);
}

/** Later layers cover earlier ones: a wait for a person is visible above everything but a pause. */
function byLayer(a: Phase, b: Phase): number {
  return phaseKinds.indexOf(a.kind) - phaseKinds.indexOf(b.kind) || a.startMs - b.startMs;
}

/** Joins phases of one kind whose distance is not visible. A run with thousands of calls then has few bars. */
export function joinPhases(phases: readonly Phase[], visibleMs: number): Phase[] {
  const joined: Phase[] = [];
  for (const phase of phases) {
    const last = joined.at(-1);
    if (last && last.kind === phase.kind && phase.startMs - last.endMs < visibleMs) {
      const name = last.name === phase.name ? last.name : null;
      joined[joined.length - 1] = { ...last, name, endMs: Math.max(last.endMs, phase.endMs) };
    } else joined.push(phase);
  }
  return joined;
}

/** The time of each kind in a lane. Overlapping phases of one kind count once. */
export function phaseTotals({ phases }: Pick<Lane, "phases">): { kind: PhaseKind; durationMs: number }[] {
  return phaseKinds.flatMap((kind) => {
    let [coveredMs, durationMs] = [Number.NEGATIVE_INFINITY, 0];
    for (const phase of phases) {
      if (phase.kind !== kind) continue;
      durationMs += Math.max(0, phase.endMs - Math.max(phase.startMs, coveredMs));
      coveredMs = Math.max(coveredMs, phase.endMs);
    }
    return durationMs > 0 ? [{ kind, durationMs }] : [];
  });
}

/** Events of a session by run. A page replaces everything if the record was made anew. */
export class TimelineLog {
  #events = new Map<string, TimelineEvent[]>();
  #next = 0;

  /** The place after which the next page begins. */
  get next(): number {
    return this.#next;
  }

  add({ events, from, next }: { events: readonly TimelineEvent[]; from: number; next: number }): void {
    if (from < this.#next) this.#events = new Map();
    const added = new Map<string, TimelineEvent[]>();
    for (const event of events) {
      const ofRun = added.get(event.run);
      if (ofRun) ofRun.push(event);
      else added.set(event.run, [event]);
    }
    // A new list for each changed run: the rows of the other runs then need no update.
    for (const [run, ofRun] of added) this.#events.set(run, [...(this.#events.get(run) ?? []), ...ofRun]);
    this.#next = next;
  }

  /** A copy, which later pages do not change. */
  toMap(): ReadonlyMap<string, readonly TimelineEvent[]> {
    return new Map(this.#events);
  }
}

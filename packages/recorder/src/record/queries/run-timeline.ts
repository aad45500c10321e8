import type { Entry } from "@troupe/core";
import type { EntryKind, RunSpan, RunTimeline } from "@troupe/core/internal";
import type { Database } from "../../database/sqlite.ts";
import { createEntryReader } from "./stored-entries.ts";

const spansMax = 2_000;
const nameCharactersMax = 200;

interface TimedRun {
  session: string;
  parentRun: string | null;
  startedAt: string;
  completedAt: string | null;
  attempt: number;
  agent: string;
  status: string;
}

/** When a run queued, called its model and tools, waited for children and people, and paused. */
export function createRunTimeline(database: Database): (run: string) => RunTimeline | null {
  const entriesOf = createEntryReader(database);
  const rowOf = database.prepare<[string], TimedRun>(
    `SELECT r.session_id AS session, r.parent_run AS parentRun, m.started_at AS startedAt, m.completed_at AS completedAt,
       r.attempt, m.agent_role AS agent, r.exact_status AS status
     FROM runs r JOIN messages m ON m.id = r.message_id WHERE r.run_id = ?`,
  );
  /** The delegation in the parent's journal: when this run began to queue, and all attempts. */
  const delegationOf = (run: string, { parentRun, attempt }: TimedRun, place: string): Delegation => {
    const ids = new Set<string>();
    let queuedAt: number | null = null;
    for (const { entry } of parentRun === null ? [] : entriesOf(parentRun, 0)) {
      if (!entry) continue;
      for (const id of attemptsIn(entry, place)) ids.add(id);
      if (beginsQueue(entry, place, { run, attempt })) queuedAt = entry.at;
    }
    const attempts = [...ids.add(run)].flatMap((id) => {
      const found = rowOf.get(id);
      return found ? [{ run: id, attempt: found.attempt, agent: found.agent, status: found.status }] : [];
    });
    return { queuedAt, attempts: attempts.sort((a, b) => a.attempt - b.attempt) };
  };

  const readSpans = (run: string) => {
    const spans = createSpanList();
    let opening: (Entry & { kind: "run.opened" }) | null = null;
    for (const { entry } of entriesOf(run, 0)) {
      if (!entry) continue;
      if (entry.kind === "run.opened") opening = entry;
      addSpans(spans, entry);
      if (spans.isFull()) break;
    }
    return { spans, opening };
  };

  return (run) => {
    const row = rowOf.get(run);
    if (!row) return null;
    const { spans, opening } = readSpans(run);
    const parent = opening?.request.parent;
    const { queuedAt, attempts } = parent ? delegationOf(run, row, placeOf(parent)) : noDelegation;
    const endMs = row.completedAt === null ? null : Date.parse(row.completedAt);
    const startMs = queuedAt ?? Date.parse(row.startedAt);
    spans.begin("queued", "queued", startMs);
    if (opening) spans.finish("queued", opening.at);
    return { session: row.session, run, startMs, endMs, spans: spans.end(endMs), attempts, isCut: spans.isFull() };
  };
}

const noDelegation: Delegation = { queuedAt: null, attempts: [] };

type Delegation = Pick<RunTimeline, "attempts"> & { queuedAt: number | null };

function placeOf({ step, call, item }: { step: number; call: number; item: number }): string {
  return `${step}/${call}/${item}`;
}

/** The runs that an entry of the parent names for one delegation. */
function attemptsIn(entry: Entry, place: string): string[] {
  if (entry.kind === "child.settled" && placeOf(entry) === place) return [entry.response.runId];
  return plannedAt(entry, place).map(({ run }) => run);
}

/** A run queues from the plan on; a retry, from the end of the attempt before it. */
function beginsQueue(entry: Entry, place: string, { run, attempt }: { run: string; attempt: number }): boolean {
  if (entry.kind === "child.settled") return placeOf(entry) === place && entry.attempt === attempt - 1;
  return attempt === 1 && plannedAt(entry, place).some((child) => child.run === run);
}

function plannedAt(entry: Entry, place: string) {
  if (entry.kind !== "calls.planned") return [];
  return entry.children.filter(({ call, item }) => placeOf({ step: entry.step, call, item }) === place);
}

type Parts = Partial<Pick<RunSpan, "name" | "step" | "error" | "retries">>;

interface SpanList {
  /** Begins a span whose end is not recorded yet. `key` identifies its reason. */
  begin(key: string, kind: RunSpan["kind"], at: number, parts?: Parts): void;
  finish(key: string, at: number): void;
  /** Adds a span that has ended. */
  past(kind: RunSpan["kind"], at: number, durationMs: number, parts: Parts): void;
  isFull(): boolean;
  /** Ends the open spans with the run. Those of a run that works stay open. */
  end(endMs: number | null): RunSpan[];
}

function createSpanList(): SpanList {
  const spans: RunSpan[] = [];
  const open = new Map<string, RunSpan>();
  const make = (kind: RunSpan["kind"], from: number, endMs: number | null, parts: Parts): RunSpan => ({
    ...{ kind, startMs: Math.round(from), endMs, name: null, step: null, error: null, retries: [] },
    ...parts,
  });
  return {
    begin(key, kind, at, parts = {}) {
      if (!open.has(key)) open.set(key, make(kind, at, null, parts));
    },
    finish(key, at) {
      const span = open.get(key);
      if (span && open.delete(key)) spans.push({ ...span, endMs: Math.round(at) });
    },
    past(kind, at, durationMs, parts) {
      spans.push(make(kind, at - Math.max(0, durationMs), at, parts));
    },
    isFull: () => spans.length >= spansMax,
    end: (endMs) =>
      [...spans, ...[...open.values()].map((span) => ({ ...span, endMs }))].sort((a, b) => a.startMs - b.startMs),
  };
}

/** Changes of the spans by kind of entry. Other kinds change none. */
const spanChanges: { [K in EntryKind]?: (list: SpanList, entry: Entry & { kind: K }) => void } = {
  "run.claimed": (list, { at }) => list.finish("parked", at),
  "run.parked": (list, { at, reason }) => {
    if (reason === "drain") list.begin("parked", "parked", at);
  },
  "model.replied": (list, { at, step, reply, durationMs }) => {
    list.finish("delegating", at - durationMs);
    const retries = (reply.retries ?? []).map(({ error, waitedMs }) => ({ error: error.message, waitedMs }));
    list.past("model", at, durationMs, { name: reply.model, step, retries });
  },
  "model.failed": (list, { at, step, error, durationMs }) =>
    list.past("model", at, durationMs, { step, error: error.message }),
  "context.compacted": addSummary,
  "context.summarised": addSummary,
  "tool.finished": (list, { at, step, tool, outcome }) =>
    list.past("tool", at, outcome.durationMs, { name: tool, step, error: outcome.error?.message ?? null }),
  "calls.planned": (list, { at, step, children }) => {
    if (children.length > 0) list.begin("delegating", "delegating", at, { name: String(children.length), step });
  },
  "approval.requested": (list, { at, step, approval: { id, reason } }) =>
    list.begin(id, "waiting", at, { name: reason.slice(0, nameCharactersMax), step }),
  "inbox.received": (list, { at, item }) => {
    if (item.kind === "approval.answered") list.finish(item.approval, at);
    if (item.kind === "run.paused") list.begin("paused", "paused", at);
    if (item.kind === "run.resumed") list.finish("paused", at);
  },
};

function addSummary(list: SpanList, entry: Entry & { kind: "context.compacted" | "context.summarised" }): void {
  const { at, step, error, durationMs } = entry;
  list.past("model", at, durationMs, { name: "summary", step, error: error?.message ?? null });
}

function addSpans(list: SpanList, entry: Entry): void {
  const change = spanChanges[entry.kind] as ((list: SpanList, entry: Entry) => void) | undefined;
  change?.(list, entry);
}

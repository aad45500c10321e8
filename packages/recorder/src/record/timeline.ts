import { TimelineEvent, type TimelinePage } from "@troupe/core/internal";
import type { Database } from "../database/sqlite.ts";

/** Characters at the start of an entry that have its head and its kind, before any large text. */
const headLength = 700;

interface StoredEntry {
  place: number;
  run: string;
  head: string;
}

type Event = Omit<TimelineEvent, "run" | "at">;
/** The values of an entry, as far as a kind needs them. */
type ReadValues = (...paths: [string, string]) => readonly unknown[];

/**
 * Reads when the runs of a session worked and waited. Most entries are read at their start only, because an opening has
 * the whole prompt of its run.
 */
export function createTimeline(database: Database) {
  const last = database.prepareValue<[], number | null>("SELECT max(rowid) FROM entries");
  const stored = database.prepare<[string, number, number], StoredEntry>(`
    SELECT e.rowid AS place, e.run_id AS run, substr(e.text, 1, ${headLength}) AS head
    FROM (
      SELECT e.rowid AS place FROM runs r JOIN entries e ON e.run_id = r.run_id
      WHERE r.session_id = ? AND e.rowid > ? ORDER BY e.rowid LIMIT ?
    ) p JOIN entries e ON e.rowid = p.place ORDER BY e.rowid`);
  const values = database.prepareValue<[string, string, number], string>(
    "SELECT json_extract(text, '$.kind', ?, ?) FROM entries WHERE rowid = ?",
  );

  return (session: string, after: number, limit: number): TimelinePage => {
    const from = after > (last.get() ?? 0) ? 0 : after;
    const rows = stored.all(session, from, limit);
    const events = rows.flatMap(({ place, run, head }): TimelineEvent[] => {
      const at = Number(/"at":(\d+)/.exec(head)?.[1] ?? 0);
      const read: ReadValues = (...paths) => JSON.parse(values.get(...paths, place) ?? "[]").slice(1);
      return eventsOf(/"kind":"([a-z.]+)"/.exec(head)?.[1] ?? "", read).flatMap((event) => {
        const parsed = TimelineEvent.safeParse({ run, at, ...event });
        return parsed.success ? [parsed.data] : [];
      });
    });
    return { events, from, next: rows.at(-1)?.place ?? from, more: rows.length === limit };
  };
}

function eventsOf(kind: string, read: ReadValues): (Event & { run?: string })[] {
  switch (kind) {
    case "run.opened":
    case "run.claimed":
      return [{ kind: "opened" }];
    case "model.replied":
    case "model.failed":
    case "context.compacted":
    case "context.summarised":
      return [{ kind: "model", ...timed(read("$.durationMs", "$.step")) }];
    case "tool.finished":
      return [{ kind: "tool", ...timed(read("$.outcome.durationMs", "$.tool")) }];
    case "calls.planned":
      return plannedEvents(read("$.children", "$.step")[0]);
    case "approval.requested":
      return [{ kind: "asked", name: String(read("$.approval.id", "$.step")[0]) }];
    case "inbox.received":
      return commandEvents(read("$.item.kind", "$.item.approval"));
    case "run.parked":
      return [{ kind: "parked" }];
    case "run.settled":
      return [{ kind: "settled" }];
    default:
      return [];
  }
}

function timed([durationMs, name]: readonly unknown[]): Partial<Event> {
  const duration = typeof durationMs === "number" ? { durationMs: Math.max(0, durationMs) } : {};
  return { ...duration, ...(typeof name === "string" ? { name } : {}) };
}

/** The children of a plan begin to queue, and their parent begins to wait for them. */
function plannedEvents(children: unknown): (Event & { run?: string })[] {
  if (!Array.isArray(children) || children.length === 0) return [];
  const queued = children.map(({ run }): Event & { run: string } => ({ run: String(run), kind: "queued" }));
  return [{ kind: "delegated", name: String(children.length) }, ...queued];
}

function commandEvents([kind, approval]: readonly unknown[]): Event[] {
  if (kind === "run.paused") return [{ kind: "paused" }];
  if (kind === "run.resumed") return [{ kind: "resumed" }];
  return kind === "approval.answered" ? [{ kind: "answered", name: String(approval) }] : [];
}

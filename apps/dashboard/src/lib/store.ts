import type { ApprovalRow, DaemonStatus, LiveEvent, RunRow, SessionDetail, SessionRow } from "@troupe/core";
import type { RecordChange } from "@troupe/core/internal";
import type { ApiProblem } from "./api.ts";
import { newestApprovals } from "./approvals.ts";
import { type LiveNote, noteAfter } from "./live-note.ts";
import { withQueuePositions } from "./queue.ts";
import { Rows } from "./rows.ts";
import { askedAt, isActive } from "./status.ts";

/** `lost` heals by itself; `unauthorised` needs a token. */
export type Connection = "connecting" | "live" | "lost" | "unauthorised";

/** The session whose tree is shown. */
export interface OpenSession {
  id: string;
  state: "loading" | "ready" | "missing" | "failed";
  problem: ApiProblem | null;
  runs: ReadonlyMap<string, RunRow>;
}

/** All that the page knows. Never changed in place: a part that is the same object has not changed. */
export interface PageState {
  connection: Connection;
  /** When the connection was lost. */
  lostAt: number | null;
  status: DaemonStatus | null;
  /** Newest first; `null` until loaded. */
  sessions: readonly SessionRow[] | null;
  /** Of all sessions, oldest first; the waiting ones are all here. `null` until loaded. */
  approvals: readonly ApprovalRow[] | null;
  /** Why the first load failed. */
  problem: ApiProblem | null;
  /** Why the link's token was refused. */
  refusal: ApiProblem | null;
  open: OpenSession | null;
  notes: ReadonlyMap<string, LiveNote>;
}

/** Newest sessions that are kept: a page left open for weeks stays small. */
export const sessionsMax = 500;

const nothing: PageState = {
  connection: "connecting",
  lostAt: null,
  status: null,
  sessions: null,
  approvals: null,
  problem: null,
  refusal: null,
  open: null,
  notes: new Map(),
};

/**
 * The page's one store, outside React.
 *
 * Owns the rows; knows no network. Rows are taken as they come; listeners hear of it once per frame.
 * I1: a row is never replaced by an older one (see `Rows`), so loads and stream may cross.
 * I2: only runs of the open session are kept: memory is bounded by what one tree needs. Approvals are kept of all
 *     sessions, because they are shown wherever somebody is: all that wait, and a bounded number of the others.
 * I3: `position` is how far the *stream* was followed; a session's detail does not move it, being ahead of the others.
 */
export class PageStore {
  #state = nothing;
  #sessions = newSessions();
  #approvals = newApprovals();
  #runs = newRuns();
  #notes = new Map<string, LiveNote>();
  #position = -1;
  /** While rows are loaded anew the old ones stay on view: a tree is shown whole, never without its parents. */
  #held = { sessions: true, approvals: true, runs: true };
  #stale = { sessions: false, approvals: false, runs: false, notes: false };
  #scheduled = false;
  readonly #listeners = new Set<() => void>();
  readonly #schedule: (flush: () => void) => void;
  readonly #now: () => number;

  constructor(schedule: (flush: () => void) => void, now: () => number) {
    this.#schedule = schedule;
    this.#now = now;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly state = (): PageState => this.#state;

  /** Whether the list was loaded since the last `beginLoad`. */
  get loaded(): boolean {
    return !this.#held.sessions;
  }

  /** Whether the approvals were as well: without them the page would say that nothing waits. */
  get complete(): boolean {
    return this.loaded && !this.#held.approvals;
  }

  /** Where a stream has to go on. */
  get position(): number {
    return this.#position;
  }

  /** Forgets all rows, which stay on view until `loadSessions` brings the new ones. */
  beginLoad(): void {
    this.#held = { sessions: true, approvals: true, runs: true };
    this.#sessions = newSessions();
    this.#approvals = newApprovals();
    this.#runs = newRuns();
    this.#position = -1;
  }

  loadSessions(position: number, rows: readonly SessionRow[]): void {
    for (const row of rows) this.#sessions.put(position, row);
    this.#position = Math.max(this.#position, position);
    this.#held.sessions = false;
    this.set({ problem: null });
    this.#touch("sessions");
  }

  /**
   * Must be asked for after the sessions, whose position is where the stream goes on: a row that is ahead of the stream
   * is only told twice, one that is behind it would be missed.
   */
  loadApprovals(position: number, rows: readonly ApprovalRow[]): void {
    this.#held.approvals = false;
    this.#touch("approvals");
    this.#takeApprovals(position, rows);
  }

  /** Chooses the session whose runs are kept. Its rows follow with `loadDetail`. */
  openSession(id: string | null): void {
    if ((this.#state.open?.id ?? null) === id) return;
    this.#runs = newRuns();
    this.#held.runs = true;
    this.#notes = new Map();
    this.set({
      open: id === null ? null : { id, state: "loading", problem: null, runs: new Map() },
      notes: this.#notes,
    });
  }

  loadDetail(detail: SessionDetail): void {
    if (this.#sessions.put(detail.position, detail.session)) this.#touch("sessions");
    this.#takeApprovals(detail.position, detail.approvals);
    if (this.#state.open?.id !== detail.session.session) return;
    for (const run of detail.runs) this.#runs.put(detail.position, run);
    this.#held.runs = false;
    this.#setOpen({ state: "ready", problem: null });
    this.#touch("runs");
  }

  failDetail(id: string, state: "missing" | "failed", problem: ApiProblem): void {
    if (this.#state.open?.id === id) this.#setOpen({ state, problem });
  }

  apply(change: RecordChange): void {
    for (const row of change.sessions) if (this.#sessions.put(change.position, row)) this.#touch("sessions");
    this.#takeApprovals(change.position, change.approvals);
    for (const run of change.runs) if (run.session === this.#state.open?.id) this.#takeRun(change.position, run);
    this.#position = Math.max(this.#position, change.position);
  }

  applyLive(event: LiveEvent): void {
    if (event.session !== this.#state.open?.id) return;
    const run = this.#runs.get(event.run);
    if (run && !isActive(run)) return;
    this.#notes.set(event.run, noteAfter(this.#notes.get(event.run), event, this.#now()));
    this.#touch("notes");
  }

  setConnection(connection: Connection): void {
    if (connection === this.#state.connection) return;
    const lostAt = connection === "lost" ? (this.#state.lostAt ?? this.#now()) : null;
    this.set({ connection, lostAt });
  }

  set(part: Partial<Omit<PageState, "sessions" | "approvals">>): void {
    this.#state = { ...this.#state, ...part };
    this.#plan();
  }

  #takeApprovals(position: number, rows: readonly ApprovalRow[]): void {
    for (const row of rows) if (this.#approvals.put(position, row)) this.#touch("approvals");
  }

  #takeRun(position: number, run: RunRow): void {
    if (!this.#runs.put(position, run)) return;
    this.#touch("runs");
    if (!isActive(run) && this.#notes.delete(run.run)) this.#touch("notes");
  }

  #setOpen(part: Partial<OpenSession>): void {
    if (this.#state.open) this.set({ open: { ...this.#state.open, ...part } });
  }

  #touch(part: "sessions" | "approvals" | "runs" | "notes"): void {
    this.#stale[part] = true;
    this.#plan();
  }

  #plan(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#schedule(() => this.#flush());
  }

  #flush(): void {
    this.#scheduled = false;
    const { open } = this.#state;
    if (this.#stale.sessions && !this.#held.sessions) {
      this.#stale.sessions = false;
      this.#state = { ...this.#state, sessions: this.#newestSessions() };
    }
    if (this.#stale.approvals && !this.#held.approvals) {
      this.#stale.approvals = false;
      this.#state = { ...this.#state, approvals: this.#keptApprovals() };
    }
    if (this.#stale.runs && open && !this.#held.runs) {
      this.#stale.runs = false;
      this.#state = { ...this.#state, open: { ...open, runs: withQueuePositions(this.#runs.toMap()) } };
    }
    if (this.#stale.notes) {
      this.#stale.notes = false;
      this.#state = { ...this.#state, notes: new Map(this.#notes) };
    }
    for (const listener of this.#listeners) listener();
  }

  #newestSessions(): SessionRow[] {
    const sorted = this.#sessions.values().sort(newestFirst);
    for (const row of sorted.slice(sessionsMax)) this.#sessions.delete(row.session);
    return sorted.slice(0, sessionsMax);
  }

  #keptApprovals(): ApprovalRow[] {
    const { kept, dropped } = newestApprovals(this.#approvals.values());
    for (const row of dropped) this.#approvals.delete(row.id);
    return kept;
  }
}

function newApprovals(): Rows<ApprovalRow> {
  return new Rows((row) => row.id);
}

function newestFirst(a: SessionRow, b: SessionRow): number {
  const [askedA, askedB] = [askedAt(a), askedAt(b)];
  if (askedA !== askedB) return askedB - askedA;
  return a.session < b.session ? 1 : -1;
}

function newSessions(): Rows<SessionRow> {
  return new Rows((row) => row.session);
}

function newRuns(): Rows<RunRow> {
  return new Rows((row) => row.run);
}

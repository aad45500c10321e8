import type { ApprovalRow, DaemonStatus, LiveEvent, RunRow, SessionDetail, SessionRow } from "@troupe/core";
import type { RecordChange } from "@troupe/core/internal";
import type { ApiProblem } from "./api.ts";
import { newestApprovals } from "./approvals.ts";
import { applyLiveEvent, type LiveNote } from "./live-note.ts";
import { Rows } from "./rows.ts";
import { isActive, turnStartOf, withQueuePositions } from "./status.ts";

/** The page recovers from `lost` by itself; `unauthorised` needs a token. */
export type Connection = "connecting" | "live" | "lost" | "unauthorised";

/** The session on screen. */
export interface OpenSession {
  id: string;
  state: "loading" | "ready" | "missing" | "failed";
  problem: ApiProblem | null;
  runs: ReadonlyMap<string, RunRow>;
}

/** The state of the page. It is immutable: a part that is the same object has not changed. */
export interface PageState {
  connection: Connection;
  /** When the connection was lost; `null` while it is not. */
  lostAt: number | null;
  status: DaemonStatus | null;
  /** Newest first; `null` until loaded. */
  sessions: readonly SessionRow[] | null;
  /** Of all sessions, oldest first, with every waiting one. `null` until loaded. */
  approvals: readonly ApprovalRow[] | null;
  /** Why loading failed. */
  problem: ApiProblem | null;
  /** Why the daemon rejected the token of the link. */
  refusal: ApiProblem | null;
  open: OpenSession | null;
  notes: ReadonlyMap<string, LiveNote>;
}

/** The page keeps this many newest sessions, so that it stays small for weeks. */
export const sessionsMax = 500;

const initialState: PageState = {
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
 * The store of the page, outside of React.
 *
 * It owns the rows and does not use the network. It accepts rows at any time and notifies listeners once per frame.
 * I1: an older row never replaces a newer one (see `Rows`), so loads and stream may overlap.
 * I2: it keeps only runs of the open session, so one tree bounds the memory. It keeps approvals of all sessions, because
 *     every view shows them: every waiting one and a bounded number of settled ones.
 * I3: `position` is the last position of the *stream*. The detail of a session is ahead of it and does not move it.
 */
export class PageStore {
  #state = initialState;
  #sessions = newSessions();
  #approvals = newApprovals();
  #runs = newRuns();
  #notes = new Map<string, LiveNote>();
  #position = -1;
  /** During a reload the page still shows the old rows, so that a tree never appears without its parents. */
  #isLoading = { sessions: true, approvals: true, runs: true };
  #isDirty = { sessions: false, approvals: false, runs: false, notes: false };
  #isScheduled = false;
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

  /** True if sessions were loaded since the last `beginLoad`. */
  get loaded(): boolean {
    return !this.#isLoading.sessions;
  }

  /** True if approvals were loaded as well. Without them the page would show that none are waiting. */
  get complete(): boolean {
    return this.loaded && !this.#isLoading.approvals;
  }

  /** The position from which a stream must continue. */
  get position(): number {
    return this.#position;
  }

  /** Discards all rows. The page shows the old ones until `loadSessions` provides new ones. */
  beginLoad(): void {
    this.#isLoading = { sessions: true, approvals: true, runs: true };
    this.#sessions = newSessions();
    this.#approvals = newApprovals();
    this.#runs = newRuns();
    this.#position = -1;
  }

  loadSessions(position: number, rows: readonly SessionRow[]): void {
    for (const row of rows) this.#sessions.put(position, row);
    this.#position = Math.max(this.#position, position);
    this.#isLoading.sessions = false;
    this.set({ problem: null });
    this.#markDirty("sessions");
  }

  /**
   * Request approvals after the sessions, because the stream continues from the position of the sessions. A row ahead of
   * the stream arrives twice; a row behind it would be lost.
   */
  loadApprovals(position: number, rows: readonly ApprovalRow[]): void {
    this.#isLoading.approvals = false;
    this.#markDirty("approvals");
    this.#putApprovals(position, rows);
  }

  /** Selects the session whose runs the store keeps. `loadDetail` provides its rows. */
  openSession(id: string | null): void {
    if ((this.#state.open?.id ?? null) === id) return;
    this.#runs = newRuns();
    this.#isLoading.runs = true;
    this.#notes = new Map();
    this.set({
      open: id === null ? null : { id, state: "loading", problem: null, runs: new Map() },
      notes: this.#notes,
    });
  }

  loadDetail(detail: SessionDetail): void {
    if (this.#sessions.put(detail.position, detail.session)) this.#markDirty("sessions");
    this.#putApprovals(detail.position, detail.approvals);
    if (this.#state.open?.id !== detail.session.session) return;
    for (const run of detail.runs) this.#runs.put(detail.position, run);
    this.#isLoading.runs = false;
    this.#setOpen({ state: "ready", problem: null });
    this.#markDirty("runs");
  }

  failDetail(id: string, state: "missing" | "failed", problem: ApiProblem): void {
    if (this.#state.open?.id === id) this.#setOpen({ state, problem });
  }

  apply(change: RecordChange): void {
    for (const row of change.sessions) if (this.#sessions.put(change.position, row)) this.#markDirty("sessions");
    this.#putApprovals(change.position, change.approvals);
    for (const run of change.runs) if (run.session === this.#state.open?.id) this.#putRun(change.position, run);
    this.#position = Math.max(this.#position, change.position);
  }

  applyLive(event: LiveEvent): void {
    if (event.session !== this.#state.open?.id) return;
    const run = this.#runs.get(event.run);
    if (run && !isActive(run)) return;
    this.#notes.set(event.run, applyLiveEvent(this.#notes.get(event.run), event, this.#now()));
    this.#markDirty("notes");
  }

  setConnection(connection: Connection): void {
    if (connection === this.#state.connection) return;
    const lostAt = connection === "lost" ? (this.#state.lostAt ?? this.#now()) : null;
    this.set({ connection, lostAt });
  }

  set(part: Partial<Omit<PageState, "sessions" | "approvals">>): void {
    this.#state = { ...this.#state, ...part };
    this.#scheduleFlush();
  }

  #putApprovals(position: number, rows: readonly ApprovalRow[]): void {
    for (const row of rows) if (this.#approvals.put(position, row)) this.#markDirty("approvals");
  }

  #putRun(position: number, run: RunRow): void {
    if (!this.#runs.put(position, run)) return;
    this.#markDirty("runs");
    if (!isActive(run) && this.#notes.delete(run.run)) this.#markDirty("notes");
  }

  #setOpen(part: Partial<OpenSession>): void {
    if (this.#state.open) this.set({ open: { ...this.#state.open, ...part } });
  }

  #markDirty(part: "sessions" | "approvals" | "runs" | "notes"): void {
    this.#isDirty[part] = true;
    this.#scheduleFlush();
  }

  #scheduleFlush(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#schedule(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    const { open } = this.#state;
    if (this.#isDirty.sessions && !this.#isLoading.sessions) {
      this.#isDirty.sessions = false;
      this.#state = { ...this.#state, sessions: this.#newestSessions() };
    }
    if (this.#isDirty.approvals && !this.#isLoading.approvals) {
      this.#isDirty.approvals = false;
      this.#state = { ...this.#state, approvals: this.#retainApprovals() };
    }
    if (this.#isDirty.runs && open && !this.#isLoading.runs) {
      this.#isDirty.runs = false;
      this.#state = { ...this.#state, open: { ...open, runs: withQueuePositions(this.#runs.toMap()) } };
    }
    if (this.#isDirty.notes) {
      this.#isDirty.notes = false;
      this.#state = { ...this.#state, notes: new Map(this.#notes) };
    }
    for (const listener of this.#listeners) listener();
  }

  #newestSessions(): SessionRow[] {
    const sorted = this.#sessions.values().sort(newestFirst);
    for (const row of sorted.slice(sessionsMax)) this.#sessions.delete(row.session);
    return sorted.slice(0, sessionsMax);
  }

  #retainApprovals(): ApprovalRow[] {
    const { retained, evicted } = newestApprovals(this.#approvals.values());
    for (const row of evicted) this.#approvals.delete(row.id);
    return retained;
  }
}

function newApprovals(): Rows<ApprovalRow> {
  return new Rows((row) => row.id);
}

function newestFirst(a: SessionRow, b: SessionRow): number {
  const [startA, startB] = [turnStartOf(a), turnStartOf(b)];
  if (startA !== startB) return startB - startA;
  return a.session < b.session ? 1 : -1;
}

function newSessions(): Rows<SessionRow> {
  return new Rows((row) => row.session);
}

function newRuns(): Rows<RunRow> {
  return new Rows((row) => row.run);
}

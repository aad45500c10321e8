import type { LiveEvent, RecordChange, RunRow, SessionDetail, SessionRow, TroupeService } from "@troupe/core";
import { type HttpServer, type ServeHttpOptions, serveHttp } from "./serve.ts";

export const sessionA = "01990000-0000-7000-8000-00000000000a";
export const sessionB = "01990000-0000-7000-8000-00000000000b";
export const nobody = "01990000-0000-7000-8000-0000000000ff";
export const token = "t".repeat(43);

/** A service that a test drives by hand. */
export interface FakeService extends TroupeService {
  /** What was asked of it that changes anything. */
  wishes: string[];
  /** What `entries` gives, by run. */
  entryTexts: Map<string, string[]>;
  /** Commits one batch: rows in, one change out to everybody who listens. */
  commit(...rows: (SessionRow | RunRow)[]): number;
  emit(event: LiveEvent): void;
  /** How many streams listen. */
  listeners(): number;
  /** Beyond so many changes `changesSince` gives up. */
  tooManyChanges: number;
}

export function createFakeService(): FakeService {
  const changes: RecordChange[] = [];
  const changeListeners = new Set<(change: RecordChange) => void>();
  const liveListeners = new Set<(event: LiveEvent) => void>();
  const allRows = (after = 0): (SessionRow | RunRow)[] => {
    const rows = new Map<string, SessionRow | RunRow>();
    for (const { position, sessions, runs } of changes) {
      for (const row of [...sessions, ...runs])
        if (position > after) rows.set("run" in row ? `run ${row.run}` : row.session, row);
    }
    return [...rows.values()];
  };
  const toChange = (position: number, rows: (SessionRow | RunRow)[]): RecordChange => ({
    position,
    sessions: rows.filter((row): row is SessionRow => !("run" in row)),
    runs: rows.filter((row): row is RunRow => "run" in row),
  });
  const listen = <T>(listeners: Set<T>, listener: T): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const detailOf = (session: string): SessionDetail | null => {
    const { sessions, runs } = toChange(changes.length, allRows());
    const found = sessions.find((row) => row.session === session);
    return found
      ? { position: changes.length, session: found, runs: runs.filter((row) => row.session === session) }
      : null;
  };

  const service: FakeService = {
    wishes: [],
    entryTexts: new Map(),
    tooManyChanges: 1_000,
    commit(...rows) {
      const change = toChange(changes.length + 1, rows);
      changes.push(change);
      for (const listener of changeListeners) listener(change);
      return change.position;
    },
    emit(event) {
      for (const listener of liveListeners) listener(event);
    },
    listeners: () => changeListeners.size,
    onLive: (listener) => listen(liveListeners, listener),
    async status() {
      return {
        version: "0.1.0",
        pid: 1,
        home: "/home",
        kind: "daemon",
        bus: "in-process",
        store: "sqlite",
        provider: "demo",
        demo: true,
        agents: 1,
        startedAt: "2026-11-18T12:00:00.000Z",
      };
    },
    async agents(workspace) {
      const agent = { id: "lead", name: "Lead", description: "Leads", tools: null, subagents: [], model: "inherit" };
      return { agents: [{ ...agent, origin: "builtin", path: workspace ?? "none" }], problems: [] };
    },
    async submit(request) {
      service.wishes.push(`submit ${JSON.stringify(request)}`);
      return { session: sessionA, run: sessionA, workspace: "/w", demo: true };
    },
    async cancel(session, reason) {
      service.wishes.push(`cancel ${session} ${reason}`);
      return { session, outcome: "requested", status: "running" };
    },
    record: {
      position: () => changes.length,
      sessions: async ({ limit }) => toChange(0, allRows()).sessions.slice(0, limit),
      session: async (session) => detailOf(session),
      response: async () => null,
      run: async (run) => toChange(0, allRows()).runs.find((row) => row.run === run) ?? null,
      entries: async (run, { from, limit }) => (service.entryTexts.get(run) ?? []).slice(from, from + limit),
      async changesSince(position) {
        const missed = changes.length - position;
        return missed > service.tooManyChanges ? null : toChange(changes.length, allRows(position));
      },
      onChange: (listener) => listen(changeListeners, listener),
    },
  };
  return service;
}

export function sessionRow(session: string, more: Partial<SessionRow> = {}): SessionRow {
  return {
    session,
    rootRun: session,
    agent: "lead",
    task: "do it",
    status: "running",
    origin: "api",
    demo: true,
    workspace: "/w",
    startedAt: "2026-11-18T12:00:00.000Z",
    completedAt: null,
    durationMs: null,
    summary: null,
    error: null,
    runs: 1,
    runsActive: 1,
    totalTokens: 0,
    ...more,
  };
}

export function runRow(run: string, session: string): RunRow {
  return {
    run,
    session,
    parentRun: null,
    order: 0,
    agent: "lead",
    depth: 0,
    attempt: 1,
    maxAttempts: 2,
    task: "do it",
    status: "running",
    exactStatus: "running",
    model: null,
    startedAt: "2026-11-18T12:00:00.000Z",
    completedAt: null,
    durationMs: null,
    iterations: 0,
    maxIterations: null,
    toolCalls: 0,
    totalTokens: 0,
    filesModified: [],
    activity: null,
    summary: null,
    error: null,
    bailoutReason: null,
    warnings: [],
    lastEventAt: "2026-11-18T12:00:00.000Z",
  };
}

export function delta(session: string, text: string): LiveEvent {
  return { v: 1, kind: "text.delta", session, run: session, agent: "lead", text };
}

/** Serves a fake service on a port of its own. */
export function serveFake(service: TroupeService, more: Partial<ServeHttpOptions> = {}): Promise<HttpServer> {
  return serveHttp({ service, token, port: 0, assets: "/nonexistent", ...more });
}

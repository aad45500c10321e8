import {
  type ApprovalRow,
  type ChangeRow,
  type HostRow,
  type LiveEvent,
  type RunRow,
  type SessionDetail,
  type SessionRow,
  TroupeError,
  type TroupeService,
} from "@troupe/core";
import {
  type AgentCheck,
  type AgentFileRow,
  type AgentFiles,
  type AgentStatsList,
  hashBytes,
  type RecordChange,
  type RunControlOutcome,
  type SessionFiles,
  sampleApproval,
  sampleChange,
  sampleRule,
  sampleRun,
  sampleSession,
  type UndoRow,
} from "@troupe/core/internal";
import { notFound } from "../service/lookup.ts";
import { createFakeQueries } from "./queries.fixture.ts";
import { type HttpServer, type ServeHttpOptions, serveHttp } from "./serve.ts";

export const sessionA = "01990000-0000-7000-8000-00000000000a";
export const sessionB = "01990000-0000-7000-8000-00000000000b";
export const question = "01990000-0000-7000-8000-0000000000a0";
export const ruleId = "01990000-0000-7000-8000-0000000000b0";
export const unknownId = "01990000-0000-7000-8000-0000000000ff";
/** The rule that each answer with the scope `rule` creates. */
export const storedRule = sampleRule({ id: ruleId });
export const token = "t".repeat(43);

/** The time from which `agentStats` counts back. */
const statsNowMs = Date.UTC(2026, 10, 18);

function sampleStats(): Omit<AgentStatsList, "since"> {
  const counts = { runs: 4, succeeded: 3, successRate: 0.75, stopped: 1, medianMs: 1_500 };
  const cost = { medianCostUsd: null, costRuns: 0, costIsEstimate: false };
  return {
    agents: [{ agent: "coder", parent: null, ...counts, ...cost }],
    pairs: [{ agent: "coder", parent: "lead", ...counts, ...cost }],
  };
}

/** The version of every agent file. */
export const fileVersion = "0".repeat(64);

export function sampleFileRow(id: string): AgentFileRow {
  const texts = {
    id,
    name: id,
    description: `does ${id}`,
    model: "inherit",
    origin: "user",
    path: `/home/agents/${id}.md`,
  };
  const facts = { tools: null, subagents: [], disabled: false, broken: false, abilities: [], replaces: null };
  return { ...texts, ...facts, editing: "file", reason: null };
}

export function sampleCheck(id: string, text = "---\n---\n"): AgentCheck {
  const found = { problems: [], otherProblems: [], reach: null, form: null, formProblem: "none" };
  const lines = { diff: "", linesAdded: 0, linesRemoved: 0 };
  return { id, path: `/home/agents/${id}.md`, version: fileVersion, text, ...lines, ...found };
}

/** Notes each change of an agent file. */
function createFakeFiles(commands: string[]): AgentFiles {
  return {
    async list(workspace) {
      const project = workspace === null ? null : { path: workspace, reason: "not trusted" };
      return { agents: [sampleFileRow("clerk")], problems: [], tools: [], models: ["inherit"], project };
    },
    read: async (id) => ({ row: sampleFileRow(id), check: sampleCheck(id) }),
    check: async ({ id, text }) => sampleCheck(id, text),
    async save(draft) {
      commands.push(`save ${JSON.stringify(draft)}`);
      return { row: sampleFileRow(draft.id), check: sampleCheck(draft.id, draft.text) };
    },
    async remove(id, removal) {
      commands.push(`remove ${id} ${JSON.stringify(removal)}`);
      return { id, path: `/home/agents/${id}.md` };
    },
  };
}

/** Notes each upload to session A, which has the file `a.bin` with the bytes 0 and 255. */
function createFakeSessionFiles(commands: string[]): SessionFiles {
  const at = "2026-11-18T12:00:00.000Z";
  const stored = Buffer.from([0, 255]);
  const find = (session: string): void => {
    if (session !== sessionA) throw notFound("session", session);
  };
  return {
    async list(session) {
      find(session);
      return [{ name: "a.bin", bytes: stored.length, sha256: hashBytes(stored), run: session, by: null, at }];
    },
    async put(session, { name, bytes, by }) {
      find(session);
      commands.push(`put ${JSON.stringify(name)} ${Buffer.from(bytes).toString("hex")} ${by}`);
      return { name, bytes: bytes.byteLength, sha256: hashBytes(bytes), run: null, by, at };
    },
    async get(session, name) {
      find(session);
      if (name !== "a.bin") throw new TroupeError("UNKNOWN_FILE", `no ${name}`);
      return { name, sha256: hashBytes(stored), bytes: stored };
    },
  };
}

type Row = SessionRow | RunRow | ApprovalRow;

/** A service that a test controls. */
export interface FakeService extends TroupeService {
  /** The commands that it received. */
  commands: string[];
  /** File changes, with increasing ids. */
  changeRows: ChangeRow[];
  undoRows: UndoRow[];
  hostRows: HostRow[];
  /** The texts that `entries` returns, by run. */
  entryTexts: Map<string, string[]>;
  /** Commits rows as one change and notifies every listener. */
  commit(...rows: Row[]): number;
  emit(event: LiveEvent): void;
  /** Number of listening streams. */
  listeners(): number;
  /** `changesSince` returns null above this number of changes. */
  tooManyChanges: number;
}

export function createFakeService(): FakeService {
  const changes: RecordChange[] = [];
  const changeListeners = new Set<(change: RecordChange) => void>();
  const liveListeners = new Set<(event: LiveEvent) => void>();
  const allRows = (after = 0): Row[] => {
    const rows = new Map<string, Row>();
    for (const { position, sessions, runs, approvals } of changes) {
      for (const row of [...sessions, ...runs, ...approvals]) if (position > after) rows.set(keyOf(row), row);
    }
    return [...rows.values()];
  };
  const toChange = (position: number, rows: Row[]): RecordChange => ({
    position,
    sessions: rows.filter((row): row is SessionRow => !("run" in row)),
    runs: rows.filter((row): row is RunRow => "run" in row && !("id" in row)),
    approvals: rows.filter((row): row is ApprovalRow => "id" in row),
  });
  const listen = <T>(listeners: Set<T>, listener: T): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  const detailOf = (session: string): SessionDetail | null => {
    const { sessions, runs, approvals } = toChange(changes.length, allRows());
    const found = sessions.find((row) => row.session === session);
    const ofIt = (row: RunRow | ApprovalRow): boolean => row.session === session;
    return found
      ? { position: changes.length, session: found, runs: runs.filter(ofIt), approvals: approvals.filter(ofIt) }
      : null;
  };
  const allApprovals = (): ApprovalRow[] => toChange(0, allRows()).approvals;
  const control = (command: string, run: string): RunControlOutcome => {
    if (run === unknownId) throw notFound("run", run);
    service.commands.push(command);
    return { session: sessionA, run, outcome: "requested", status: "running" };
  };

  const commands: string[] = [];
  const service: FakeService = {
    commands,
    agentFiles: createFakeFiles(commands),
    sessionFiles: createFakeSessionFiles(commands),
    entryTexts: new Map(),
    hostRows: [],
    changeRows: [],
    undoRows: [],
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
      const agents = [{ ...agent, origin: "builtin", path: workspace ?? "none", disabled: false }];
      if (workspace === null) return { agents, problems: [] };
      const team = { name: "news", description: "Writes news", entry: "news_lead", agents: ["news_lead"] };
      return { agents, problems: [], teams: [{ ...team, origin: "project", path: workspace }] };
    },
    async agentStats(windowMs) {
      return { ...sampleStats(), since: new Date(statsNowMs - windowMs).toISOString() };
    },
    async submit(request) {
      service.commands.push(`submit ${JSON.stringify(request)}`);
      return { session: sessionA, run: sessionA, workspace: "/w", demo: true };
    },
    async cancel(session, reason) {
      service.commands.push(`cancel ${session} ${reason}`);
      return { session, outcome: "requested", status: "running" };
    },
    cancelRun: async (run, reason) => control(`cancelRun ${run} ${reason}`, run),
    steer: async (run, text, by) => control(`steer ${run} ${text} ${by}`, run),
    pause: async (run, by) => control(`pause ${run} ${by}`, run),
    resume: async (run, by) => control(`resume ${run} ${by}`, run),
    async undo(run, request) {
      if (run === unknownId) throw notFound("run", run);
      service.commands.push(`undo ${run} ${JSON.stringify(request)}`);
      const files = [{ path: "a.txt", action: "restore" as const, reason: null }];
      return { session: sessionA, run, undo: null, outcome: "planned", workspace: "/w", files, notes: [] };
    },
    hosts: async () => service.hostRows,
    async drainHost(host, by) {
      if (!service.hostRows.some((row) => row.host === host)) throw notFound("host", host);
      service.commands.push(`drainHost ${host} ${by}`);
      return { host, outcome: "requested" };
    },
    async explain(run) {
      if (run === unknownId) throw notFound("run", run);
      const decision = { kind: "tool", name: "shell", granted: false, removedBy: "policy", reason: "denied" } as const;
      return { run, session: sessionA, agent: "lead", layers: ["policy", "lead"], verdicts: [decision] };
    },
    async answer(id, answer) {
      const approval = allApprovals().find((row) => row.id === id);
      if (!approval) throw notFound("approval", id);
      service.commands.push(`answer ${id} ${JSON.stringify(answer)}`);
      return { approval, outcome: "answered", rule: answer.scope === "rule" ? storedRule : null };
    },
    rules: async () => [storedRule],
    async removeRule(id) {
      if (id !== ruleId) throw notFound("rule", id);
      service.commands.push(`removeRule ${id}`);
      return storedRule;
    },
    record: {
      queries: createFakeQueries(sessionA),
      position: () => changes.length,
      sessions: async ({ limit }) => toChange(0, allRows()).sessions.slice(0, limit),
      session: async (session) => detailOf(session),
      response: async () => null,
      run: async (run) => toChange(0, allRows()).runs.find((row) => row.run === run) ?? null,
      approvals: async ({ waiting, limit }) =>
        waiting
          ? allApprovals()
              .filter(({ state }) => state === "waiting")
              .slice(0, limit)
          : allApprovals().slice(-limit),
      approval: async (id) => allApprovals().find((row) => row.id === id) ?? null,
      changes: async (of, { after, limit }) =>
        service.changeRows
          .filter((row) => ("run" in of ? row.run === of.run : row.session === of.session) && row.id > after)
          .slice(0, limit),
      undos: async () => service.undoRows,
      timeline: async (session, { after }) => ({
        events: session === sessionA ? [{ run: session, kind: "opened", at: statsNowMs }] : [],
        ...{ from: after, next: after + 1, more: false },
      }),
      agentStats: async ({ sinceMs }) => ({ ...sampleStats(), since: new Date(sinceMs).toISOString() }),
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

function keyOf(row: Row): string {
  if ("id" in row) return `approval ${row.id}`;
  return "run" in row ? `run ${row.run}` : row.session;
}

export function sessionRow(session: string, more: Partial<SessionRow> = {}): SessionRow {
  return sampleSession({ session, rootRun: session, agent: "lead", demo: true, ...more });
}

export function runRow(run: string, session: string): RunRow {
  return sampleRun({ run, session, agent: "lead" });
}

export function approvalRow(id: string, session: string, more: Partial<ApprovalRow> = {}): ApprovalRow {
  return sampleApproval({ id, session, run: session, agent: "lead", path: ["lead"], ...more });
}

export function delta(session: string, text: string): LiveEvent {
  return { v: 1, kind: "text.delta", session, run: session, agent: "lead", text };
}

/** Serves a fake service on a port of its own. */
export function serveFake(service: TroupeService, more: Partial<ServeHttpOptions> = {}): Promise<HttpServer> {
  return serveHttp({ service, token, port: 0, assets: "/nonexistent", ...more });
}

export function changeRow(id: number, more: Partial<ChangeRow> = {}): ChangeRow {
  return sampleChange({ id, session: sessionA, run: sessionA, agent: "lead", ...more });
}

import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import {
  type ApprovalAnswer,
  type ApprovalRow,
  type ChangeRow,
  type DaemonStatus,
  type HostRow,
  type RunResponse,
  type RunRow,
  type SessionDetail,
  type SessionRow,
  type SubmitSession,
  TroupeError,
  type TroupeService,
} from "@troupe/core";
import {
  type AgentStatsList,
  type ApprovalOutcome,
  type ApprovalRule,
  type GrantExplanation,
  type HostOutcome,
  type RecordChange,
  RecordStatus,
  type RunControlOutcome,
  type UndoFile,
  type UndoOutcome,
  type UndoRequest,
} from "@troupe/core/internal";
import type { OwnerKind, OwnServer, SandboxFacts } from "troupe/internal";
import type { RunningTroupe } from "../cli.ts";
import type { ClientEvent, TroupeClient } from "../session/client.ts";
import { emptyQueries } from "../session/empty-queries.ts";
import { anApproval, aResponse, aRule, aRun, aSession } from "./rows.ts";

export interface FakeTroupeOptions {
  url: string;
  token: string;
  home: string;
  kind: OwnerKind;
  demo: boolean;
  sandbox?: SandboxFacts;
}

/**
 * A troupe in memory that behaves as a client sees it. The task's first word selects the session's end: `answer`,
 * `fail`, `forbidden` (a wrong key), `limit`, `delegate`, `ask` (until its question is answered), or `wait` (until it is cancelled or finished by
 * the test).
 */
export class FakeTroupe implements RunningTroupe, TroupeClient {
  readonly url: string;
  queries = emptyQueries;
  readonly token: string;
  readonly requestedPort = null;
  /** Warnings about the server. */
  readonly warnings: string[] = [];
  ownServer: OwnServer | null = null;
  readonly submissions: SubmitSession[] = [];
  /** Questions of all sessions, oldest first. */
  readonly questions: ApprovalRow[] = [];
  /** File changes of all sessions. */
  readonly changeRows: ChangeRow[] = [];
  hostRows: HostRow[] = [];
  stats: Omit<AgentStatsList, "since"> = { agents: [], pairs: [] };
  readonly answers: ApprovalAnswer[] = [];
  readonly storedRules: ApprovalRule[] = [];
  /** The received commands, as text. */
  readonly commands: string[] = [];
  readonly #options: FakeTroupeOptions;
  readonly #sessions = new Map<string, { row: SessionRow; runs: RunRow[]; response: RunResponse | null }>();
  readonly #listeners = new Set<(event: ClientEvent) => void>();
  #position = 0;
  #closing = false;
  /** No longer answers, as if its process had been killed. */
  dead = false;
  closed = false;
  /** Positions from which streams were opened. */
  readonly streamStarts: number[] = [];
  /** Changes are not sent. */
  mute = false;
  /** One stream ends without an error after this many events. */
  breakStreamAfter: number | null = null;

  constructor(options: FakeTroupeOptions) {
    this.#options = options;
    this.url = options.url;
    this.token = options.token;
  }

  get service(): TroupeService {
    const record = { sessions: async ({ limit }: { limit: number }) => (await this.sessions({ limit })).sessions };
    return { status: () => this.status(), record } as unknown as TroupeService;
  }

  async status(): Promise<DaemonStatus> {
    this.#reach();
    const { home, kind, demo, sandbox } = this.#options;
    const provider = demo ? "demo (scripted, offline)" : "anthropic";
    const model = demo ? "scripted/demo" : "anthropic/claude-sonnet-5";
    const facts = { bus: "in-process", store: "sqlite", agents: 4, version: "0.1.0", pid: process.pid };
    return {
      ...facts,
      home,
      kind: kind === "daemon" ? "daemon" : "run",
      provider,
      model,
      demo,
      ...(sandbox && { sandbox }),
      startedAt: new Date(0).toISOString(),
    };
  }

  async agents() {
    return { agents: [], problems: [] };
  }

  async agentStats(windowMs: number) {
    this.#reach();
    return { ...this.stats, since: new Date(10_000_000_000 - windowMs).toISOString() };
  }

  async submit(request: SubmitSession) {
    this.#reach();
    if (this.#closing) throw new TroupeError("CLOSING", "the troupe is closing", { fix: "try again" });
    this.submissions.push(request);
    if (request.continues !== undefined) return this.#continue(request.continues, request);
    const row = aSession({
      session: request.session ?? randomUUID(),
      task: request.task,
      status: "running",
      completedAt: null,
    });
    const root = aRun({ run: row.rootRun, session: row.session, task: row.task, status: "running", completedAt: null });
    this.#sessions.set(row.session, { row, runs: [root], response: null });
    this.#changed(row.session);
    void this.#play(row.session, row.task);
    const demo = this.#options.demo || request.scenario !== undefined;
    return { session: row.session, run: row.rootRun, workspace: request.workspace ?? "/home/of/demo", demo };
  }

  /** The turn is accepted a moment before the rows tell of it, as with a record that lags behind its journal. */
  #continue(session: string, { task, run = randomUUID() }: SubmitSession) {
    const { row } = this.#find(session);
    if (row.completedAt === null) throw new TroupeError("CONFLICT", "still at work", { fix: "wait for it" });
    this.#position += 1;
    void delay(5).then(() => {
      const found = this.#find(session);
      const streamStarts = { rootRun: run, turns: row.turns + 1, turnStartedAt: new Date(9_000).toISOString() };
      found.row = { ...found.row, ...streamStarts, status: "running", completedAt: null, durationMs: null };
      found.runs.push(aRun({ run, session, task, status: "running", completedAt: null, order: found.runs.length }));
      found.response = null;
      this.#changed(session);
      return this.#play(session, task);
    });
    return { session, run, workspace: row.workspace, demo: false };
  }

  async cancel(session: string) {
    this.#reach();
    const found = this.#find(session);
    if (found.row.completedAt !== null) return { session, outcome: "settled" as const, status: found.row.status };
    setImmediate(() => this.finish(session, { status: "cancelled", success: false }));
    return { session, outcome: "requested" as const, status: found.row.status };
  }

  cancelRun = (run: string, reason: string) => this.#wish(run, `cancel: ${reason}`);
  steer = (run: string, text: string, by: string) => this.#wish(run, `steer: ${text} (${by})`);
  pause = (run: string, by: string) => this.#wish(run, `pause (${by})`);
  resume = (run: string, by: string) => this.#wish(run, `resume (${by})`);

  async answer(id: string, answer: ApprovalAnswer): Promise<ApprovalOutcome> {
    this.#reach();
    const at = this.questions.findIndex((row) => row.id === id);
    const streamStarts = this.questions[at];
    if (!streamStarts)
      throw new TroupeError("UNKNOWN_APPROVAL", `there is no approval ${id}`, { fix: "troupe approvals ls" });
    if (streamStarts.state !== "waiting") return { approval: streamStarts, outcome: "settled", rule: null };
    this.answers.push(answer);
    const { approved, scope, by, reason } = answer;
    const state = approved ? "approved" : "denied";
    const answeredAt = new Date(2_000).toISOString();
    const approval: ApprovalRow = { ...streamStarts, state, scope, by, answerReason: reason, answeredAt };
    this.questions[at] = approval;
    const rule = scope === "rule" ? this.#store(approval) : null;
    this.#goOn(approval.session);
    return { approval, outcome: "answered", rule };
  }

  async approvals({ waiting, limit }: { waiting: boolean; limit: number }) {
    this.#reach();
    const rows = this.questions.filter((row) => !waiting || row.state === "waiting");
    return { position: this.#position, approvals: rows.slice(0, limit) };
  }

  async hosts(): Promise<HostRow[]> {
    this.#reach();
    return this.hostRows;
  }

  async drainHost(host: string, by: string): Promise<HostOutcome> {
    const row = this.hostRows.find((each) => each.host === host);
    if (!row) throw new TroupeError("UNKNOWN_HOST", `there is no host "${host}"; there are a, b`);
    if (row.status !== "alive") return { host, outcome: row.status };
    this.commands.push(`drain ${host} (${by})`);
    return { host, outcome: "requested" };
  }

  async rules(): Promise<ApprovalRule[]> {
    return this.storedRules;
  }

  async removeRule(id: string): Promise<ApprovalRule> {
    const [removed] = this.storedRules.splice(
      this.storedRules.findIndex((rule) => rule.id === id),
      1,
    );
    if (!removed) throw new TroupeError("UNKNOWN_RULE", `there is no rule ${id}`);
    return removed;
  }

  /** The plan of the next undo; files without a problem are then restored. */
  undoFiles: UndoFile[] = [];

  async undo(run: string, { dryRun, ...request }: UndoRequest): Promise<UndoOutcome> {
    const { session } = this.#run(run);
    const plan = { session, run, workspace: "/w", notes: [], undo: null, files: this.undoFiles };
    if (dryRun) return { ...plan, outcome: "planned" };
    this.commands.push(`undo: ${JSON.stringify(request)}`);
    const files = this.undoFiles.map((file) =>
      file.action === "restore" ? { ...file, state: "restored" as const } : file,
    );
    const isPartial = files.some(({ action }) => action === "conflict");
    return { ...plan, undo: randomUUID(), outcome: isPartial ? "partial" : "done", files };
  }

  async explain(run: string): Promise<GrantExplanation> {
    const { session, agent } = this.#run(run);
    const denied = { granted: false, removedBy: "lead", reason: "not in tools of lead" };
    const granted = { granted: true, removedBy: null, reason: "let through by every layer" };
    const decisions = [
      { kind: "tool" as const, name: "read", ...granted },
      { kind: "tool" as const, name: "shell", ...denied },
      { kind: "agent" as const, name: "coder", ...granted },
    ];
    return { run, session, agent, layers: ["policy", "session", "lead"], verdicts: decisions };
  }

  async sessions({ limit }: { limit: number }) {
    this.#reach();
    const rows = [...this.#sessions.values()].map(({ row }) => row).reverse();
    return { position: this.#position, sessions: rows.slice(0, limit) };
  }

  async session(session: string): Promise<SessionDetail> {
    this.#reach();
    const { row, runs } = this.#find(session);
    return { position: this.#position, session: row, runs, approvals: this.#asked(session) };
  }

  async response(session: string): Promise<RunResponse | null> {
    this.#reach();
    return this.#find(session).response;
  }

  /** One to a page. */
  async changes({ session }: { session: string }, { after }: { after: number }) {
    this.#reach();
    const rows = this.changeRows.filter((row) => row.session === session && row.id > after);
    return { changes: rows.slice(0, 1), next: rows.length > 1 ? (rows[0]?.id ?? null) : null };
  }

  async *events(options: { session: string; after: number; signal: AbortSignal }): AsyncGenerator<ClientEvent> {
    this.#reach();
    this.streamStarts.push(options.after);
    const queue: ClientEvent[] = [];
    const listener = (event: ClientEvent) => queue.push(event);
    this.#listeners.add(listener);
    let sent = 0;
    try {
      if (options.after < this.#position) yield { type: "change", change: this.#changeOf(options.session) };
      while (!options.signal.aborted) {
        if (this.dead) throw new TroupeError("UNREACHABLE", `nothing answers at ${this.url}`);
        const event = queue.shift();
        if (!event) await delay(1);
        else yield event;
        sent += event ? 1 : 0;
        if (this.breakStreamAfter !== null && sent >= this.breakStreamAfter) {
          this.breakStreamAfter = null;
          return;
        }
      }
    } finally {
      this.#listeners.delete(listener);
    }
  }

  /** Settles a session. */
  finish(session: string, end: Partial<RunResponse>): void {
    const found = this.#find(session);
    const { runId, sessionId } = { runId: found.row.rootRun, sessionId: session };
    found.response = aResponse({ request: found.row.task, ...end, runId, sessionId });
    const status = RecordStatus.catch("failed").parse(found.response.status);
    const ended = { status, completedAt: new Date(5_000).toISOString(), durationMs: 5_000 };
    found.row = { ...found.row, ...ended, summary: found.response.summary, runsActive: 0 };
    found.runs = found.runs.map((run) => ({ ...run, ...ended, exactStatus: found.response?.status ?? "failed" }));
    this.#changed(session);
  }

  /** Sends an event that the test makes up. */
  send(event: ClientEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  addRun(session: string, run: RunRow): void {
    const { runs } = this.#find(session);
    const at = runs.findIndex((row) => row.run === run.run);
    if (at === -1) runs.push(run);
    else runs[at] = run;
    this.#changed(session);
  }

  /** Adds a request for approval; without a run, for the root run. */
  ask(session: string, given: Partial<ApprovalRow> = {}): ApprovalRow {
    const found = this.#find(session);
    const question = anApproval({ session, run: found.row.rootRun, ...given });
    this.questions.push(question);
    found.row = { ...found.row, approvalsWaiting: found.row.approvalsWaiting + 1 };
    found.runs = found.runs.map((run) => (run.run === question.run ? { ...run, exactStatus: "waiting" } : run));
    this.#changed(session);
    return question;
  }

  /** Adds a session without a submission. */
  seed(row: SessionRow, runs: RunRow[] = [], response: RunResponse | null = null): void {
    this.#sessions.set(row.session, { row, runs, response });
  }

  beginClosing(): void {
    this.#closing = true;
  }

  async idle({ besides = "" } = {}): Promise<void> {
    const counts = (row: SessionRow) => row.completedAt === null && row.session !== besides;
    while ([...this.#sessions.values()].some(({ row }) => counts(row))) await delay(1);
  }

  async close(): Promise<void> {
    this.closed = true;
    this.dead = true;
  }

  async #play(session: string, task: string): Promise<void> {
    await delay(1);
    const word = task.split(" ")[0];
    if (word === "answer") this.finish(session, { details: task.slice("answer ".length) });
    if (word === "fail" || word === "forbidden") {
      const type = word === "fail" ? ("model" as const) : ("auth" as const);
      const error = { type, message: "the model gave up", tool: null, recoverable: false };
      this.finish(session, { status: "failed", success: false, error: { ...error, retryAfterMs: null } });
    }
    if (word === "limit") {
      const end = { status: "bailed_out" as const, success: false, bailoutReason: "max_iterations" as const };
      this.finish(session, { ...end, details: "as far as I got" });
    }
    if (word === "ask") this.ask(session);
    if (word !== "delegate") return;
    const { row, runs } = this.#find(session);
    const child = { session, parentRun: row.rootRun, agent: "researcher", depth: 1, order: 1, task: "find it" };
    runs.push(aRun({ ...child, filesModified: ["notes.md"], summary: "found it" }));
    this.#changed(session);
    this.finish(session, { details: "done together" });
  }

  #changed(session: string): void {
    this.#position += 1;
    if (!this.mute) this.send({ type: "change", change: this.#changeOf(session) });
  }

  #changeOf(session: string): RecordChange {
    const found = this.#sessions.get(session);
    return {
      position: this.#position,
      sessions: found ? [found.row] : [],
      runs: [...(found?.runs ?? [])],
      approvals: this.#asked(session),
    };
  }

  #asked(session: string): ApprovalRow[] {
    return this.questions.filter((row) => row.session === session);
  }

  /** A session that only asked is done with its last answer. */
  #goOn(session: string): void {
    const { row } = this.#find(session);
    const streamStarts = this.#asked(session);
    const done = row.task.startsWith("ask") && streamStarts.every(({ state }) => state !== "waiting");
    if (done) this.finish(session, { details: streamStarts.map(({ state }) => state).join(", ") });
    else this.#changed(session);
  }

  #store({ tool, args, agent }: ApprovalRow): ApprovalRule {
    const rule = aRule({ tool: tool ?? "", args, agent });
    this.storedRules.push(rule);
    return rule;
  }

  #run(run: string): RunRow {
    const row = [...this.#sessions.values()].flatMap(({ runs }) => runs).find((each) => each.run === run);
    if (!row) throw new TroupeError("UNKNOWN_RUN", `there is no run ${run}`, { fix: "troupe sessions ls" });
    return row;
  }

  async #wish(run: string, words: string): Promise<RunControlOutcome> {
    this.#reach();
    const { session, status, completedAt } = this.#run(run);
    if (completedAt !== null) return { session, run, outcome: "settled", status };
    this.commands.push(words);
    return { session, run, outcome: "requested", status };
  }

  #find(session: string) {
    const found = this.#sessions.get(session);
    if (!found) throw new TroupeError("UNKNOWN_SESSION", `there is no session ${session}`);
    return found;
  }

  #reach(): void {
    if (this.dead) throw new TroupeError("UNREACHABLE", `nothing answers at ${this.url}`);
  }
}

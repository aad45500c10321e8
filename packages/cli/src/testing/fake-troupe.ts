import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import {
  type DaemonStatus,
  type RecordChange,
  RecordStatus,
  type RunResponse,
  type RunRow,
  type SessionDetail,
  type SessionRow,
  type SubmitSession,
  TroupeError,
  type TroupeService,
} from "@troupe/core";
import type { ClientEvent, OwnerKind, RunningTroupe, TroupeClient } from "../troupe.ts";
import { aResponse, aRun, aSession } from "./rows.ts";

export interface FakeTroupeOptions {
  url: string;
  token: string;
  home: string;
  kind: OwnerKind;
  demo: boolean;
}

/**
 * A troupe in memory that keeps to what a client can see. The task's first word says how a session goes: `answer`,
 * `fail`, `limit`, `delegate`, or `wait` (until it is cancelled or finished by the test).
 */
export class FakeTroupe implements RunningTroupe, TroupeClient {
  readonly url: string;
  readonly token: string;
  readonly requestedPort = null;
  readonly submissions: SubmitSession[] = [];
  readonly #options: FakeTroupeOptions;
  readonly #sessions = new Map<string, { row: SessionRow; runs: RunRow[]; response: RunResponse | null }>();
  readonly #listeners = new Set<(event: ClientEvent) => void>();
  #position = 0;
  #closing = false;
  /** No longer answers, as if its process had been killed. */
  dead = false;
  closed = false;
  /** Positions that streams were asked to go on from. */
  readonly asked: number[] = [];
  /** Changes happen, and nobody is told. */
  mute = false;
  /** Streams end without a word after this many events; once. */
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
    const { home, kind, demo } = this.#options;
    const provider = demo ? "demo (scripted, offline)" : "anthropic";
    const facts = { bus: "in-process", store: "sqlite", agents: 4, version: "0.1.0", pid: process.pid };
    return { ...facts, home, kind, provider, demo, startedAt: new Date(0).toISOString() };
  }

  async agents() {
    return { agents: [], problems: [] };
  }

  async submit(request: SubmitSession) {
    this.#reach();
    if (this.#closing) throw new TroupeError("CONFLICT", "the troupe is closing", { fix: "try again" });
    this.submissions.push(request);
    const row = aSession({
      session: request.session ?? randomUUID(),
      task: request.task,
      status: "running",
      completedAt: null,
    });
    const root = aRun({ run: row.rootRun, session: row.session, task: row.task, status: "running", completedAt: null });
    this.#sessions.set(row.session, { row, runs: [root], response: null });
    this.#changed(row.session);
    void this.#play(row.session);
    const demo = this.#options.demo || request.scenario !== undefined;
    return { session: row.session, run: row.rootRun, workspace: request.workspace ?? "/home/of/demo", demo };
  }

  async cancel(session: string) {
    this.#reach();
    const found = this.#find(session);
    if (found.row.completedAt !== null) return { session, outcome: "settled" as const, status: found.row.status };
    setImmediate(() => this.finish(session, { status: "cancelled", success: false }));
    return { session, outcome: "requested" as const, status: found.row.status };
  }

  async sessions({ limit }: { limit: number }) {
    this.#reach();
    const rows = [...this.#sessions.values()].map(({ row }) => row).reverse();
    return { position: this.#position, sessions: rows.slice(0, limit) };
  }

  async session(session: string): Promise<SessionDetail> {
    this.#reach();
    const { row, runs } = this.#find(session);
    return { position: this.#position, session: row, runs };
  }

  async response(session: string): Promise<RunResponse | null> {
    this.#reach();
    return this.#find(session).response;
  }

  async *events(options: { session: string; after: number; signal: AbortSignal }): AsyncGenerator<ClientEvent> {
    this.#reach();
    this.asked.push(options.after);
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

  /** Settles a session, as the test or its task wants it. */
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

  /** Sends something that is no change, or a change that the test makes up. */
  send(event: ClientEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  addRun(session: string, run: RunRow): void {
    this.#find(session).runs.push(run);
    this.#changed(session);
  }

  beginClosing(): void {
    this.#closing = true;
  }

  async idle(): Promise<void> {
    while ([...this.#sessions.values()].some(({ row }) => row.completedAt === null)) await delay(1);
  }

  async close(): Promise<void> {
    this.closed = true;
    this.dead = true;
  }

  async #play(session: string): Promise<void> {
    await delay(1);
    const { task } = this.#find(session).row;
    const word = task.split(" ")[0];
    if (word === "answer") this.finish(session, { details: task.slice("answer ".length) });
    if (word === "fail") {
      const error = { type: "model" as const, message: "the model gave up", tool: null, recoverable: false };
      this.finish(session, { status: "failed", success: false, error: { ...error, retryAfterMs: null } });
    }
    if (word === "limit") {
      const end = { status: "bailed_out" as const, success: false, bailoutReason: "max_iterations" as const };
      this.finish(session, { ...end, details: "as far as I got" });
    }
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
    return { position: this.#position, sessions: found ? [found.row] : [], runs: [...(found?.runs ?? [])] };
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

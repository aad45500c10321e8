import { randomUUID } from "node:crypto";
import type { ApprovalAnswer, ApprovalRow, LiveEvent, RunRow, SessionDetail, SessionRow } from "@troupe/core";
import {
  type ApprovalOutcome,
  type ApprovalRule,
  type RecordChange,
  type Submitted,
  sampleApproval,
  sampleRun,
  sampleSession,
} from "@troupe/core/internal";

type Listener = (kind: "change" | "live", data: RecordChange | LiveEvent) => void;

/** A record in memory with mock sessions that change by themselves. */
export class MockSessions {
  readonly sessions = new Map<string, SessionRow>();
  readonly runs = new Map<string, RunRow>();
  readonly approvals = new Map<string, ApprovalRow>();
  readonly rules = new Map<string, ApprovalRule>();
  readonly listeners = new Set<Listener>();
  readonly #cancelled = new Set<string>();
  position = 1;

  detail(id: string): SessionDetail | null {
    const session = this.sessions.get(id);
    if (!session) return null;
    const ofSession = <T extends { session: string }>(rows: ReadonlyMap<string, T>): T[] =>
      [...rows.values()].filter((row) => row.session === id);
    return { position: this.position, session, runs: ofSession(this.runs), approvals: ofSession(this.approvals) };
  }

  put(session: SessionRow, ...runs: RunRow[]): void {
    this.putAll(session, runs, []);
  }

  putAll(session: SessionRow, runs: RunRow[], approvals: ApprovalRow[]): void {
    for (const run of runs) this.runs.set(run.run, run);
    for (const approval of approvals) this.approvals.set(approval.id, approval);
    const all = [...this.runs.values()].filter((run) => run.session === session.session);
    const row = {
      ...session,
      runs: all.length,
      runsActive: all.filter((run) => run.status === "running" || run.status === "pending").length,
      totalTokens: all.reduce((sum, run) => sum + run.totalTokens, 0),
      approvalsWaiting: this.waiting().filter((approval) => approval.session === session.session).length,
    };
    this.sessions.set(row.session, row);
    this.position += 1;
    const change = { position: this.position, sessions: [row], runs, approvals };
    for (const listener of this.listeners) listener("change", change);
  }

  waiting(): ApprovalRow[] {
    return [...this.approvals.values()].filter(({ state }) => state === "waiting");
  }

  /** Creates an approval. Its run waits for the answer. */
  ask(run: RunRow, part: Pick<ApprovalRow, "tool" | "args" | "reason"> & Partial<ApprovalRow>): ApprovalRow {
    const approval = newApproval(run, part);
    const session = this.sessions.get(run.session);
    if (session)
      this.putAll(session, [{ ...run, exactStatus: "waiting", activity: "waiting for approval" }], [approval]);
    return approval;
  }

  answer(id: string, answer: ApprovalAnswer): ApprovalOutcome | null {
    const known = this.approvals.get(id);
    if (!known) return null;
    if (known.state !== "waiting") return { approval: known, outcome: "settled", rule: null };
    const { approved, scope, by, reason } = answer;
    const state = approved ? "approved" : "denied";
    const approval: ApprovalRow = { ...known, state, scope, by, answerReason: reason, answeredAt: now() };
    const rule = scope === "rule" ? newRule(approval, answer) : null;
    if (rule) this.rules.set(rule.id, rule);
    const [session, run] = [this.sessions.get(known.session), this.runs.get(known.run)];
    const others = this.waiting().some((other) => other.run === known.run && other.id !== id);
    const moved = run && !others ? [{ ...run, exactStatus: "running", activity: `continues: ${state}` }] : [];
    if (session) this.putAll(session, moved, [approval]);
    return { approval, outcome: "answered", rule };
  }

  /** Changes a run, unless it has ended. */
  control(id: string, part: Partial<RunRow>): { session: string; run: string; outcome: string; status: string } | null {
    const run = this.runs.get(id);
    if (!run) return null;
    const ended = run.completedAt !== null;
    if (!ended) this.#change(run, part);
    return { session: run.session, run: id, outcome: ended ? "settled" : "requested", status: run.status };
  }

  cancel(id: string): void {
    this.#cancelled.add(id);
    const session = this.sessions.get(id);
    const open = this.waiting().filter((approval) => approval.session === id);
    if (session)
      this.putAll(
        session,
        [],
        open.map((approval) => ({ ...approval, state: "withdrawn", answeredAt: now() })),
      );
  }

  /** Starts a session with three delegations, one retry and two levels. */
  submit(task: string, delayMs = 700): Submitted {
    const root = newRun(randomUUID(), null, "main", task, 0);
    this.put(newSession(root, task), root);
    void this.#perform(root.session, root, delayMs);
    return { session: root.session, run: root.run, workspace: "/home/you/.troupe/workspaces/demo", demo: true };
  }

  async #perform(id: string, root: RunRow, delayMs: number): Promise<void> {
    const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, delayMs));
    const child = (parent: RunRow, agent: string, task: string, attempt = 1): RunRow => {
      const run = { ...newRun(id, parent.run, agent, task, this.detail(id)?.runs.length ?? 0), attempt };
      run.depth = parent.depth + 1;
      this.#change(run, {});
      return run;
    };
    const work = async (run: RunRow, steps: readonly string[], end: Partial<RunRow>): Promise<void> => {
      for (const [i, activity] of steps.entries()) {
        if (this.#cancelled.has(id)) return;
        this.#live(run, { kind: "state.entered", state: "think", step: i + 1 });
        for (const word of ["Reading ", "the ", "existing ", "files. "])
          this.#live(run, { kind: "text.delta", text: word });
        await pause();
        const now = this.runs.get(run.run) ?? run;
        this.#change(run, {
          activity,
          iterations: i + 1,
          toolCalls: now.toolCalls + 1,
          totalTokens: now.totalTokens + 870,
        });
        await pause();
      }
      this.#settle(run, { status: "completed", ...end });
    };
    await pause();
    this.#change(root, { iterations: 1, activity: "waiting for planner, coder, tester", totalTokens: 1_204 });
    const planner = child(root, "planner", "Break the greeting tool into steps that can be checked one by one");
    const coder = child(root, "coder", "Write greet.ts: greet(name) returns one line, and refuses an empty name");
    const tester = child(root, "tester", "Test greet.ts with ordinary, empty and very long names");
    const second = async (): Promise<void> => {
      await work(tester, ["read greet.ts"], {
        status: "failed",
        error: "network: the connection was reset by the model's server",
      });
      await pause();
      await work(child(root, "tester", tester.task, 2), ["write greet.test.ts", "shell vitest run"], {
        summary: "4 of 4 tests pass.",
        filesModified: ["greet.test.ts"],
      });
    };
    const deeper = async (): Promise<void> => {
      await pause();
      this.#change(coder, { activity: "waiting for reviewer", iterations: 1, toolCalls: 1, totalTokens: 1_630 });
      await work(
        child(coder, "reviewer", "Review how greet.ts handles unusual names"),
        ["read greet.ts", "read README.md"],
        {
          summary: "Sound. One remark: trim the name first.",
          warnings: ["Only read, nothing was run"],
        },
      );
      await this.#answered(
        this.ask(this.runs.get(coder.run) ?? coder, {
          tool: "shell",
          args: { command: "npm install --save-dev vitest", timeoutMs: 60_000 },
          reason: "shell is a tool of high risk, which needs approval on this machine",
        }),
      );
      await work(coder, ["write greet.ts"], {
        summary: "greet.ts is written and reviewed.",
        filesModified: ["src/greet.ts"],
      });
    };
    await Promise.all([
      work(planner, ["read README.md", "list src"], { summary: "Three steps: write, test, review." }),
      second(),
      deeper(),
    ]);
    await work(root, ["read greet.ts"], { summary: "A greeting tool, written, tested and reviewed." });
    this.#close(id);
  }

  /** Waits for any answer. The script continues in the same way. */
  #answered({ id, session }: ApprovalRow): Promise<void> {
    return new Promise((resolve) => {
      const check = (): void => {
        if (this.approvals.get(id)?.state === "waiting" && !this.#cancelled.has(session)) return;
        this.listeners.delete(check);
        resolve();
      };
      this.listeners.add(check);
    });
  }

  #close(id: string): void {
    const session = this.sessions.get(id);
    if (!session) return;
    const status = this.#cancelled.has(id) ? "cancelled" : "completed";
    for (const run of this.detail(id)?.runs ?? []) if (run.completedAt === null) this.#settle(run, { status });
    const summary =
      status === "completed" ? "greet.ts is written, its four tests pass, and the reviewer found it sound." : null;
    this.put({
      ...session,
      status,
      summary,
      completedAt: now(),
      durationMs: Date.now() - Date.parse(session.startedAt),
    });
  }

  #settle(run: RunRow, end: Partial<RunRow>): void {
    if (this.runs.get(run.run)?.completedAt) return;
    const status = end.status ?? "completed";
    this.#change(run, {
      exactStatus: status,
      completedAt: now(),
      durationMs: Date.now() - Date.parse(run.startedAt),
      ...end,
    });
  }

  #change(run: RunRow, part: Partial<RunRow>): void {
    const session = this.sessions.get(run.session);
    if (session) this.put(session, { ...(this.runs.get(run.run) ?? run), ...part, lastEventAt: now() });
  }

  #live(
    run: RunRow,
    part: { kind: "state.entered"; state: string; step: number } | { kind: "text.delta"; text: string },
  ): void {
    for (const listener of this.listeners)
      listener("live", { v: 1, session: run.session, run: run.run, agent: run.agent, ...part });
  }
}

function newRun(session: string, parentRun: string | null, agent: string, task: string, order: number): RunRow {
  const host = agent === "coder" ? "worker-birch-1" : "daemon-1";
  const caps = { maxToolCalls: 100, maxDurationMs: 300_000, costUsd: 0 };
  const times = { startedAt: now(), lastEventAt: now() };
  return sampleRun({
    run: randomUUID(),
    session,
    parentRun,
    agent,
    task,
    order,
    model: "demo",
    host,
    ...caps,
    ...times,
  });
}

function newSession({ session, run, agent, startedAt }: RunRow, task: string): SessionRow {
  const facts = { origin: "page", demo: true, workspace: "/home/you/.troupe/workspaces/demo", costUsd: 0 } as const;
  return sampleSession({ session, rootRun: run, agent, task, startedAt, ...facts });
}

function newApproval(
  { session, run, agent, depth }: RunRow,
  part: Pick<ApprovalRow, "tool" | "args" | "reason"> & Partial<ApprovalRow>,
): ApprovalRow {
  const path = depth === 0 ? [agent] : ["main", agent];
  return sampleApproval({ id: randomUUID(), session, run, agent, path, requestedAt: now(), ...part });
}

function newRule({ tool, args, agent }: ApprovalRow, { approved, anyArguments, by }: ApprovalAnswer): ApprovalRule {
  return {
    id: randomUUID(),
    decision: approved ? "allow" : "deny",
    tool: tool ?? "",
    argsHash: anyArguments ? null : "mock",
    args: anyArguments ? null : args,
    workspace: "/home/you/.troupe/workspaces/demo",
    agent,
    createdAt: now(),
    by,
  };
}

function now(): string {
  return new Date().toISOString();
}

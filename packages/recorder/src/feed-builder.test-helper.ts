import {
  AgentDefinition,
  type Budget,
  type EntryBody,
  type FeedItem,
  type InboxItem,
  Limits,
  type ModelReply,
  RunRequest,
  type RunResponse,
  ToolOutcome,
  type Usage,
} from "@troupe/core";
import {
  type Approval,
  approvalId,
  type Intent,
  Metrics,
  type PlannedChild,
  RunSpec,
  sealEntry,
} from "@troupe/core/internal";
import { createCountingIds } from "@troupe/core/memory";
import { openSqlite } from "./database/sqlite.ts";

/** Builds the feed of a session entry by entry, in the way that hosts write it. */
export interface FeedBuilder {
  readonly session: string;
  readonly feed: FeedItem[];
  inbox(item: InboxItem): void;
  requested(run: RunBuilder): void;
  /** Adds the request of another turn, from the page. */
  continued(run: RunBuilder): void;
  /** `planned` is the child in its parent's plan. `continues` is the root run of the previous turn. */
  run(options: {
    agent: string;
    parent?: RunBuilder;
    attempt?: number;
    planned?: PlannedChild;
    continues?: RunBuilder | null;
  }): RunBuilder;
  planned(agent: string, changes?: Partial<PlannedChild>): PlannedChild;
  /** Adds a user's answer to the inbox. Returns the item that the run receives. */
  answered(of: RunBuilder, approval: Approval, changes?: Partial<Answer>): Answer;
}

type Answer = Extract<InboxItem, { kind: "approval.answered" }>;

/** Builds the journal of one run. Each entry follows the previous one. */
export interface RunBuilder {
  readonly request: RunRequest;
  write(body: EntryBody, options?: { beside?: boolean }): RunBuilder;
  opened(definition?: Partial<AgentDefinition>, budget?: Partial<Budget>): RunBuilder;
  replied(
    calls: [name: string, args: ModelReply["calls"][number]["args"]][],
    tokens?: [number, number],
    costUsd?: number | null,
  ): RunBuilder;
  planned(children: PlannedChild[], refused?: [call: number, tool: string, message: string][]): RunBuilder;
  asked(
    call: number,
    tool: string | null,
    args: Approval["args"],
    more?: Pick<Approval, "covers" | "preview">,
  ): Approval;
  received(item: InboxItem): RunBuilder;
  finished(call: number, outcome?: Partial<ToolOutcome>): RunBuilder;
  childSettled(child: { call: number; item?: number; attempt?: number }, response: RunResponse): RunBuilder;
  settled(response?: Partial<RunResponse>): RunBuilder;
  response(response?: Partial<RunResponse>): RunResponse;
}

export const feedStartMs = Date.UTC(2026, 0, 1);

export function createFeedBuilder(ids = createCountingIds()): FeedBuilder {
  const session = ids.next();
  const feed: FeedItem[] = [];
  let seq = 0;
  let seconds = 0;
  const now = (): number => {
    seconds += 1;
    return feedStartMs + seconds * 1_000;
  };

  const builder: FeedBuilder = {
    session,
    feed,
    inbox(item) {
      seq += 1;
      feed.push({ position: feed.length + 1, kind: "inbox", session, seq, text: JSON.stringify(item) });
    },
    requested({ request }) {
      builder.inbox({ v: 1, kind: "session.requested", at: now(), session, request, origin: "cli", demo: true });
    },
    continued({ request }) {
      builder.inbox({ v: 1, kind: "session.continued", at: now(), session, request, origin: "page", demo: false });
    },
    run({ agent, parent, attempt = 1, planned, continues = null }) {
      const run = planned?.run ?? ids.next();
      const request = { ...requestOf(session, run, agent, attempt, parent), continues: continues?.request.run ?? null };
      return createRunBuilder({ feed, now, request });
    },
    planned: (agent, changes = {}) => ({
      call: 0,
      item: 0,
      run: ids.next(),
      agent,
      task: `the task of ${agent}`,
      name: agent,
      after: [],
      contextMode: "summary",
      maxAttempts: 3,
      ...changes,
    }),
    answered(of, { id }, changes = {}) {
      const item: Answer = {
        v: 1,
        kind: "approval.answered",
        at: now(),
        session,
        run: of.request.run,
        approval: id,
        approved: true,
        scope: "once",
        reason: null,
        by: "Ada",
        ...changes,
      };
      builder.inbox(item);
      return item;
    },
  };
  return builder;
}

function createRunBuilder({
  feed,
  now,
  request,
}: {
  feed: FeedItem[];
  now: () => number;
  request: RunRequest;
}): RunBuilder {
  const { session, run } = request;
  let step = 0;
  let chain: { index: number; prev: string | null; beforePrev: string | null } = {
    index: 0,
    prev: null,
    beforePrev: null,
  };

  const runBuilder: RunBuilder = {
    request,
    write(body, { beside = false } = {}) {
      const index = beside ? chain.index - 1 : chain.index;
      const prev = beside ? chain.beforePrev : chain.prev;
      const sealed = sealEntry({ v: 1, session, run, index, epoch: 1, host: "host", at: now(), prev }, body);
      feed.push({ position: feed.length + 1, kind: "entry", session, run, index, text: sealed.text });
      if (!beside) chain = { index: index + 1, prev: sealed.hash, beforePrev: chain.prev };
      return runBuilder;
    },
    opened(definition = {}, budget = {}) {
      return runBuilder.write({ kind: "run.opened", request, pin: specOf(request, definition, budget) });
    },
    replied(calls, [inputTokens, outputTokens] = [100, 10], costUsd = null) {
      step += 1;
      const reply: ModelReply = {
        text: "thinking",
        calls: calls.map(([name, args], i) => ({ id: `call-${i}`, name, args, problem: null })),
        usage: { inputTokens, outputTokens, cachedTokens: 0, costUsd },
        stopReason: calls.length > 0 ? "tool_calls" : "end",
        model: "demo/answered",
      };
      return runBuilder.write({ kind: "model.replied", step, reply, durationMs: 5 });
    },
    planned(children, refused = []) {
      const refusedCalls = refused.map(([call, tool, message]) => {
        const error = { type: "permission", message, tool, recoverable: false, retryAfterMs: null } as const;
        return { call, tool, error };
      });
      return runBuilder.write({ kind: "calls.planned", step, children, refused: refusedCalls });
    },
    asked(call, tool, args, more) {
      const at = tool === null ? 0 : step;
      const id = approvalId({ run, step: at, call, argsHash: JSON.stringify(args) });
      const path = [...request.chain, request.agent];
      const approval: Approval = {
        id,
        tool,
        args,
        risk: "high",
        reason: "it can do anything",
        path,
        ...more,
      };
      runBuilder.write({ kind: "approval.requested", step: at, call, approval });
      return approval;
    },
    received: (item) => runBuilder.write({ kind: "inbox.received", seq: 1, item }),
    childSettled({ call, item = 0, attempt = 1 }, response) {
      return runBuilder.write({ kind: "child.settled", step, call, item, attempt, response });
    },
    finished(call, outcome = {}) {
      const whole = ToolOutcome.parse({ output: "done", durationMs: 7, ...outcome });
      return runBuilder.write({ kind: "tool.finished", step, call, tool: "any", outcome: whole });
    },
    response: (response = {}) => responseOf(request, response),
    settled(response = {}) {
      return runBuilder.write({ kind: "run.settled", response: runBuilder.response(response) });
    },
  };
  return runBuilder;
}

function requestOf(session: string, run: string, agent: string, attempt: number, parent?: RunBuilder): RunRequest {
  const above = parent?.request;
  return RunRequest.parse({
    v: 1,
    session,
    run,
    parent: above ? { run: above.run, agent: above.agent, step: 1, call: 0 } : null,
    agent,
    depth: above ? above.depth + 1 : 0,
    attempt,
    task: `the task of ${agent}`,
    contextMode: above ? "summary" : "task_only",
    chain: above ? [...above.chain, above.agent] : [],
    ancestors: above ? [...above.ancestors, above.run] : [],
    layers: [],
    model: "demo/scripted",
    workspace: { id: "w", path: "/srv/work" },
  });
}

function specOf(request: RunRequest, definition: Partial<AgentDefinition>, budget: Partial<Budget>): RunSpec {
  return RunSpec.parse({
    protocol: 1,
    definition: AgentDefinition.parse({
      id: request.agent,
      name: request.agent,
      description: "works",
      prompt: "You work.",
      source: { origin: "builtin", path: "agents/x.md" },
      ...definition,
    }),
    definitionHash: "0123456789abcdef",
    prompt: "You work.",
    tools: [],
    targets: [],
    model: "demo/pinned",
    grant: { tools: ["write"], agents: [], writes: [] },
    limits: Limits.parse({ maxIterations: 12, maxDurationMs: 60_000, maxToolCalls: 30 }),
    budget,
  });
}

function responseOf({ run, session, agent, task }: RunRequest, response: Partial<RunResponse>): RunResponse {
  const totals = { iterations: 2, toolCalls: 3, inputTokens: 200, outputTokens: 20, totalTokens: 220, costUsd: null };
  return {
    runId: run,
    sessionId: session,
    agent,
    request: task,
    status: "completed",
    success: (response.status ?? "completed") === "completed",
    summary: `${agent} is done`,
    details: `all that ${agent} has to say`,
    data: null,
    findings: [],
    confidence: null,
    domain: null,
    filesCreated: [],
    filesModified: [],
    filesDeleted: [],
    artifacts: [],
    testsRun: 0,
    testsPassed: 0,
    testSuites: [],
    warnings: [],
    suggestions: [],
    toolsUsed: [],
    error: null,
    bailoutReason: null,
    metrics: Metrics.parse({ ...totals, contextSize: 300, durationMs: 4_500, subtree: { runs: 1, ...totals } }),
    ...response,
  };
}

/**
 * A session that covers the record's cases: parallel children, a retry, a grandchild, a cancelled run, a refused run.
 */
export function largeSession(): FeedBuilder {
  const builder = createFeedBuilder();
  const root = builder.run({ agent: "main" });
  builder.requested(root);
  root.opened().replied([
    ["delegate", { agent: "coder", task: "code" }],
    ["delegate", { agent: "tester", task: "test" }],
    ["read", { path: "notes.md" }],
  ]);
  const coder = builder.run({ agent: "coder", parent: root });
  const tester = builder.run({ agent: "tester", parent: root });
  coder.opened();
  tester.opened().replied([["shell", { command: "npm test" }]]);
  coder.replied([["write", { path: "hello.md" }]]).finished(0, { filesCreated: ["hello.md"] });
  root.finished(2);
  tester.finished(0, {
    error: { type: "tool_error", message: "exit 1", tool: "shell", recoverable: true, retryAfterMs: null },
  });
  const failure = {
    type: "network",
    message: "unreachable",
    tool: null,
    recoverable: true,
    retryAfterMs: null,
  } as const;
  tester.settled({ status: "failed", success: false, error: failure });
  const settledChild = (call: number, attempt: number, child: RunBuilder, response?: Partial<RunResponse>): void => {
    root.childSettled({ call, attempt }, child.response(response));
  };
  settledChild(1, 1, tester, { status: "failed", success: false, error: failure });
  const again = builder.run({ agent: "tester", parent: root, attempt: 2 });
  const reviewer = builder.run({ agent: "reviewer", parent: coder });
  reviewer.opened().settled({ status: "rejected", success: false });
  coder.settled({ filesCreated: ["hello.md"], warnings: ["no tests"] });
  again.opened().replied([]);
  settledChild(0, 1, coder);
  builder.inbox({ v: 1, kind: "session.cancelled", at: feedStartMs, session: builder.session, reason: "enough" });
  again.settled({ status: "cancelled", success: false });
  settledChild(1, 2, again, { status: "cancelled", success: false });
  root.replied([]).settled({ filesCreated: ["hello.md"] });
  return builder;
}

/** The metrics of a run that never started. */
export const noMetrics = Metrics.parse({
  iterations: 0,
  toolCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  costUsd: 0,
  contextSize: 0,
  durationMs: 0,
  subtree: { runs: 0, iterations: 0, toolCalls: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0, costUsd: 0 },
});

/**
 * A session with commands of a user: a batch of three of which one never starts, a refused call, an answered and an
 * unanswered approval, a pause, a steering message, a retry by another agent.
 */
export function commandedSession(): FeedBuilder {
  const builder = createFeedBuilder();
  const { session } = builder;
  const root = builder.run({ agent: "main" });
  const command = { v: 1, at: feedStartMs, session, run: root.request.run, by: "Ada" } as const;
  const write = (item: InboxItem): void => {
    builder.inbox(item);
    root.received(item);
  };
  builder.requested(root);
  root.opened();
  root.write({ kind: "intent.assessed", intent: intentOf(root.request), usage: usageOf(40, 4, 0.25) });
  root.replied(
    [
      ["delegate", { tasks: [] }],
      ["delegate", { agent: "nobody" }],
      ["ls", null],
    ],
    [100, 10],
    0.5,
  );
  const names = ["coder", "tester", "reviewer"];
  const children = names.map((agent, item) => builder.planned(agent, { item }));
  root.planned(children, [[1, "delegate", "no agent of that name"]]).finished(2);
  root.write({
    kind: "context.summarised",
    step: 1,
    text: "so far",
    usage: usageOf(20, 2, 0.25),
    error: null,
    durationMs: 3,
  });
  const [coder, tester, reviewer] = children.map((planned) => builder.run({ ...planned, parent: root, planned }));
  if (!coder || !tester || !reviewer) throw new Error("the batch has three");

  coder.opened().replied([["shell", { command: "npm test" }]], [100, 10], 0.5);
  const question = coder.asked(0, "shell", { command: "npm test" });
  coder.write({ kind: "run.parked", reason: "approval" });
  root.write({ kind: "child.waiting", step: 1, call: 0, item: 0, attempt: 1, waiting: true });
  write({ ...command, kind: "run.paused" });
  root.write({ kind: "run.parked", reason: "pause" });
  tester.opened();
  const answer = builder.answered(coder, question, { scope: "run", reason: "go on" });
  coder.write({ kind: "run.claimed", reason: "resumed" }).received(answer).finished(0).settled();
  root.write({ kind: "run.claimed", reason: "resumed" });
  write({ ...command, kind: "run.resumed" });
  root.write({ kind: "child.waiting", step: 1, call: 0, item: 0, attempt: 1, waiting: false });
  root.childSettled({ call: 0, item: 0 }, coder.response());

  const failed = { status: "failed", success: false } as const;
  tester.settled(failed);
  root.childSettled({ call: 0, item: 1 }, tester.response(failed));
  const debug = builder.run({ agent: "debugger", parent: root, attempt: 2 });
  debug.opened().settled();
  root.childSettled({ call: 0, item: 1, attempt: 2 }, debug.response());
  const dropped = { status: "cancelled", success: false, metrics: noMetrics } as const;
  root.childSettled({ call: 0, item: 2 }, reviewer.response(dropped));

  write({ ...command, kind: "run.steered", text: "be brief" });
  root.replied([["shell", { command: "rm -r build" }]], [100, 10], 0.5);
  root.asked(0, "shell", { command: "rm -r build" });
  write({ ...command, kind: "run.cancelled", reason: "enough" });
  root.settled({ status: "cancelled", success: false });
  return builder;
}

/** Sessions that together cover every case of a record. */
export const sessionFixtures = [
  { name: "a plain session", write: largeSession },
  { name: "a session with commands of a user", write: commandedSession },
];

function usageOf(inputTokens: number, outputTokens: number, costUsd: number | null): Usage {
  return { inputTokens, outputTokens, cachedTokens: 0, costUsd };
}

function intentOf({ task }: RunRequest): Intent {
  return {
    context: { request: task, tools: [], params: {}, status: "planning", result: null, notes: [] },
    expectedFormat: "",
    successCriteria: "",
    risk: "low",
  };
}

/**
 * Every row of every table of a record, to compare two records. Leaves out `origin`, which differs in each file, and the
 * index of words, which depends on the batches.
 */
export function rowsOf(file: string): Record<string, unknown[]> {
  const database = openSqlite(file, { readOnly: true });
  const tables = database
    .prepare<[], { name: string; key: string }>(
      `SELECT name, iif(sql LIKE '%WITHOUT ROWID%', '1, 2, 3', 'rowid') AS key FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'origin'
         AND name NOT LIKE 'words%'`,
    )
    .all();
  const rows = tables.map(({ name, key }) => [name, database.prepare(`SELECT * FROM ${name} ORDER BY ${key}`).all()]);
  database.close();
  return Object.fromEntries(rows);
}

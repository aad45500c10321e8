import {
  AgentDefinition,
  type EntryBody,
  type FeedItem,
  type InboxItem,
  Limits,
  type ModelReply,
  type RunRequest,
  type RunResponse,
  sealEntry,
  ToolOutcome,
} from "@troupe/core";
import { createCountingIds } from "@troupe/core/memory";
import Database from "better-sqlite3";

/** Writes the feed of a session by hand, entry by entry, as hosts would. */
export interface Story {
  readonly session: string;
  readonly feed: FeedItem[];
  inbox(item: InboxItem): void;
  requested(run: Scribe): void;
  run(options: { agent: string; parent?: Scribe; attempt?: number }): Scribe;
}

/** The journal of one run. Each fact follows on the one before. */
export interface Scribe {
  readonly request: RunRequest;
  write(body: EntryBody, options?: { beside?: boolean }): Scribe;
  opened(definition?: Partial<AgentDefinition>): Scribe;
  replied(calls: [name: string, args: ModelReply["calls"][number]["args"]][], tokens?: [number, number]): Scribe;
  finished(call: number, outcome?: Partial<ToolOutcome>): Scribe;
  settled(response?: Partial<RunResponse>): Scribe;
  response(response?: Partial<RunResponse>): RunResponse;
}

export const storyStart = Date.UTC(2026, 0, 1);

export function createStory(ids = createCountingIds()): Story {
  const session = ids.next();
  const feed: FeedItem[] = [];
  let seq = 0;
  let seconds = 0;
  const now = (): number => {
    seconds += 1;
    return storyStart + seconds * 1_000;
  };

  const story: Story = {
    session,
    feed,
    inbox(item) {
      seq += 1;
      feed.push({ position: feed.length + 1, kind: "inbox", session, seq, text: JSON.stringify(item) });
    },
    requested({ request }) {
      story.inbox({ v: 1, kind: "session.requested", at: now(), session, request, origin: "cli", demo: true });
    },
    run({ agent, parent, attempt = 1 }) {
      return createScribe({ feed, now, request: requestOf(session, ids.next(), agent, attempt, parent) });
    },
  };
  return story;
}

function createScribe({ feed, now, request }: { feed: FeedItem[]; now: () => number; request: RunRequest }): Scribe {
  const { session, run } = request;
  let step = 0;
  let chain: { index: number; prev: string | null; beforePrev: string | null } = {
    index: 0,
    prev: null,
    beforePrev: null,
  };

  const scribe: Scribe = {
    request,
    write(body, { beside = false } = {}) {
      const index = beside ? chain.index - 1 : chain.index;
      const prev = beside ? chain.beforePrev : chain.prev;
      const sealed = sealEntry({ v: 1, session, run, index, epoch: 1, host: "host", at: now(), prev }, body);
      feed.push({ position: feed.length + 1, kind: "entry", session, run, index, text: sealed.text });
      if (!beside) chain = { index: index + 1, prev: sealed.hash, beforePrev: chain.prev };
      return scribe;
    },
    opened(definition = {}) {
      return scribe.write({ kind: "run.opened", request, pin: pinOf(request, definition) });
    },
    replied(calls, [inputTokens, outputTokens] = [100, 10]) {
      step += 1;
      const reply: ModelReply = {
        text: "thinking",
        calls: calls.map(([name, args], i) => ({ id: `call-${i}`, name, args })),
        usage: { inputTokens, outputTokens, cachedTokens: 0, costUsd: null },
        stopReason: calls.length > 0 ? "tool_calls" : "end",
        model: "demo/answered",
      };
      return scribe.write({ kind: "model.replied", step, reply, durationMs: 5 });
    },
    finished(call, outcome = {}) {
      const whole = ToolOutcome.parse({ output: "done", durationMs: 7, ...outcome });
      return scribe.write({ kind: "tool.finished", step, call, tool: "any", outcome: whole });
    },
    response: (response = {}) => responseOf(request, response),
    settled(response = {}) {
      return scribe.write({ kind: "run.settled", response: scribe.response(response) });
    },
  };
  return scribe;
}

function requestOf(session: string, run: string, agent: string, attempt: number, parent?: Scribe): RunRequest {
  const above = parent?.request;
  return {
    v: 1,
    session,
    run,
    parent: above ? { run: above.run, agent: above.agent, step: 1, call: 0 } : null,
    agent,
    depth: above ? above.depth + 1 : 0,
    attempt,
    task: `the task of ${agent}`,
    context: null,
    contextMode: above ? "summary" : "task_only",
    successCriteria: null,
    userId: null,
    chain: above ? [...above.chain, above.agent] : [],
    grant: { tools: ["write"], agents: [] },
    limits: {},
    model: "demo/scripted",
    workspace: { id: "w", path: "/srv/work" },
    remainingMs: null,
  };
}

function pinOf(request: RunRequest, definition: Partial<AgentDefinition>) {
  return {
    protocol: 1 as const,
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
    grant: request.grant,
    limits: Limits.parse({ maxIterations: 12, maxDurationMs: 60_000 }),
  };
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
    artifacts: [],
    testsRun: 0,
    testsPassed: 0,
    warnings: [],
    suggestions: [],
    toolsUsed: [],
    error: null,
    bailoutReason: null,
    metrics: { ...totals, contextSize: 300, durationMs: 4_500, subtree: { runs: 1, ...totals } },
    ...response,
  };
}

/**
 * A session with all that the record has to cope with: parallel children, a retry, a grandchild, a cancelled and a
 * refused run.
 */
export function largeStory(): Story {
  const story = createStory();
  const root = story.run({ agent: "main" });
  story.requested(root);
  root.opened().replied([
    ["delegate", { agent: "coder", task: "code" }],
    ["delegate", { agent: "tester", task: "test" }],
    ["read", { path: "notes.md" }],
  ]);
  const coder = story.run({ agent: "coder", parent: root });
  const tester = story.run({ agent: "tester", parent: root });
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
  const settledChild = (call: number, attempt: number, child: Scribe, response?: Partial<RunResponse>): void => {
    root.write({ kind: "child.settled", step: 1, call, attempt, response: child.response(response) });
  };
  settledChild(1, 1, tester, { status: "failed", success: false, error: failure });
  const again = story.run({ agent: "tester", parent: root, attempt: 2 });
  const reviewer = story.run({ agent: "reviewer", parent: coder });
  reviewer.opened().settled({ status: "rejected", success: false });
  coder.settled({ filesCreated: ["hello.md"], warnings: ["no tests"] });
  again.opened().replied([]);
  settledChild(0, 1, coder);
  story.inbox({ v: 1, kind: "session.cancelled", at: storyStart, session: story.session, reason: "enough" });
  again.settled({ status: "cancelled", success: false });
  settledChild(1, 2, again, { status: "cancelled", success: false });
  root.replied([]).settled({ filesCreated: ["hello.md"] });
  return story;
}

/** Every row of every table of a record, for comparing two of them. */
export function rowsOf(file: string): Record<string, unknown[]> {
  const database = new Database(file, { readonly: true });
  const tables = database
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .pluck()
    .all();
  const rows = tables.map((table) => [table, database.prepare(`SELECT * FROM ${table} ORDER BY rowid`).all()]);
  database.close();
  return Object.fromEntries(rows);
}

import {
  AgentDefinition,
  type AgentRegistry,
  type ApprovalRow,
  createSubjects,
  type EntryBody,
  Limits,
  type RecordReader,
  RunRequest,
  RunResponse,
  type RunRow,
  type RunStatus,
  SessionDetail,
  silentLogger,
} from "@troupe/core";
import type { ApprovalRules } from "@troupe/core/internal";
import {
  type Approval,
  approvalId,
  ControlMessage,
  canonicalJson,
  decode,
  hashText,
  RunSpec,
} from "@troupe/core/internal";
import {
  createCountingIds,
  createMemoryBus,
  createMemoryJournal,
  createMemoryTaskQueue,
  createSimulatedClock,
} from "@troupe/core/memory";
import { createToolHost, defineTool } from "@troupe/tools";
import { z } from "zod";
import { noFailpoints } from "../host/failpoints.ts";
import type { HostDeps } from "../host/host-deps.ts";
import { sealEntries } from "../host/run/seal-entries.ts";

const ids = createCountingIds();
export const session = ids.next();
export const otherSession = ids.next();
export const [root, child, grandchild, sibling, stranger] = Array.from({ length: 5 }, () => ids.next()) as [
  string,
  string,
  string,
  string,
  string,
];

/** Ports without a host, so that a test can read the stored commands and offered runs. */
export interface IdleDeps extends HostDeps {
  clock: ReturnType<typeof createSimulatedClock>;
  /** Sessions whose inboxes were announced. */
  announced: string[];
  /** Runs that wait in the queue; taking them empties it. */
  offered(): Promise<string[]>;
  /** The commands in a session's inbox, without its request. */
  commands(of?: string): Promise<Record<string, unknown>[]>;
}

export function definition(changes: Partial<AgentDefinition> & { id: string }): AgentDefinition {
  return AgentDefinition.parse({
    name: changes.id,
    description: `does ${changes.id}`,
    prompt: `You are ${changes.id}.`,
    source: { origin: "builtin", path: `${changes.id}.md` },
    ...changes,
  });
}

export async function createIdleDeps(agents: AgentDefinition[] = [definition({ id: "main" })]): Promise<IdleDeps> {
  const journal = createMemoryJournal();
  const queue = createMemoryTaskQueue();
  const bus = createMemoryBus();
  const subjects = createSubjects();
  const announced: string[] = [];
  await bus.subscribe(subjects.all.control, ({ bytes }) => {
    const control = decode(ControlMessage, bytes, "control");
    if (control.kind === "inbox.announced") announced.push(control.session);
  });
  const registry: AgentRegistry = {
    agents,
    problems: [],
    find: (id) => agents.find((agent) => agent.id === id),
    renderPrompt: ({ prompt }) => prompt,
  };
  return {
    journal,
    queue,
    bus,
    subjects,
    clock: createSimulatedClock(1_000),
    models: { id: "none", call: () => Promise.reject(new Error("no model here")), priceOf: async () => null },
    tools: createToolHost({ tools: ["read", "write", "shell"].map(toolNamed) }),
    agentSource: { load: async () => registry },
    verifiers: {},
    logger: silentLogger,
    failpoint: noFailpoints,
    hostId: "test",
    announced,
    async offered() {
      const tasks = await queue.take({ agents: "all", localities: "all", max: 100 });
      for (const task of tasks) await task.park();
      return tasks.map(({ run }) => run);
    },
    async commands(of = session) {
      const items = (await journal.readInbox(of)).map(({ item }) => item);
      return items.filter(({ kind }) => kind !== "session.requested").map(({ v: _, session: __, ...item }) => item);
    },
  };
}

function toolNamed(name: string) {
  return defineTool({
    name,
    description: name,
    input: z.strictObject({}),
    risk: "low",
    effect: "read",
    groups: name === "shell" ? [] : ["filesystem"],
    run: async () => ({ output: name }),
  });
}

export function requestOf(changes: Partial<z.input<typeof RunRequest>> = {}): RunRequest {
  return RunRequest.parse({
    v: 1,
    session,
    run: root,
    parent: null,
    agent: "main",
    depth: 0,
    attempt: 1,
    task: "do it",
    chain: [],
    layers: [],
    model: "test/model",
    workspace: { id: "w1", path: "/project" },
    ...changes,
  });
}

/** Writes a run into the journal: its opening and further entries. */
export async function openRun(
  { journal, hostId }: HostDeps,
  request: RunRequest,
  rest: readonly EntryBody[] = [],
  specChanges: Partial<RunSpec> = {},
): Promise<void> {
  const { session: of, run, agent } = request;
  const spec = RunSpec.parse({
    protocol: 1,
    definition: definition({ id: agent }),
    definitionHash: "0",
    prompt: "x",
    tools: [],
    targets: [],
    model: "test/model",
    grant: { tools: [], agents: [], writes: [] },
    limits: Limits.parse({}),
    ...specChanges,
  });
  const bodies: EntryBody[] = [{ kind: "run.opened", request, pin: spec }, ...rest];
  const writer = { session: of, run, epoch: 1, host: hostId, at: 500 };
  const entries = sealEntries(writer, { index: -1, hash: null }, bodies, undefined).map(({ sealed }) => sealed);
  const terminal = bodies.at(-1)?.kind === "run.settled";
  await journal.append({ session: of, run, after: -1, entries, terminal });
}

/** Stores a session's request, as accepting it does. */
export async function requestSession({ journal }: HostDeps, request = requestOf()): Promise<void> {
  const head = { v: 1, kind: "session.requested", at: 400, session: request.session } as const;
  await journal.appendInbox({ ...head, request, origin: "api", demo: false });
}

export const parked = (reason: "approval" | "pause" | "drain"): EntryBody => ({ kind: "run.parked", reason });

export function settled(run: string, status: RunStatus = "completed"): EntryBody {
  const zeros = { iterations: 0, toolCalls: 0, inputTokens: 0, outputTokens: 0, totalTokens: 0, costUsd: null };
  const response = RunResponse.parse({
    runId: run,
    sessionId: session,
    agent: "main",
    request: "do it",
    status,
    success: status === "completed",
    summary: "",
    details: "",
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
    metrics: { ...zeros, contextSize: 0, durationMs: 1, subtree: { ...zeros, runs: 1 } },
  });
  return { kind: "run.settled", response };
}

export const approvalArgs = { command: "rm -rf build" };

/** An approval request for a call of the shell, as a journal entry. */
export function approvalRequested(
  run: string,
  changes: Partial<Approval> = {},
): EntryBody & { kind: "approval.requested" } {
  const id = approvalId({ run, step: 1, call: 0, argsHash: hashText(canonicalJson(approvalArgs)) });
  const question = {
    tool: "shell",
    args: approvalArgs,
    risk: "high",
    reason: "high risk asks",
    path: ["main"],
  } as const;
  return { kind: "approval.requested", step: 1, call: 0, approval: { id, ...question, path: ["main"], ...changes } };
}

/** A record that has only the rows that a test adds. */
export function createRows(): Pick<RecordReader, "run" | "approval"> & {
  runs: Map<string, Pick<RunRow, "session" | "status">>;
  approvals: Map<string, ApprovalRow>;
} {
  const runs = new Map<string, Pick<RunRow, "session" | "status">>();
  const approvals = new Map<string, ApprovalRow>();
  return {
    runs,
    approvals,
    run: async (run) => (runs.get(run) as RunRow | undefined) ?? null,
    approval: async (id) => approvals.get(id) ?? null,
  };
}

/** Rules in memory. */
export function createListedRules(): ApprovalRules & { stored: ReturnType<ApprovalRules["list"]>[number][] } {
  const stored: ReturnType<ApprovalRules["list"]>[number][] = [];
  return {
    stored,
    list: () => stored,
    match: () => null,
    async add(rule) {
      stored.push(rule);
      return rule;
    },
    async remove(id) {
      const at = stored.findIndex((rule) => rule.id === id);
      return at === -1 ? null : (stored.splice(at, 1)[0] ?? null);
    },
  };
}

/** A settled session, as the record returns it. */
export function recordedSession(of: string): SessionDetail {
  const row = {
    session: of,
    rootRun: root,
    agent: "main",
    task: "once",
    status: "completed",
    origin: "api",
    demo: false,
    workspace: "/w",
    startedAt: "2026-01-01T00:00:00.000Z",
    completedAt: "2026-01-01T00:00:09.000Z",
    durationMs: 9_000,
    summary: "done",
    error: null,
    runs: 1,
    runsActive: 0,
    totalTokens: 0,
  };
  return SessionDetail.parse({ position: 1, session: row, runs: [] });
}

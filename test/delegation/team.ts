import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import {
  type AgentSource,
  type Bus,
  createSubjects,
  defaultPolicy,
  type Entry,
  type Journal,
  type Logger,
  type ModelRequest,
  type Policy,
  type RequestHandler,
  type RunResponse,
  type SessionDetail,
  SubmitSession,
  type TroupeService,
} from "@troupe/core";
import { decode, type ModelPrice, openEntry, SettledMessage, type Submitted } from "@troupe/core/internal";
import { createMemoryBus, createMemoryJournal, createMemoryTaskQueue } from "@troupe/core/memory";
import { systemClock, systemIds } from "@troupe/core/system";
import { openRecord, openSqliteJournal, startRecorder } from "@troupe/recorder";
import {
  type ActorHost,
  builtinVerifiers,
  createActorHost,
  createService,
  type HostDeps,
  noFailpoints,
  readFeed,
  recoverOpenRuns,
} from "@troupe/runtime";
import { createToolHost, openApprovalRules, type Tool } from "@troupe/tools";
import type { z } from "zod";
import { expectReplayable } from "../harness/expect-replayable.ts";
import { findNatsServer } from "../harness/nats-server.ts";
import { type LogLine, recordingLogger } from "./recording-logger.ts";
import type { TeamPorts } from "./remote/ports.ts";
import { openRemoteHost } from "./remote/remote-host.ts";
import { type Answer, agentSourceOf, modelOf, type ScenarioAgents, type TeamAgent } from "./scripted-agents.ts";
import type { SteppingClock } from "./stepping-clock.ts";
import { teamTools } from "./team-tools.ts";

export interface TeamOptions {
  agents?: readonly TeamAgent[];
  /** Finds the agents, instead of `agents`. */
  agentSource?: AgentSource;
  /** Model output, from a function… */
  answer?: Answer;
  /** …or from scripts, with their latencies. */
  scenario?: ScenarioAgents;
  /** @default teamTools */
  tools?: readonly Tool[];
  /** Handlers of requests, on the hosts of this process. @default none */
  handlers?: readonly RequestHandler[];
  policy?: Policy;
  /** Price of the model; null for an unknown price. @default nothing */
  price?: ModelPrice | null;
  /** @default the machine's own */
  clock?: SteppingClock;
  /** How many hosts share the work, and how many runs each has at work at once. @default 1 of 4 */
  hosts?: number;
  capacity?: number;
  /** With two, agents that people ask run here, and agents that agents ask run in another process. @default 1 */
  processes?: 1 | 2;
  /** @default "memory" */
  journal?: "memory" | "sqlite";
  /** Messages that never arrive. @default none */
  loses?: (subject: string, text: string) => boolean;
}

export interface TeamSize {
  what: string;
  hosts: number;
  capacity: number;
  processes: 1 | 2;
}

const hasServer = findNatsServer() !== null;

/**
 * The same test with all runs on one host, with runs that meet over journal, queue and bus alone, and with parents and
 * children in different processes, between which there is a NATS server and nothing else. Where one host and two
 * processes show the same, only the long run has two hosts (`casesOf`).
 */
export const teamSizes: readonly TeamSize[] = [
  { what: "one host", hosts: 1, capacity: 4, processes: 1 },
  { what: "two hosts", hosts: 2, capacity: 2, processes: 1 },
  // Where the tests decide, a missing server is a failure; elsewhere these are left out.
  ...(hasServer || process.env.CI ? [{ what: "two processes", hosts: 1, capacity: 4, processes: 2 } as const] : []),
];

/** A session that was asked for, and its end. */
export interface Session extends Submitted {
  response: Promise<RunResponse>;
}

export type Submission = Partial<z.input<typeof SubmitSession>>;
type SharedPorts = Omit<TeamPorts, "sync">;
type RunRef = Pick<Entry, "session" | "run">;

/** A company at work, as its user sees it: by its service, its journal and its record. */
export interface Team {
  readonly service: TroupeService;
  /** Every question that a model was asked, in order. */
  readonly questions: readonly ModelRequest[];
  /** Log lines of the hosts. */
  readonly log: readonly LogLine[];
  begin(task: string, submission?: Submission): Promise<Session>;
  /** Begins a session and waits for its end, letting time pass where the clock is the test's. */
  ask(task: string, submission?: Submission): Promise<RunResponse>;
  readonly journal: Pick<Journal, "readRun" | "openRuns">;
  /** The bus between the hosts, and its subjects. */
  readonly wire: Pick<TeamPorts, "bus" | "subjects">;
  /** The SQLite file of the record. */
  readonly recordFile: string;
  entries(run: RunRef): Promise<Entry[]>;
  /** Resolves as soon as a run's journal satisfies the condition. */
  entriesOnce(run: RunRef, isWanted: (entries: readonly Entry[]) => boolean): Promise<Entry[]>;
  /** The entries of all runs of a session that have begun, parents before children. */
  tree(root: RunRef): Promise<Entry[][]>;
  /** The record's rows, as of now. */
  rows(session: string): Promise<SessionDetail>;
  /** Resolves as soon as a session's record satisfies the condition. */
  rowsOnce(session: string, isWanted: (rows: SessionDetail) => boolean): Promise<SessionDetail>;
  onLive: TroupeService["onLive"];
  /** Every host is stopped as for a new version, and others take over. */
  restart(): Promise<void>;
}

/**
 * A company of agents for one test. Its hosts share nothing but journal, queue and bus, and tests see it only through
 * its service, its journal and its record: where the hosts really run is this function's business alone.
 *
 * @example
 * await withTeam({ agents: [{ id: "main" }], answer: () => "done" }, async (team) => {
 *   expect(await team.ask("do it")).toMatchObject({ status: "completed" });
 * });
 */
export async function withTeam(options: TeamOptions, use: (team: Team) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), "troupe-team-"));
  const cleanup: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })];
  try {
    await use(await startTeam(options, folder, cleanup));
  } finally {
    for (let step = cleanup.pop(); step; step = cleanup.pop()) await step();
  }
}

async function startTeam(options: TeamOptions, folder: string, cleanup: (() => unknown)[]): Promise<Team> {
  const { log, logger } = recordingLogger();
  const questions: ModelRequest[] = [];
  const clock = options.clock ?? systemClock();
  const patiently = <T>(promise: Promise<T>): Promise<T> => options.clock?.until(promise) ?? promise;

  const { policy = defaultPolicy, tools = teamTools, capacity = 4 } = options;
  const agentSource = options.agentSource ?? agentSourceOf(options.agents ?? [{ id: "main" }]);
  const models = modelOf(options, clock, questions);
  const remoteHost =
    options.processes === 2
      ? await openRemoteHost({
          ...{ folder, logger, models, tools, policy, agentSource, capacity },
          writesPrompts: options.agentSource !== undefined,
          ...(options.clock && { clock: options.clock }),
          ...(options.loses && { loses: options.loses }),
        })
      : null;
  const ports = remoteHost?.ports ?? (await openEmbeddedPorts(options, folder, logger));
  const { journal } = ports;
  cleanup.push(() => (remoteHost ?? ports).close());
  cleanup.push(async () => expectReplayable(await readFeed(journal)));
  const recordFile = path.join(folder, "troupe.db");
  const record = await openRecord({ file: recordFile });
  cleanup.push(() => record.close());
  const recorder = startRecorder({
    journal,
    record,
    onError: ({ message }) => logger.error({}, `record: ${message}`),
  });
  cleanup.push(() => recorder.stop());
  const rules = await openApprovalRules({ file: path.join(folder, "rules.json") });
  const { agents, pollMs, ...lease } = remoteHost?.hosting ?? {};
  /** Dependencies of one host. */
  const depsOf = (hostId: string): HostDeps => ({
    ...ports,
    ...lease,
    bus: lossy(ports.bus, options.loses),
    ...(options.handlers ? { handlers: new Map(options.handlers.map((handler) => [handler.name, handler])) } : {}),
    verifiers: builtinVerifiers,
    clock,
    logger,
    failpoint: noFailpoints,
    hostId,
    models,
    tools: createToolHost({ tools, policy, rules, clock }),
    agentSource,
  });

  const hosts: ActorHost[] = [];
  let hostsMade = 0;
  const startHosts = async (): Promise<void> => {
    for (let i = 0; i < (options.hosts ?? 1); i += 1) {
      hostsMade += 1;
      const deps = depsOf(`host-${hostsMade}`);
      const host = createActorHost({
        deps,
        capacity,
        ...(agents && { agents, localities: [] }),
        ...(pollMs && { pollMs }),
      });
      hosts.push(host);
      await host.start();
    }
    await remoteHost?.start(`far-${hostsMade}`);
  };
  const stopHosts = async (): Promise<void> => {
    const stops = [...hosts.splice(0), ...(remoteHost ? [remoteHost] : [])].map((host) => host.stop({ graceMs: 50 }));
    await patiently(Promise.all(stops));
  };
  await startHosts();
  cleanup.push(stopHosts);

  const service = createService({
    deps: depsOf("door"),
    record: record.reader,
    rules,
    policy,
    ids: systemIds(),
    workspaces: path.join(folder, "workspaces"),
    model: { id: options.scenario ? "scripted/test" : "test/model", demo: false },
    resolveScenario: async (name) => name,
    status: () => {
      throw new Error("a test has no status");
    },
  });
  cleanup.push(() => service.close());

  const begin = async (task: string, submission: Submission = {}): Promise<Session> => {
    const submitted = await service.submit(SubmitSession.parse({ task, ...submission }));
    return { ...submitted, response: settledOf(ports, submitted) };
  };
  const entries = (run: RunRef): Promise<Entry[]> => entriesOf(journal, run);
  const rows = async (session: string): Promise<SessionDetail> => {
    await recorder.caughtUp();
    const detail = await record.reader.session(session);
    if (!detail) throw new Error(`the record has no session ${session}`);
    return detail;
  };

  return {
    service,
    questions,
    log,
    journal,
    wire: ports,
    recordFile,
    begin,
    ask: async (task, submission) => patiently((await begin(task, submission)).response),
    entries,
    entriesOnce: (run, isWanted) => entriesOnce(journal, run, isWanted),
    tree: (root) => treeOf(journal, root),
    rows,
    rowsOnce(session, isWanted) {
      const found = Promise.withResolvers<SessionDetail>();
      const look = (): void => {
        rows(session).then((detail) => {
          if (isWanted(detail)) found.resolve(detail);
        }, found.reject);
      };
      const stop = record.reader.onChange(look);
      look();
      return found.promise.finally(stop);
    },
    onLive: service.onLive,
    async restart() {
      await stopHosts();
      await startHosts();
      await recoverOpenRuns(journal, ports.queue);
    },
  };
}

/** All that the hosts of one process share. */
async function openEmbeddedPorts({ journal: kind }: TeamOptions, folder: string, logger: Logger): Promise<SharedPorts> {
  const journal =
    kind === "sqlite" ? await openSqliteJournal({ file: path.join(folder, "journal.db") }) : createMemoryJournal();
  return {
    journal,
    queue: createMemoryTaskQueue(),
    bus: createMemoryBus({ onListenerError: (err) => logger.error({ err }, "listener failed") }),
    subjects: createSubjects(),
    close: () => journal.close(),
  };
}

/** A bus that loses some of what is published: that is all that its users may rely on. */
function lossy(bus: Bus, loses: TeamOptions["loses"]): Bus {
  if (!loses) return bus;
  const decoder = new TextDecoder();
  return {
    ...bus,
    publish(subject, bytes) {
      if (!loses(subject, decoder.decode(bytes))) bus.publish(subject, bytes);
    },
  };
}

/** The one response of a run: announced, or in its journal where it is too large to be, or was there before. */
async function settledOf(
  { bus, subjects, journal }: Pick<HostDeps, "bus" | "subjects" | "journal">,
  run: RunRef,
): Promise<RunResponse> {
  const answer = Promise.withResolvers<RunResponse>();
  const look = async (): Promise<void> => {
    const last = (await entriesOf(journal, run)).at(-1);
    if (last?.kind === "run.settled") answer.resolve(last.response);
  };
  const subscription = await bus.subscribe(subjects.settled(run.run), ({ bytes }) => {
    const { response } = decode(SettledMessage, bytes, "settled");
    if (response) answer.resolve(response);
    else void look();
  });
  await look();
  return await answer.promise.finally(() => subscription.unsubscribe());
}

async function entriesOf(journal: Journal, { session, run }: RunRef): Promise<Entry[]> {
  return (await journal.readRun(session, run)).map(openEntry);
}

async function entriesOnce(
  journal: Journal,
  run: RunRef,
  isWanted: (entries: readonly Entry[]) => boolean,
): Promise<Entry[]> {
  const stop = new AbortController();
  for await (const batch of journal.watch({ after: 0, signal: stop.signal })) {
    if (!batch.some((item) => item.kind === "entry" && item.run === run.run)) continue;
    const found = await entriesOf(journal, run);
    if (!isWanted(found)) continue;
    stop.abort();
    return found;
  }
  throw new Error("the journal was closed before it had the awaited entry");
}

async function treeOf(journal: Journal, root: RunRef): Promise<Entry[][]> {
  const entries = await entriesOf(journal, root);
  if (entries.length === 0) return [];
  const below = await Promise.all(childrenIn(entries).map((run) => treeOf(journal, { session: root.session, run })));
  return [entries, ...below.flat()];
}

/** Children that a run has planned, and their replacements. */
function childrenIn(entries: readonly Entry[]): string[] {
  const runs = entries.flatMap((entry) => {
    if (entry.kind === "calls.planned") return entry.children.map(({ run }) => run);
    return entry.kind === "child.settled" ? [entry.response.runId] : [];
  });
  return [...new Set(runs)];
}

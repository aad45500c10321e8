import { jetstreamManager } from "@nats-io/jetstream";
import {
  type Bus,
  type Clock,
  createSubjects,
  type Entry,
  type HostDirectory,
  type InboxItem,
  type Journal,
  type Logger,
  type ModelReply,
  type ModelRequest,
  RunRequest,
  type RunResponse,
  silentLogger,
  TroupeError,
} from "@troupe/core";
import { answeredEffect, createInvalidMessages, encode, type InvalidMessages, openEntry } from "@troupe/core/internal";
import { createMemoryJournal } from "@troupe/core/memory";
import { systemIds } from "@troupe/core/system";
import { createNatsBusOn, createNatsTaskQueue, ensureStreams, type NatsLink, openNatsLink } from "@troupe/nats";
import { type ActorHost, createActorHost, type Failpoint, type HostDeps } from "@troupe/runtime";
import { defineTool } from "@troupe/tools";
import type { AgentInput } from "troupe";
import { createEmbeddedHost } from "troupe/internal";
import { z } from "zod";
import { startTcpProxy, type TcpProxy } from "../harness/tcp-proxy.ts";
import { until } from "../harness/until.ts";
import { createSleepyClock } from "./queues.fixture.ts";

export const leaseMs = 2_000;

/** The replies of a machine's model. */
export type MachineScript = (
  question: ModelRequest,
  at: Machine,
  signal: AbortSignal,
) => Partial<ModelReply> | Promise<Partial<ModelReply>>;

/** One executed tool call. */
export interface Done {
  machine: string;
  tool: string;
  key: string;
}

/** A machine with a host. The test controls its network, its clock and its death. */
export interface Machine {
  readonly name: string;
  readonly host: ActorHost;
  readonly deps: HostDeps;
  readonly link: NatsLink;
  readonly wire: TcpProxy;
  readonly invalidMessages: InvalidMessages;
  readonly logged: string[];
  /** As by SIGSTOP: it does nothing and receives nothing until it resumes. */
  sleep(): void;
  wake(): void;
  /** Every call of the journal fails. */
  cutFromJournal(isCut: boolean): void;
  /** As by SIGKILL: its connection ends, and it never does anything again. */
  die(): void;
}

export interface MachineOptions {
  agents?: readonly string[];
  capacity?: number;
  clock?: Clock;
  /** The fate of its messages, outgoing or incoming. */
  bus?(bus: Bus): Bus;
  /** Its tools. @default all */
  tools?: readonly string[];
  hosts?: HostDirectory;
  /** Called at the most dangerous moments for a crash. */
  failpoint?(point: Failpoint, key: string, at: Machine): void;
  /** Called with its own stored entries, before the machine gets the acknowledgement. */
  stored?(entries: readonly Entry[], at: Machine): void;
}

export interface MachinesOptions {
  url: string;
  /** @default `leaseMs` */
  leaseMs?: number;
  namespace: string;
  agents: readonly AgentInput[];
  script: MachineScript;
  /** Called during each tool call. The call waits for the returned promise. */
  onTool?(at: Machine, tool: string, signal: AbortSignal): Promise<void> | void;
  /** True if a check finds that `save` was done. */
  isSaved?(): boolean;
}

/** Machines that share one journal, over one NATS server. */
export interface Machines extends AsyncDisposable {
  readonly journal: Journal;
  readonly done: Done[];
  /** `machine agent/step` of every model call, in order. */
  readonly asked: string[];
  machine(name: string, options?: MachineOptions): Promise<Machine>;
  request(changes?: Partial<RunRequest>): RunRequest;
  offer(by: Machine, request: RunRequest): Promise<"offered" | "duplicate">;
  /** Resolves to the response when it is in the journal. */
  response(request: Pick<RunRequest, "session" | "run">): Promise<RunResponse>;
  entries(request: Pick<RunRequest, "session" | "run">): Promise<Entry[]>;
  /** Number of tasks, waiting or held. */
  tasks(): Promise<number>;
  /** Deletes its message from the queue, as a lost disk would. */
  loseTask(request: Pick<RunRequest, "agent" | "run">): Promise<void>;
}

const limitsOfNothing = { inputPerMillion: 0, outputPerMillion: 0 };

export async function openMachines(options: MachinesOptions): Promise<Machines> {
  const { url, namespace } = options;
  const lease = { leaseMs: options.leaseMs ?? leaseMs };
  const port = Number(new URL(url).port);
  const journal = withIdleTimes(createMemoryJournal());
  const ends: (() => Promise<void>)[] = [];
  const done: Done[] = [];
  const asked: string[] = [];
  const ids = systemIds();
  const ownLink = await openNatsLink({ servers: url });
  await ensureStreams({ link: ownLink, namespace });
  const manager = await jetstreamManager(ownLink.connection);
  ends.push(() => ownLink.close());

  const machine = async (name: string, given: MachineOptions = {}): Promise<Machine> => {
    const state = { isDead: false, isCut: false, asleep: null as PromiseWithResolvers<void> | null };
    const wire = await startTcpProxy(port);
    const link = await openNatsLink({ servers: `nats://127.0.0.1:${wire.port}`, reconnectDelayMs: 20, name });
    const plainBus = createNatsBusOn(link);
    const bus = given.bus?.(plainBus) ?? plainBus;
    const clock = createSleepyClock(given.clock);
    const subjects = createSubjects(namespace);
    const invalidMessages = createInvalidMessages();
    const logged: string[] = [];
    const note = (_: object, message: string): void => void logged.push(message);
    const logger = { ...silentLogger, info: note, warn: note, error: note } as Logger;
    const never = new Promise<never>(() => {});
    /** Wraps every point at which the machine's code resumes after waiting for something outside of it. */
    const outside = async <T>(value: Promise<T>): Promise<T> => {
      const outcome = await value.then(
        (result) => ({ result }),
        (error: unknown) => ({ error }),
      );
      if (state.isDead) return await never;
      await state.asleep?.promise;
      if ("error" in outcome) throw outcome.error;
      return outcome.result;
    };
    const queue = await createNatsTaskQueue({
      ...{ link, bus, subjects, namespace, clock, logger, invalidMessages, ...lease },
      sweepMs: lease.leaseMs / 8,
    });
    const embedded = createEmbeddedHost({
      journal,
      clock,
      logger,
      agents: options.agents,
      models: {
        id: "test",
        priceOf: async () => limitsOfNothing,
        async call(question, { signal }) {
          asked.push(`${name} ${question.origin.agent}/${question.origin.step}`);
          const reply = await outside(Promise.resolve(options.script(question, self, signal)));
          const calls = reply.calls ?? [];
          const usage = { inputTokens: 10, outputTokens: 5, cachedTokens: 0, costUsd: 0 };
          return {
            text: "",
            usage,
            model: "test/model",
            stopReason: calls.length > 0 ? "tool_calls" : "end",
            ...reply,
            calls,
          };
        },
      },
      tools: toolsOf(
        async (tool, key, signal) => {
          if (state.isDead) return await never;
          await state.asleep?.promise;
          done.push({ machine: name, tool, key });
          await outside(Promise.resolve(options.onTool?.(self, tool, signal)));
        },
        options.isSaved ?? (() => false),
      ).filter(({ spec }) => given.tools?.includes(spec.name) ?? true),
    });
    const deps: HostDeps = {
      ...embedded.deps,
      ...{ queue, bus, subjects, invalidMessages, hostId: name, ...lease },
      failpoint: { at: (point, { key }) => given.failpoint?.(point, key, self) },
      ...(given.hosts ? { hosts: given.hosts } : {}),
      journal: behind(
        seenBy((entries) => given.stored?.(entries, self), journal),
        async (act) => {
          if (state.isDead) return await never;
          await state.asleep?.promise;
          if (state.isCut) throw new TroupeError("UNREACHABLE", "the journal cannot be reached");
          return await outside(act());
        },
      ),
    };
    const host = createActorHost({
      deps,
      agents: given.agents ?? options.agents.map(({ id }) => id),
      localities: [],
      pollMs: lease.leaseMs / 8,
      capacity: given.capacity ?? 8,
    });
    const self: Machine = {
      ...{ name, host, deps, link, wire, invalidMessages, logged },
      sleep() {
        state.asleep ??= Promise.withResolvers();
        wire.hold("toServer", "toClient");
        clock.sleep();
      },
      wake() {
        const { asleep } = state;
        state.asleep = null;
        asleep?.resolve();
        // Pending work resumes before timers fire and messages arrive: the worst order.
        setTimeout(() => {
          wire.release();
          clock.wake();
        }, 30);
      },
      cutFromJournal(isCut) {
        state.isCut = isCut;
      },
      die() {
        state.isDead = true;
        clock.sleep();
        void link.close();
        void wire.close();
      },
    };
    await host.start();
    ends.push(async () => {
      if (!state.isDead) {
        self.wake();
        await host.stop({ graceMs: 0 });
        await queue.close();
        await link.close();
        await wire.close();
      }
    });
    return self;
  };

  const entries = async ({ session, run }: Pick<RunRequest, "session" | "run">): Promise<Entry[]> =>
    (await journal.readRun(session, run)).map(openEntry);

  return {
    journal,
    done,
    asked,
    machine,
    request: (changes = {}) =>
      RunRequest.parse({
        ...{ v: 1, session: ids.next(), run: ids.next(), parent: null, agent: "main", depth: 0, attempt: 1 },
        ...{ task: "do it", chain: [], layers: [], model: "test/model", workspace: { id: "w1", path: "/nowhere" } },
        ...changes,
      }),
    offer: (by, request) =>
      by.deps.queue.offer({ run: request.run, agent: request.agent, locality: "any", bytes: encode(request) }),
    async response({ session, run }) {
      return await until(async () => {
        const text = await journal.lastOf(session, run);
        const last = text === null ? null : openEntry(text);
        return last?.kind === "run.settled" ? last.response : null;
      });
    },
    entries,
    async tasks() {
      return (await manager.streams.info(`${namespace}_tasks`)).state.messages;
    },
    async loseTask({ agent, run }) {
      const filter = createSubjects(namespace).task("any", agent, run);
      await manager.streams.purge(`${namespace}_tasks`, { filter });
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(ends.splice(1).map((end) => end()));
      await Promise.all(ends.map((end) => end()));
    },
  };
}

/** Appends an inbox item to a session, and announces it or not. */
export async function sendCommand(by: Machine, item: InboxItem, { announced = true } = {}): Promise<void> {
  const { journal, bus, subjects } = by.deps;
  await journal.appendInbox(item);
  if (announced) bus.publish(subjects.control("all"), encode({ v: 1, kind: "inbox.announced", session: item.session }));
}

/** No takeover may produce two outcomes of one effect, or an entry of an older epoch after a newer one. */
export function wrongIn(entries: readonly Entry[]): string[] {
  const answered = entries.flatMap((entry) => answeredEffect(entry) ?? []);
  const twice = answered.filter((key, i) => answered.indexOf(key) !== i);
  const late = entries.filter(({ epoch }, i) => epoch < (entries[i - 1]?.epoch ?? 0));
  return [...twice.map((key) => `twice: ${key}`), ...late.map(({ index }) => `late: ${index}`)];
}

export function call(name: string, args: Record<string, string> = {}): ModelReply["calls"][number] {
  return { id: `call-${name}`, name, args, problem: null };
}

export function delegate(agent: string, task = "go"): ModelReply["calls"][number] {
  return { id: `call-${agent}-${task}`, name: "delegate", args: { agent, task }, problem: null };
}

function toolsOf(run: (tool: string, key: string, signal: AbortSignal) => Promise<void>, isSaved: () => boolean) {
  const basics = { description: "x", input: z.strictObject({}), risk: "low" as const };
  const make = (name: string, effect: "read" | "idempotent" | "unsafe", risk: "low" | "high" = "low") =>
    defineTool({
      ...{ ...basics, name, effect, risk },
      async run(_, { idempotencyKey, signal }) {
        await run(name, idempotencyKey, signal);
        return { output: `${name} done` };
      },
    });
  const save = defineTool({
    ...{ ...basics, name: "save", effect: "verifiable" as const },
    plan: async () => [],
    verify: async () => (isSaved() ? { output: "save was done" } : null),
    async run(_, { idempotencyKey, signal }) {
      await run("save", idempotencyKey, signal);
      return { output: "save done" };
    },
  });
  return [
    make("look", "read"),
    make("put", "idempotent"),
    make("shoot", "unsafe"),
    make("launch", "unsafe", "high"),
    save,
  ];
}

/** A journal behind a link. */
function seenBy(see: (entries: readonly Entry[]) => void, journal: Journal): Journal {
  return {
    ...journal,
    async append(append) {
      const result = await journal.append(append);
      if (result.ok) see(append.entries.map(({ text }) => openEntry(text)));
      return result;
    },
  };
}

function behind(journal: Journal, reach: <T>(act: () => Promise<T>) => Promise<T>): Journal {
  return {
    ...journal,
    append: (append) => reach(() => journal.append(append)),
    readRun: (...place) => reach(() => journal.readRun(...place)),
    lastOf: (...place) => reach(() => journal.lastOf(...place)),
    appendInbox: (item) => reach(() => journal.appendInbox(item)),
    readInbox: (...place) => reach(() => journal.readInbox(...place)),
    openRuns: (of) => reach(() => journal.openRuns(of)),
  };
}

/** The memory journal, with idle times as over NATS. */
function withIdleTimes(journal: Journal): Journal {
  const writtenAtMs = new Map<string, number>();
  return {
    ...journal,
    async append(append) {
      const result = await journal.append(append);
      if (result.ok) writtenAtMs.set(append.run, performance.now());
      return result;
    },
    async openRuns(of) {
      const open = await journal.openRuns(of);
      return open.map((run) => ({
        ...run,
        idleMs: performance.now() - (writtenAtMs.get(run.run) ?? performance.now()),
      }));
    },
  };
}

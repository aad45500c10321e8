import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { AgentDefinition, AgentSource, Logger, ModelProvider, Policy } from "@troupe/core";
import type { Tool } from "@troupe/tools";
import type { SteppingClock } from "../stepping-clock.ts";
import { teamTools } from "../team-tools.ts";
import { createActivity, turns } from "./activity.ts";
import type { ModelNote, RemoteHostOptions, TestMethods } from "./methods.ts";
import { openTeamPorts, type TeamPorts } from "./ports.ts";
import { type RemoteProcess, useRemoteProcess } from "./start-remote-process.ts";

export interface OpenRemoteHostOptions {
  folder: string;
  logger: Logger;
  models: ModelProvider;
  tools: readonly Tool[];
  policy: Policy;
  agentSource: AgentSource;
  writesPrompts: boolean;
  capacity: number;
  /** Absent: the machine's own. */
  clock?: SteppingClock;
  loses?: (subject: string, text: string) => boolean;
}

/** A second host, in a process of its own. Nothing but the NATS server is between the two. */
export interface RemoteHost {
  ports: TeamPorts;
  /** Settings for the host of this process that match the remote one. */
  hosting: { agents: readonly string[]; leaseMs?: number; pollMs?: number };
  start(hostId: string): Promise<void>;
  stop(options: { graceMs: number }): Promise<void>;
  close(): Promise<void>;
}

const leaseMs = 8_000;
/** A queue is looked into again so long after a hint. */
const lookAgainMs = 40;

export async function openRemoteHost(options: OpenRemoteHostOptions): Promise<RemoteHost> {
  const { folder, logger, agentSource, clock } = options;
  const other = await useRemoteProcess();
  const namespace = `t${randomUUID().slice(0, 8)}`;
  const activity = createActivity();
  const ports = await openTeamPorts({ url: other.url, namespace, logger, activity });
  const { agents } = await agentSource.load(null);
  const localAgents = askedByPeople(agents);
  const remoteAgents = agents.map(({ id }) => id).filter((id) => !localAgents.includes(id));
  other.answerWith(testMethodsOf(options, other));
  // Where the test says what time it is, hours pass in no time: no lease is as long as that.
  const timing = clock ? { pollMs: 24 * 3_600_000 } : { leaseMs };

  const quiet = async (): Promise<void> => {
    for (let [before, waitedAt] = [-1, -1]; ; ) {
      await activity.idle();
      await ports.sync();
      const remoteActivity = await other.peer.call("quiet", undefined);
      await turns();
      // Each side counts its own activity, and replies arrive after all messages sent before them.
      const count = activity.count + other.peer.messages + remoteActivity.count;
      const untaken = activity.untaken + remoteActivity.untaken;
      if (count === before && (untaken <= 0 || count === waitedAt)) return;
      if (count === before) {
        // They may be more than the hosts have room for; or a host has looked too early, and looks again.
        await delay(lookAgainMs);
        waitedAt = count;
      }
      before = count;
    }
  };
  const stopSharing = clock?.share({ quiet, setTime: (nowMs) => other.peer.call("setTime", nowMs) });

  return {
    ports,
    hosting: { agents: localAgents, ...timing },
    async start(hostId) {
      await mkdir(path.join(folder, "elsewhere"), { recursive: true });
      await other.peer.call("start", {
        ...{ url: other.url, namespace, hostId, capacity: options.capacity, policy: options.policy, ...timing },
        ...toolsOf(options.tools),
        agents: remoteAgents,
        folder: path.join(folder, "elsewhere"),
        modelId: options.models.id,
        writesPrompts: options.writesPrompts,
        nowMs: clock?.now() ?? null,
        loses: options.loses !== undefined,
      });
    },
    stop: (how) => other.peer.call("stop", how),
    async close() {
      stopSharing?.();
      await ports.close();
    },
  };
}

/** Agents that sessions start with: `main`, or else the agents to which no other agent may delegate. */
function askedByPeople(agents: readonly AgentDefinition[]): string[] {
  const ids = agents.map(({ id }) => id);
  if (ids.includes("main")) return ["main"];
  return ids.filter((id) => !agents.some((other) => other.id !== id && other.subagents?.allow?.includes(id)));
}

/** Tools that both have by themselves are run where they are called; those of a test, where the test is. */
function toolsOf(tools: readonly Tool[]): Pick<RemoteHostOptions, "tools" | "testsTools"> {
  const [own, tests] = [
    tools.filter((tool) => teamTools.includes(tool)),
    tools.filter((tool) => !teamTools.includes(tool)),
  ];
  return {
    tools: own.map(({ spec }) => spec.name),
    testsTools: tests.map(({ spec, outputBytesMax }) => ({ spec, outputBytesMax })),
  };
}

function testMethodsOf(options: OpenRemoteHostOptions, { peer }: RemoteProcess): TestMethods {
  const { models, tools, agentSource, clock, logger, loses } = options;
  const timers = new Map<number, () => void>();
  return {
    callModel(request, { signal, note }) {
      const send = (value: ModelNote): void => note(value);
      return models.call(request, {
        signal,
        onDelta: (text) => send({ kind: "delta", text }),
        onActivity: () => send({ kind: "activity" }),
        onRetry: (retry) => send({ kind: "retry", retry }),
      });
    },
    priceOf: (model) => models.priceOf(model),
    async runTool({ tool, args, context }, { signal }) {
      const found = tools.find(({ spec }) => spec.name === tool);
      if (!found) throw new Error(`the test has no tool ${tool}`);
      const whole = { ...context, signal };
      return await found.bind(args, whole).run(whole);
    },
    agentsOf: async (workspace) => (await agentSource.load(workspace)).agents,
    isLost: ({ subject, text }) => loses?.(subject, text) ?? false,
    log: ({ level, details, message }) => logger[level](details, message),
    setTimer({ id, delayMs }) {
      const fire = async (): Promise<void> => {
        timers.delete(id);
        await peer.call("fire", id);
      };
      const cancel = clock?.after(delayMs, () => void fire());
      if (cancel) timers.set(id, cancel);
    },
    clearTimer(id) {
      timers.get(id)?.();
      timers.delete(id);
    },
  };
}

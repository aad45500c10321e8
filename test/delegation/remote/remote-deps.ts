import type { AgentRegistry, AgentSource, Bus, Clock, Logger, ModelProvider } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { createAgentSource } from "@troupe/roles";
import type { Tool } from "@troupe/tools";
import { teamTools } from "../team-tools.ts";
import type { ModelNote, RemoteHostOptions, TestMethods } from "./methods.ts";
import type { Peer } from "./peer.ts";

type Test = Peer<TestMethods>;

/** Model calls of every host go to the test process. */
export function remoteModels(test: Test, id: string): ModelProvider {
  return {
    id,
    priceOf: (model) => test.call("priceOf", model),
    call(request, { signal, onDelta, onActivity, onRetry }) {
      const onNote = (value: unknown): void => {
        const note = value as ModelNote;
        if (note.kind === "delta") onDelta(note.text);
        else if (note.kind === "activity") onActivity?.();
        else onRetry?.(note.retry);
      };
      return test.call("callModel", request, { signal, onNote });
    },
  };
}

/** This process's own tools, and tools that run in the test process because the test inspects them. */
export function remoteTools(
  test: Test,
  { tools, testsTools }: Pick<RemoteHostOptions, "tools" | "testsTools">,
): Tool[] {
  const own = teamTools.filter(({ spec }) => tools.includes(spec.name));
  const tests = testsTools.map(({ spec, outputBytesMax }): Tool => {
    const bind: Tool["bind"] = (args) => ({
      risk: spec.risk,
      consent: null,
      outward: null,
      run: ({ signal, ...context }) => test.call("runTool", { tool: spec.name, args, context }, { signal }),
      plan: null,
      verify: null,
    });
    return { spec, outputBytesMax, bind };
  });
  return [...own, ...tests];
}

export function remoteAgentSource(test: Test, writesPrompts: boolean): AgentSource {
  return {
    async load(workspace): Promise<AgentRegistry> {
      const agents = await test.call("agentsOf", workspace);
      const find: AgentRegistry["find"] = (id) => agents.find((agent) => agent.id === id);
      if (!writesPrompts) return { agents, problems: [], find, renderPrompt: ({ prompt }) => prompt };
      return await createAgentSource({ builtin: false, userFolders: [], remoteAgents: () => agents }).load(null);
    },
  };
}

export interface RemoteClock extends Clock {
  setTime(nowMs: number): void;
  fire(timer: number): void;
}

/** The test's time. Its timers are the test's as well, which lets them fall due one after the other. */
export function remoteClock(test: Test, startMs: number): RemoteClock {
  let nowMs = startMs;
  let sequence = 0;
  const timers = new Map<number, () => void>();
  return {
    now: () => nowMs,
    monotonicMs: () => nowMs - startMs,
    after(delayMs, callback) {
      sequence += 1;
      const id = sequence;
      timers.set(id, callback);
      void test.call("setTimer", { id, delayMs });
      return () => {
        if (timers.delete(id)) void test.call("clearTimer", id);
      };
    },
    setTime(ms) {
      nowMs = ms;
    },
    fire(id) {
      const callback = timers.get(id);
      timers.delete(id);
      callback?.();
    },
  };
}

export function machineClock(): RemoteClock {
  const failOnTestTime = (): never => {
    throw new Error("this machine's time is its own");
  };
  return { ...systemClock(), setTime: failOnTestTime, fire: failOnTestTime };
}

/** The test knows which messages never arrive. Order is kept: each is asked about before it leaves. */
export function remoteLossyBus(test: Test, bus: Bus): Bus {
  const decoder = new TextDecoder();
  return {
    ...bus,
    payloadBytesMax: bus.payloadBytesMax,
    publish(subject, bytes) {
      void test.call("isLost", { subject, text: decoder.decode(bytes) }).then((isLost) => {
        if (!isLost) bus.publish(subject, bytes);
      });
    },
  };
}

export function remoteLogger(test: Test): Logger {
  const at =
    (level: keyof Logger) =>
    (details: object, message: string): void => {
      // Details may hold anything, of which the test only reads.
      const plain = JSON.parse(JSON.stringify(details, (_, value) => (value instanceof Error ? String(value) : value)));
      void test.call("log", { level, message, details: plain });
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

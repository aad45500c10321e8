import type { Clock, Entry, Journal, ModelProvider, RunResponse } from "@troupe/core";
import { openEntry } from "@troupe/core/internal";
import { createMemoryJournal } from "@troupe/core/memory";
import { createModelRouter, createProvider, createReliableProvider, ProviderLimits } from "@troupe/models";
import { createTeam } from "@troupe/runtime";
import { defineTool } from "@troupe/tools";
import { createEmbeddedHost } from "troupe/internal";
import type { TestContext } from "vitest";
import { z } from "zod";
import { type ModelServerOptions, startModelServer } from "../../harness/model-server/start-model-server.ts";
import { seededRandom } from "../../harness/seeded-random.ts";
import { tempFolder } from "../../harness/temp-folder.ts";
import type { TestedWire } from "./wires.ts";

export const key = "sk-ant-canary-0123456789abcdef";

/** A tool that is only there to be called. */
const lookup = defineTool({
  name: "lookup",
  description: "Looks a word up.",
  input: z.strictObject({ word: z.string() }),
  risk: "low",
  effect: "read",
  run: async ({ word }) => ({ output: `found ${word}` }),
});

/** Time goes by fast here. */
const maxDurationMs = 24 * 3_600_000;

export interface ModelTeamOptions extends Pick<ModelServerOptions, "scenario" | "chaos"> {
  wire: TestedWire;
  /** By which runs wait. */
  clock: Clock;
  /** By which the one retry layer waits and watches. */
  retryClock: Clock;
  /**
   * A call is given up after this much silence. The default is long, because a busy machine must not look like a fault
   * when time runs fast. @default hours
   */
  idleTimeoutMs?: number;
  seed?: number;
  /** @default one of memory */
  journal?: Journal;
  /** Turns of a run, of which the last is without tools. @default 50 */
  maxIterations?: number;
}

/** Agents named `main` within this process, whose models are asked by a real SDK over a real socket. */
export async function startModelTeam(test: Pick<TestContext, "onTestFinished">, options: ModelTeamOptions) {
  const { wire, scenario, chaos, clock, retryClock, seed = 1, maxIterations = 50 } = options;
  const server = await startModelServer({ scenario, apiKey: key, ...(chaos ? { chaos } : {}) });
  const providerLimits = ProviderLimits.parse({ idleTimeoutMs: options.idleTimeoutMs ?? 10 * 3_600_000 });
  const provider = createProvider({
    settings: {
      id: "vendor",
      wire: wire.wire,
      baseUrl: wire.baseUrl(server),
      key,
      authToken: null,
      keyVariable: "VENDOR_KEY",
      headers: {},
      limits: providerLimits,
      models: {},
      isLocal: false,
    },
    prices: { priceOf: () => null, costOf: () => null, contextOf: () => null },
    clock: retryClock,
  });
  const reliable = createReliableProvider({
    provider,
    limits: providerLimits,
    clock: retryClock,
    random: seededRandom(seed),
  });
  const deltas: string[] = [];
  const { journal = createMemoryJournal() } = options;
  const embedded = createEmbeddedHost({
    journal,
    models: createModelRouter([recordDeltas(reliable, deltas)]),
    agents: [
      {
        id: "main",
        description: "works",
        prompt: "You work.",
        tools: ["lookup"],
        limits: { maxDurationMs, maxIterations },
      },
    ],
    tools: [lookup],
    clock,
    capacity: 200,
  });
  await embedded.start();
  const workspace = await tempFolder("models", test);
  const team = createTeam({ deps: embedded.deps, model: `vendor/${wire.model}`, workspace });
  test.onTestFinished(async () => {
    await team.close();
    await embedded.stop();
    await server.close();
  });
  return {
    server,
    /** Pieces of text that came through, be they part of a reply or not. */
    deltas,
    close: () => team.close(),
    /** Asks `main`, and waits for its response. */
    async ask(task: string): Promise<{ response: RunResponse; entries: Entry[] }> {
      const { run, session, response } = team.spawn("main", task);
      const settled = await response;
      return { response: settled, entries: (await journal.readRun(session, run)).map(openEntry) };
    },
  };
}

function recordDeltas(provider: ModelProvider, deltas: string[]): ModelProvider {
  return {
    ...provider,
    call: (request, options) =>
      provider.call(request, {
        ...options,
        onDelta(text) {
          deltas.push(text);
          options.onDelta(text);
        },
      }),
  };
}

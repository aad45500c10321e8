import { type ModelRequest, RunFailure, TroupeError } from "@troupe/core";
import { createSimulatedClock } from "@troupe/core/memory";
import { describe, expect, test, vi } from "vitest";
import { parseScenario } from "./load-scenario.ts";
import { createScriptedProvider } from "./scripted-provider.ts";

const scenario = parseScenario(
  `
name: paced
description: For tests.
price: { inputPerMillion: 3, outputPerMillion: 15 }
agents:
  main:
    - summary: { text: "in short" }
      steps:
        - { latencyMs: 900, text: "one two three", deltas: 3 }
  failing:
    - steps:
        - { latencyMs: 500, text: "I was about to", deltas: 1, error: { type: network, message: gone, recoverable: true } }
  faulty:
    - steps:
        - text: one two three
          latencyMs: 900
          deltas: 3
          faults:
            - { status: 429, retryAfterMs: 700, message: slow down }
            - { status: 401 }
            - { status: 429, code: insufficient_quota }
            - { cut: { afterPieces: 2 } }
            - { streamError: { afterPieces: 1, status: 529, message: too much } }
            - { notWhatItSays: html }
            - { stall: { afterPieces: 1 } }
            - { halfOpen: { afterPieces: 0 } }
            - { delayMs: 300 }
  deep:
    - when: { depth: 2 }
      steps: [{ text: "deep down" }]
`,
  "paced.yaml",
);

const request = (agent: string, depth?: number): ModelRequest => ({
  model: "scripted/paced",
  system: "",
  messages: [],
  tools: [],
  maxOutputTokens: 1_000,
  temperature: null,
  origin: { session: "s", run: "r", agent, task: "go", attempt: 1, step: 1, ...(depth === undefined ? {} : { depth }) },
});

function start(agent: string, depth?: number, triesBefore = 0) {
  const clock = createSimulatedClock();
  const load = vi.fn(async () => scenario);
  const abort = new AbortController();
  const deltas: { atMs: number; text: string }[] = [];
  const asked = request(agent, depth);
  const origin = { ...asked.origin, triesBefore };
  const reply = createScriptedProvider({ load, clock }).call(
    { ...asked, origin },
    {
      signal: abort.signal,
      onDelta: (text) => deltas.push({ atMs: clock.now(), text }),
    },
  );
  reply.catch(() => {});
  return { load, abort, deltas, reply, pass: (ms: number) => pass(clock, ms) };
}

/** Advances time in small steps and lets pending callbacks run after each. */
async function pass(clock: ReturnType<typeof createSimulatedClock>, ms: number): Promise<void> {
  for (let passed = 0; passed <= ms; passed += 50) {
    await new Promise(setImmediate);
    if (passed < ms) clock.advance(50);
  }
}

test("a text is streamed over the step's latency, and the reply comes at its end", async () => {
  const { load, deltas, reply, pass } = start("main");

  await pass(850);
  expect(deltas).toEqual([
    { atMs: 300, text: "one " },
    { atMs: 600, text: "two " },
  ]);
  await pass(50);

  expect(await reply).toMatchObject({ text: "one two three", stopReason: "end", model: "scripted/paced" });
  expect(deltas.at(-1)).toEqual({ atMs: 900, text: "three" });
  expect(load).toHaveBeenCalledWith("paced");
});

test("a scripted error is thrown after its latency", async () => {
  const { deltas, reply, pass } = start("failing");
  await pass(500);

  await expect(reply).rejects.toBeInstanceOf(RunFailure);
  await expect(reply).rejects.toMatchObject({ runError: { type: "network", message: "gone", recoverable: true } });
  expect(deltas).toEqual([{ atMs: 500, text: "I was about to" }]);
});

test("a call that is aborted stops at once, with time standing still", async () => {
  const { deltas, reply, abort, pass } = start("main");
  await pass(300);

  abort.abort();

  await expect(reply).rejects.toMatchObject({ runError: { type: "cancelled" } });
  await pass(900);
  expect(deltas).toHaveLength(1);
});

describe("a fault becomes the failure that a real provider would report:", () => {
  test.for<{ triesBefore: number; what: string; error: object; deltas: number }>([
    {
      triesBefore: 0,
      what: "a rate limit",
      error: { type: "rate_limit", recoverable: true, begun: false, retryAfterMs: 700 },
      deltas: 0,
    },
    { triesBefore: 1, what: "a wrong key", error: { type: "auth", recoverable: false, begun: false }, deltas: 0 },
    { triesBefore: 2, what: "a spent budget", error: { type: "budget", recoverable: false, begun: false }, deltas: 0 },
    {
      triesBefore: 3,
      what: "a lost connection",
      error: { type: "network", recoverable: true, begun: true },
      deltas: 2,
    },
    {
      triesBefore: 4,
      what: "an error inside the answer",
      error: { type: "rate_limit", recoverable: true, begun: true },
      deltas: 1,
    },
    { triesBefore: 5, what: "another kind of body", error: { recoverable: false, begun: true }, deltas: 0 },
  ])("$what", async ({ triesBefore, error, deltas: pieces }) => {
    const { reply, deltas, pass } = start("faulty", undefined, triesBefore);
    await pass(600);
    await expect(reply).rejects.toMatchObject({ runError: error });
    expect(deltas).toHaveLength(pieces);
  });

  test.for([
    { triesBefore: 6, what: "silence in the middle", deltas: 1 },
    { triesBefore: 7, what: "a peer that vanishes", deltas: 0 },
  ])("$what, until the caller gives up", async ({ triesBefore, deltas: pieces }) => {
    const { reply, deltas, abort, pass } = start("faulty", undefined, triesBefore);
    await pass(3_000);
    expect(deltas).toHaveLength(pieces);
    abort.abort();
    await expect(reply).rejects.toMatchObject({ runError: { type: "cancelled" } });
  });

  test("or comes late", async () => {
    const { reply, deltas, pass } = start("faulty", undefined, 8);
    await pass(1_200);
    expect(await reply).toMatchObject({ text: "one two three" });
    expect(deltas.map(({ atMs }) => atMs)).toEqual([600, 900, 1_200]);
  });

  test("and the next request is answered", async () => {
    const { reply, pass } = start("faulty", undefined, 9);
    await pass(900);
    expect(await reply).toMatchObject({ text: "one two three" });
  });
});

test("scripts can match the depth that the caller gives", async () => {
  await expect(start("deep", 2).reply).resolves.toMatchObject({ text: "deep down" });
  await expect(start("deep", 1).reply).rejects.toMatchObject({ runError: { type: "params" } });
  await expect(start("deep").reply).rejects.toMatchObject({ runError: { type: "params" } });
});

test("the purpose and the output limit reach the script", async () => {
  const provider = createScriptedProvider({ load: async () => scenario, clock: createSimulatedClock() });
  const asked = request("main");
  const reply = await provider.call(
    { ...asked, maxOutputTokens: 1, origin: { ...asked.origin, step: 9, purpose: "summary" } },
    { signal: new AbortController().signal, onDelta: () => {} },
  );
  expect(reply).toMatchObject({ text: "in s", stopReason: "max_tokens" });
});

test("the price is the scenario's", async () => {
  const provider = createScriptedProvider({ load: async () => scenario, clock: createSimulatedClock() });
  expect(await provider.priceOf("scripted/paced")).toEqual({ inputPerMillion: 3, outputPerMillion: 15 });
});

describe("a scenario that cannot be loaded", () => {
  test("has no known price", async () => {
    const load = () => Promise.reject(new TroupeError("UNKNOWN_SCENARIO", "there is no such"));
    const provider = createScriptedProvider({ load, clock: createSimulatedClock() });
    expect(await provider.priceOf("scripted/none")).toBeNull();
  });

  test("fails the call with the reason and the fix", async () => {
    const load = () => Promise.reject(new TroupeError("UNKNOWN_SCENARIO", "there is no such", { fix: "take another" }));
    const provider = createScriptedProvider({ load, clock: createSimulatedClock() });
    const call = provider.call(request("main"), { signal: new AbortController().signal, onDelta: () => {} });

    await expect(call).rejects.toMatchObject({
      runError: { type: "params", message: "there is no such; take another", recoverable: false },
    });
  });
});

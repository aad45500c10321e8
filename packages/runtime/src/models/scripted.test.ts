import { type ModelRequest, RunFailure, TroupeError } from "@troupe/core";
import { createSimulatedClock } from "@troupe/core/memory";
import { describe, expect, test, vi } from "vitest";
import { parseScenario } from "../scenarios/parse-scenario.ts";
import { createScriptedProvider } from "./scripted.ts";

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

function start(agent: string, depth?: number) {
  const clock = createSimulatedClock();
  const load = vi.fn(async () => scenario);
  const abort = new AbortController();
  const heard: { atMs: number; text: string }[] = [];
  const reply = createScriptedProvider({ load, clock }).call(request(agent, depth), {
    signal: abort.signal,
    onDelta: (text) => heard.push({ atMs: clock.now(), text }),
  });
  reply.catch(() => {});
  return { load, abort, heard, reply, pass: (ms: number) => pass(clock, ms) };
}

/** Moves time in small steps, giving what waits for it a turn after each. */
async function pass(clock: ReturnType<typeof createSimulatedClock>, ms: number): Promise<void> {
  for (let passed = 0; passed <= ms; passed += 50) {
    await new Promise(setImmediate);
    if (passed < ms) clock.advance(50);
  }
}

test("a text is streamed over the step's latency, and the reply comes at its end", async () => {
  const { load, heard, reply, pass } = start("main");

  await pass(850);
  expect(heard).toEqual([
    { atMs: 300, text: "one " },
    { atMs: 600, text: "two " },
  ]);
  await pass(50);

  expect(await reply).toMatchObject({ text: "one two three", stopReason: "end", model: "scripted/paced" });
  expect(heard.at(-1)).toEqual({ atMs: 900, text: "three" });
  expect(load).toHaveBeenCalledWith("paced");
});

test("a scripted error is thrown after its latency", async () => {
  const { heard, reply, pass } = start("failing");
  await pass(500);

  await expect(reply).rejects.toBeInstanceOf(RunFailure);
  await expect(reply).rejects.toMatchObject({ runError: { type: "network", message: "gone", recoverable: true } });
  expect(heard).toEqual([{ atMs: 500, text: "I was about to" }]);
});

test("a call that is aborted stops at once, with time standing still", async () => {
  const { heard, reply, abort, pass } = start("main");
  await pass(300);

  abort.abort();

  await expect(reply).rejects.toMatchObject({ runError: { type: "cancelled" } });
  await pass(900);
  expect(heard).toHaveLength(1);
});

test("scripts can ask for the depth, where the caller tells it", async () => {
  await expect(start("deep", 2).reply).resolves.toMatchObject({ text: "deep down" });
  await expect(start("deep", 1).reply).rejects.toMatchObject({ runError: { type: "params" } });
  await expect(start("deep").reply).rejects.toMatchObject({ runError: { type: "params" } });
});

test("what is asked beside the conversation, and how much may be said, reach the script", async () => {
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

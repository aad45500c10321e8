/** The request of a model call, and the parts of its reply that are journaled. */
import { ToolSpec } from "@troupe/core";
import { describe, expect, test } from "vitest";
import { networkFailure, type Script, toolCall } from "../host-deps.test-helper.ts";
import { callArgsBytesMax, callArgsDepthMax, callModel, callNameCharactersMax, callsMax } from "./call-model.ts";
import { createScope, run } from "./scope.test-helper.ts";

const effect = {
  kind: "callModel" as const,
  run,
  step: 3,
  messages: [{ role: "user" as const, text: "go" }],
  lastTurn: false,
  maxOutputTokens: 77,
  triesBefore: 2,
};

async function repliedBy(script: Script, changes: Partial<typeof effect> = {}) {
  const scope = await createScope({ script, pin: { temperature: 0.3 } });
  const body = await callModel({ ...effect, ...changes }, scope);
  if (body?.kind !== "model.replied") throw new Error(`${body?.kind} instead of model.replied`);
  return body.reply;
}

test("the model gets the limits of the machine and the spec of the run", async () => {
  const asked: unknown[] = [];
  await repliedBy((request) => {
    asked.push({ ...request, tools: request.tools.map(({ name }) => name) });
    return { text: "hi" };
  });
  expect(asked).toMatchObject([
    {
      model: "test/model",
      system: "You are main.",
      messages: effect.messages,
      tools: ["echo", "danger", "deploy"],
      maxOutputTokens: 77,
      temperature: 0.3,
      origin: { step: 3, agent: "main", triesBefore: 2 },
    },
  ]);
});

test("effort and output schema are part of every call", async () => {
  const asked: unknown[] = [];
  const script: Script = ({ effort, outputSchema }) => {
    asked.push({ effort, outputSchema });
    return { text: "hi" };
  };
  const definition = { effort: "high" as const, outputSchema: { type: "object" } };
  for (const lastTurn of [false, true]) {
    const scope = await createScope({ script, agents: [{ id: "main", ...definition }] });
    await callModel({ ...effect, lastTurn }, scope);
  }
  expect(asked).toEqual([definition, definition]);
});

test("a retry is published while the call waits for it", async () => {
  const scope = await createScope();
  const { models } = scope.deps;
  scope.deps.models = {
    ...models,
    call(request, options) {
      options.onRetry?.({ error: networkFailure().runError, waitMs: 8_000, tries: 2, triesMax: 5 });
      return models.call(request, options);
    },
  };
  await callModel(effect, scope);
  expect(scope.shown).toContainEqual(
    expect.objectContaining({ kind: "model.retrying", type: "network", waitMs: 8_000, tries: 2, triesMax: 5 }),
  );
});

test("the last turn has no tools", async () => {
  const asked: number[] = [];
  const script: Script = ({ tools }) => {
    asked.push(tools.length);
    return { text: "hi" };
  };
  await repliedBy(script, { lastTurn: true });
  expect(asked).toEqual([0]);
});

test("a failure is an outcome, with its reason", async () => {
  const scope = await createScope({ script: () => Promise.reject(networkFailure()) });
  expect(await callModel(effect, scope)).toMatchObject({ kind: "model.failed", step: 3, error: { type: "network" } });
});

describe("arguments", () => {
  const json = (bytes: number): string => "x".repeat(bytes - 2);

  test.for([
    { what: "at the size limit are kept", args: json(callArgsBytesMax), kept: true },
    { what: "a byte above it are not", args: json(callArgsBytesMax + 1), kept: false },
    { what: "are counted in bytes, not characters", args: "é".repeat(callArgsBytesMax / 2), kept: false },
  ])("$what", async ({ args, kept }) => {
    const { calls } = await repliedBy(() => ({ calls: [toolCall("echo", args), toolCall("echo", { x: 1 })] }));
    expect(calls[0]?.args).toBe(kept ? args : null);
    expect(calls[0]?.problem === null).toBe(kept);
    if (!kept) expect(calls[0]?.problem).toMatch(/^its arguments have \d+ bytes as JSON; at most 262144 are allowed/);
    expect(calls[1]).toMatchObject({ args: { x: 1 }, problem: null });
  });

  const nested = (depth: number) => JSON.parse(`${"[".repeat(depth)}${"]".repeat(depth)}`);

  test.for([
    { what: "at the depth limit are kept", args: nested(callArgsDepthMax), kept: true },
    { what: "a level above it are not", args: nested(callArgsDepthMax + 1), kept: false },
    { what: "deeper than any stack are not", args: { x: [nested(100_000)] }, kept: false },
  ])("$what", async ({ args, kept }) => {
    const { calls } = await repliedBy(() => ({ calls: [toolCall("echo", args), toolCall("echo", { x: 1 })] }));
    expect(calls[0]?.problem === null).toBe(kept);
    if (!kept) expect(calls[0]).toMatchObject({ args: null, problem: expect.stringContaining("100 levels deep") });
    expect(calls[1]).toMatchObject({ args: { x: 1 }, problem: null });
  });

  test("that were refused on arrival stay refused for that reason", async () => {
    const call = { ...toolCall("echo", null), problem: "no JSON" };
    expect((await repliedBy(() => ({ calls: [call] }))).calls).toEqual([call]);
  });
});

test("of a name that is too long keep the beginning of the name", async () => {
  const long = "x".repeat(callNameCharactersMax + 1);
  const { calls } = await repliedBy(() => ({ calls: [toolCall(long), toolCall(long.slice(1))] }));
  const problem = "its name has 257 characters; at most 256 are allowed";
  expect(calls).toMatchObject([
    { name: long.slice(1), args: null, problem },
    { name: long.slice(1), problem: null },
  ]);
});

test("an invalid reply is a failure of the model, with the reason in one line", async () => {
  const scope = await createScope({ script: () => ({ calls: [{ id: "1", args: {} }] as never }) });
  expect(await callModel(effect, scope)).toMatchObject({
    kind: "model.failed",
    error: {
      type: "model",
      message: expect.stringMatching(/^the model's reply cannot be used: calls\.0\.name: [^\n]+$/),
    },
  });
});

test(`calls beyond ${callsMax} are named, and dropped`, async () => {
  const asked = Array.from({ length: callsMax + 2 }, (_, i) => toolCall("echo", { i }, `call-${i}`));
  const { calls } = await repliedBy(() => ({ calls: asked }));
  expect(calls.slice(0, callsMax)).toEqual(asked.slice(0, callsMax));
  expect(calls.slice(callsMax)).toEqual([
    { ...asked[64], args: null, problem: "call 65 of 66 in one turn; at most 64 are made: ask for the others later" },
    { ...asked[65], args: null, problem: "call 66 of 66 in one turn; at most 64 are made: ask for the others later" },
  ]);
});

test("calls with names and arguments of other programs are stored under troupe's names", async () => {
  const { calls } = await repliedBy(() => ({
    calls: [
      toolCall("Bash", { command: "ls", timeout: 5, description: "Lists" }),
      toolCall("Edit", { file_path: "a", old_string: "b", new_string: "c" }),
      toolCall("Bash", { command: "ls", run_in_background: true }),
      toolCall("Task", { agent: "helper", task: "x" }),
    ],
    stopReason: "tool_calls",
  }));
  expect(calls).toMatchObject([
    { name: "shell", args: { command: "ls", timeoutMs: 5 }, problem: null },
    { name: "edit", args: { path: "a", old: "b", new: "c" } },
    { name: "shell", args: null, problem: expect.stringContaining("nothing runs on after a call") },
    { name: "Task", args: { agent: "helper", task: "x" } },
  ]);
});

test("an existing tool with such a name is called by it, granted or not", async () => {
  const real = ToolSpec.parse({ name: "Read", description: "x", risk: "low", effect: "read", inputSchema: {} });
  for (const own of [["Read"], []]) {
    const scope = await createScope({
      agents: [{ id: "main", tools: own }],
      tools: { specs: () => [real] },
      script: () => ({ calls: [toolCall("Read", { file_path: "a" })], stopReason: "tool_calls" }),
    });
    const body = await callModel(effect, scope);
    expect(body).toMatchObject({ reply: { calls: [{ name: "Read", args: { file_path: "a" } }] } });
  }
});

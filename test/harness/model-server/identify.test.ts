/**
 * Tests that the server recognises the calling agent in real prompts, because a real model gets no other information.
 */
import { type AgentDefinition, Budget, Limits, RunRequest } from "@troupe/core";
import { createAgentSource } from "@troupe/roles";
import { describe, expect, test } from "vitest";
import { post, saying, startServer } from "./fixture.ts";
import type { ModelServerOptions } from "./start-model-server.ts";

const registry = await createAgentSource({ userFolders: [] }).load(null);
const id = (n: number): string => `00000000-0000-7000-8000-${String(n).padStart(12, "0")}`;

function promptOf(agent: string, more: Partial<RunRequest> = {}): string {
  const request = RunRequest.parse({
    v: 1,
    session: id(1),
    run: id(2),
    parent: null,
    agent,
    depth: 0,
    attempt: 1,
    task: "the task",
    chain: [],
    layers: [],
    model: "scripted/x",
    workspace: { id: "w", path: "/w" },
    ...more,
  });
  return registry.renderPrompt(registry.find(agent) as AgentDefinition, request, {
    limits: Limits.parse({ maxIterations: 30, maxDurationMs: 300_000 }),
    budget: Budget.parse({}),
    targets: [],
    now: 0,
  });
}

const child = (agent: string, more: Partial<RunRequest> = {}) =>
  promptOf(agent, {
    depth: 2,
    parent: { run: id(1), agent: "main", step: 1, call: 0, item: 0 },
    chain: ["main"],
    ...more,
  });

const anyone: ModelServerOptions["scenario"] = {
  agents: {
    main: [{ steps: [{ text: "yes", repeat: true }], summary: { text: "in short" } }],
    coder: [{ steps: [{ text: "yes", repeat: true }], intent: { text: "{}" } }],
    other: [{ steps: [{ text: "yes", repeat: true }] }],
  },
};

const summing = `You are given a conversation between a user and an agent. A colleague will take over a part of it.`;
const assessing = `Before doing anything, assess the request below. Reply with one JSON object and nothing else:`;

const cases = [
  {
    what: "a root",
    system: promptOf("main"),
    first: "the task",
    identity: { agent: "main", depth: 0, attempt: 1, task: "the task", purpose: "turn" },
  },
  {
    what: "a sub-agent",
    system: child("coder"),
    first: "the task",
    identity: { agent: "coder", depth: 2, attempt: 1, task: "the task" },
  },
  {
    what: "a second question",
    system: child("coder", { attempt: 3 }),
    first: "the task",
    identity: { agent: "coder", attempt: 3 },
  },
  {
    what: "a task with criteria and context",
    system: child("coder"),
    first: "the task\n\nSuccess criteria: c\n\nContext:\nd",
    identity: { task: "the task" },
  },
  {
    what: "a task in the shape of a workspace",
    system: child("coder", { task: "## Your place\n\n- Role: Other (other)" }),
    first: "t",
    identity: { agent: "coder" },
  },
  { what: "no prompt at all", system: "", first: "hello", identity: { agent: "main", depth: 0, task: "hello" } },
  {
    what: "a summary",
    system: summing,
    first: "User: the task\n\nAssistant: yes",
    identity: { agent: "main", purpose: "summary", step: 1, depth: null },
  },
  {
    what: "an intent",
    system: assessing,
    first: "the task",
    identity: { agent: "coder", purpose: "intent", task: "the task" },
  },
];

describe("a request is identified:", () => {
  test.for(cases)("$what", async ({ system, first, identity }, context) => {
    const server = await startServer(context, { scenario: anyone });
    const messages = [...(system ? [{ role: "system", content: system }] : []), { role: "user", content: first }];
    const chat = await post(server, "/v1/chat/completions", { model: "gpt-4.1", messages });
    const anthropic = await post(server, "/v1/messages", {
      model: "claude-opus-5",
      max_tokens: 100,
      ...(system ? { system: [{ type: "text", text: system }] } : {}),
      messages: [{ role: "user", content: first }],
    });
    const responses = await post(server, "/v1/responses", { model: "gpt-5", instructions: system, input: first });
    expect([chat.status, anthropic.status, responses.status]).toEqual([200, 200, 200]);
    expect(server.calls().map((call) => call.identity)).toMatchObject([identity, identity, identity]);
  });
});

/** A conversation with so many answers of the model. */
const turns = (answers: number) => [
  { role: "user", content: "go" },
  ...Array.from({ length: answers }, (_, i) => [
    { role: "assistant", tool_calls: [{ id: `c${i}`, type: "function", function: { name: "read", arguments: "{}" } }] },
    { role: "tool", tool_call_id: `c${i}`, content: "r" },
  ]).flat(),
];
const chat = (messages: object[]) => ({ model: "gpt-4.1", messages });
const steps = saying({ text: "first" }, { text: "second" }, { text: "third" });

describe("another turn of a session starts again", () => {
  const user = (content: string) => ({ role: "user", content });
  const reply = { role: "assistant", content: "said" };
  const call = { id: "a", type: "function", function: { name: "read", arguments: "{}" } };
  const called = [
    { role: "assistant", content: null, tool_calls: [call] },
    { role: "tool", tool_call_id: "a", content: "r" },
  ];
  const ended = user("The turn before this one ended without an answer (failed: gone).");

  test.for([
    {
      what: "after an answer",
      messages: [user("one"), reply, user("two")],
      identity: { task: "two", step: 1, continued: true },
    },
    {
      what: "and continues",
      messages: [user("one"), reply, user("two"), ...called],
      identity: { task: "two", step: 2, continued: true },
    },
    {
      what: "after a turn without an answer",
      messages: [user("one"), ...called, ended, user("two")],
      identity: { task: "two", step: 1, continued: true },
    },
    {
      what: "but not after a message during the turn",
      messages: [user("one"), ...called, user("hurry")],
      identity: { task: "one", step: 2, continued: false },
    },
    {
      what: "nor after a message of the run itself",
      messages: [user("one"), reply, user("Your result was checked and does not hold:\n- no\nMend it.")],
      identity: { task: "one", step: 2, continued: false },
    },
  ])("$what", async ({ messages, identity }, context) => {
    const server = await startServer(context, { scenario: anyone });
    await post(server, "/v1/chat/completions", chat(messages));
    expect(server.calls()).toMatchObject([{ status: 200, identity }]);
  });
});

test("the step is the number of turns", async (context) => {
  const server = await startServer(context, { scenario: steps });
  const reply = async (count: number) =>
    (await (await post(server, "/v1/chat/completions", chat(turns(count)))).json()).choices[0].message.content;
  expect([await reply(0), await reply(1), await reply(1), await reply(2)]).toEqual([
    "first",
    "second",
    "second",
    "third",
  ]);
});

test("the step is the number of answers, for a conversation with a summary at its beginning", async (context) => {
  const server = await startServer(context, { scenario: steps, steps: "answers" });
  const reply = async () =>
    (await (await post(server, "/v1/chat/completions", chat(turns(0)))).json()).choices[0].message.content;
  expect([await reply(), await reply(), await reply()]).toEqual(["first", "second", "third"]);
});

test("a test with custom agents identifies them", async (context) => {
  const server = await startServer(context, {
    scenario: anyone,
    identify: ({ system }) => (system.startsWith("I am ") ? { agent: system.slice(5), depth: 7 } : null),
  });
  const reply = (system: string) =>
    post(server, "/v1/chat/completions", chat([{ role: "system", content: system }, ...turns(0)]));
  await reply("I am other");
  await reply("I am not");
  await reply("Whoever");
  expect(server.calls().map(({ identity, status }) => [identity?.agent, identity?.depth, status])).toEqual([
    ["other", 7, 200],
    ["not", 7, 400],
    ["main", 0, 200],
  ]);
});

test("the root agent is configurable", async (context) => {
  const server = await startServer(context, { scenario: anyone, rootAgent: "other" });
  await post(server, "/v1/chat/completions", chat(turns(0)));
  expect(server.calls()[0]?.identity?.agent).toBe("other");
});

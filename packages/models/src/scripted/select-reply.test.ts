import { type Message, ModelReply, RunError } from "@troupe/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyText } from "../any-text.test-helper.ts";
import { parseScenario } from "./load-scenario.ts";
import { type ScenarioQuestion, selectReply } from "./select-reply.ts";

const scenario = parseScenario(
  `
name: table
description: For tests.
agents:
  main:
    - when: { task: report }
      steps:
        - { text: "the report" }
    - when: { task: /^count \\d+$/i, attempt: 2 }
      steps:
        - { text: "counted again" }
    - when: { task: /^count \\d+$/i }
      steps:
        - { text: "counted" }
    - when: { continued: true }
      steps:
        - { text: "once more" }
    - when: { depth: 3 }
      steps:
        - { text: "deep" }
    - when: { task: loop }
      steps:
        - { text: "once" }
        - { calls: [{ tool: read, args: { path: a } }], repeat: true }
    - when: { task: fail }
      steps:
        - { text: "well, ", error: { type: rate_limit, message: "too many", recoverable: true, retryAfterMs: 700 } }
    - steps:
        - text: "calls for {{task}}"
          calls:
            - { tool: read, args: { path: "{{task}}.md", lines: [1, { note: "attempt {{attempt}}" }] } }
            - { tool: delegate, args: { agent: helper, task: "{{ task }}" } }
        - text: "0: {{result.0.summary}} / {{result.0.output}}; 1: {{result.1.summary}} / {{result.1.output}}; {{result.2.output}}"
          usage: { inputTokens: 7, costUsd: null }
`,
  "table.yaml",
);

const first: ScenarioQuestion = { agent: "main", task: "anything", attempt: 1, depth: 0, step: 1, messages: [] };

function answerTo(question: Partial<ScenarioQuestion>) {
  return selectReply(scenario, { ...first, ...question }).outcome;
}

function textFor(question: Partial<ScenarioQuestion>): string {
  const outcome = answerTo(question);
  return outcome.kind === "reply" ? outcome.reply.text : `${outcome.error.type}: ${outcome.error.message}`;
}

const turn: Message = { role: "assistant", text: "", calls: [] };

describe("the first script that matches answers:", () => {
  test.for<{ question: Partial<ScenarioQuestion>; text: string }>([
    { question: { task: "write a report" }, text: "the report" },
    { question: { task: "report", attempt: 2 }, text: "the report" },
    { question: { task: "Count 12" }, text: "counted" },
    { question: { task: "Count 12", attempt: 2 }, text: "counted again" },
    { question: { task: "Count 12", attempt: 3 }, text: "counted" },
    { question: { task: "do count 12" }, text: "calls for do count 12" },
    { question: { depth: 3 }, text: "deep" },
    { question: { depth: null }, text: "calls for anything" },
    { question: { task: "count 3", depth: 3 }, text: "counted" },
    { question: { continued: true }, text: "once more" },
    // Earlier turns of the session do not count as steps.
    { question: { messages: [turn, turn] }, text: "calls for anything" },
  ])("$question", ({ question, text }) => {
    expect(textFor(question)).toBe(text);
  });
});

test("a conversation that was cut down has fewer answers than its run: the step is the truth", () => {
  expect(textFor({ task: "loop", step: 1, messages: [] })).toBe("once");
  expect(answerTo({ task: "loop", step: 7, messages: [turn] })).toMatchObject({
    reply: { calls: [{ id: "call_7_0" }] },
  });
});

describe("a question without an answer gets an error that is not worth a retry:", () => {
  test.for<{ question: Partial<ScenarioQuestion>; message: string }>([
    { question: { agent: "stranger" }, message: "it has no agent stranger, only main" },
    { question: { agent: "constructor" }, message: "it has no agent constructor, only main" },
    { question: { task: "report", step: 2, messages: [turn] }, message: "the script of main ends after step 1" },
  ])("$message", ({ question, message }) => {
    expect(textFor(question)).toBe(`params: the scenario table has no answer: ${message}`);
    expect(answerTo(question)).toMatchObject({ error: { recoverable: false } });
  });

  test("an agent whose scripts are all for something else", () => {
    const narrow = parseScenario(
      "{ name: n, description: d, agents: { main: [{ when: { attempt: 2 }, steps: [{ text: hi }] }] } }",
      "n.yaml",
    );
    expect(selectReply(narrow, first).outcome).toMatchObject({
      error: { message: "the scenario n has no answer: no script of main is for attempt 1 at this task" },
    });
  });
});

test("a last step that repeats answers for ever, each time with calls of other ids", () => {
  const stepOf = (step: number) =>
    answerTo({ task: "loop", step, messages: Array.from({ length: step - 1 }, () => turn) });

  expect(stepOf(1)).toMatchObject({ reply: { text: "once", stopReason: "end" } });
  expect(stepOf(2)).toMatchObject({ reply: { calls: [{ id: "call_2_0", name: "read" }], stopReason: "tool_calls" } });
  expect(stepOf(50)).toMatchObject({ reply: { calls: [{ id: "call_50_0", name: "read" }] } });
});

test("an error comes as it was scripted, after its text", () => {
  expect(selectReply(scenario, { ...first, task: "fail" })).toEqual({
    latencyMs: 0,
    deltas: ["well, "],
    fault: null,
    rawArgs: new Map(),
    outcome: {
      kind: "error",
      error: { type: "rate_limit", message: "too many", tool: null, recoverable: true, retryAfterMs: 700 },
    },
  });
});

test("calls of one step are made together, with templates filled in wherever a string is", () => {
  expect(answerTo({ task: "x", attempt: 4 })).toMatchObject({
    reply: {
      text: "calls for x",
      calls: [
        { id: "call_1_0", name: "read", args: { path: "x.md", lines: [1, { note: "attempt 4" }] } },
        { id: "call_1_1", name: "delegate", args: { agent: "helper", task: "x" } },
      ],
    },
  });
});

describe("a call whose arguments are scripted as they come over the wire", () => {
  const answerTo = (rawArgs: string) =>
    selectReply(
      parseScenario(
        JSON.stringify({
          name: "raw",
          description: "d",
          agents: { main: [{ steps: [{ calls: [{ tool: "read", rawArgs }] }] }] },
        }),
        "raw.yaml",
      ),
      first,
    );

  test.for(['{"path":', "[1]", "null", '"a"', '{"a":1}}', '{"__proto__":1}'])(
    "has no arguments but a problem: %j",
    (rawArgs) => {
      const { outcome, rawArgs: raw } = answerTo(rawArgs);
      expect(outcome).toMatchObject({
        reply: { calls: [{ args: null, problem: expect.stringMatching(/^its arguments /) }] },
      });
      expect(raw).toEqual(new Map([["call_1_0", rawArgs]]));
    },
  );

  test("has them where they are an object after all", () => {
    expect(answerTo('{ "path": "a" }').outcome).toMatchObject({
      reply: { calls: [{ args: { path: "a" }, problem: null }] },
    });
  });
});

describe("faults are used up by tries, in their order", () => {
  const faulty = parseScenario(
    "{ name: f, description: d, agents: { main: [{ steps: [{ text: hi, faults: [{ status: 429 }, { delayMs: 5 }] }] }] } }",
    "f.yaml",
  );

  test.for([
    { triesBefore: 0, fault: { status: 429 } },
    { triesBefore: 1, fault: { delayMs: 5 } },
    { triesBefore: 2, fault: null },
    { triesBefore: 99, fault: null },
  ])("after $triesBefore tries: $fault", ({ triesBefore, fault }) => {
    const answer = selectReply(faulty, { ...first, triesBefore });
    expect(answer.fault).toEqual(fault);
    expect(answer.outcome).toMatchObject({ reply: { text: "hi" } });
  });

  test("and a call that does not count its tries meets the first", () => {
    expect(selectReply(faulty, first).fault).toEqual({ status: 429 });
  });
});

test("thinking comes with the reply, as the scripted model's own", () => {
  const thinker = parseScenario(
    '{ name: t, description: d, agents: { main: [{ steps: [{ text: hi, thinking: "about {{task}}" }] }] } }',
    "t.yaml",
  );
  expect(selectReply(thinker, first).outcome).toMatchObject({
    reply: {
      thinking: [
        { provider: "scripted", model: "t", textBefore: 0, callsBefore: 0, block: { thinking: "about anything" } },
      ],
    },
  });
  expect(answerTo({})).not.toHaveProperty("reply.thinking");
});

describe("results of the last turn", () => {
  const turn: Message = {
    role: "assistant",
    text: "",
    calls: [
      { id: "a", name: "read", args: {}, problem: null },
      { id: "b", name: "delegate", args: {}, problem: null },
    ],
  };
  const result = (callId: string, text: string): Message => ({ role: "tool", callId, name: "x", text, isError: false });

  test("are found by the order of the calls, whatever order they came in", () => {
    const messages = [turn, result("b", '{"summary":"short","output":"long"}'), result("a", "one\ntwo")];
    expect(textFor({ step: 2, messages })).toBe("0: one / one\ntwo; 1: short / long; [no result 2]");
  });

  test("that are JSON without such fields stand as they are", () => {
    const messages = [turn, result("a", '{"summary":1}'), result("b", "[1,2]")];
    expect(textFor({ step: 2, messages })).toBe('0: {"summary":1} / {"summary":1}; 1: [1,2] / [1,2]; [no result 2]');
  });

  test("are not looked through for templates themselves", () => {
    const messages = [turn, result("a", "{{task}} $& $1"), result("b", "")];
    expect(textFor({ step: 2, messages })).toContain("0: {{task}} $& $1 / {{task}} $& $1;");
  });

  test("of an earlier turn are past", () => {
    const repeated = parseScenario(
      '{ name: r, description: d, agents: { main: [{ steps: [{ text: "{{result.0.output}}", repeat: true }] }] } }',
      "r.yaml",
    );
    const messages = [turn, result("a", "old"), { ...turn, calls: [] }];
    expect(selectReply(repeated, { ...first, step: 3, messages }).outcome).toMatchObject({
      reply: { text: "[no result 0]" },
    });
  });
});

test("usage is estimated at four characters a token, for nothing, unless it is scripted", () => {
  const messages: Message[] = [{ role: "user", text: "x".repeat(41) }];
  expect(answerTo({ task: "report", messages })).toMatchObject({
    reply: { usage: { inputTokens: 11, outputTokens: 3, cachedTokens: 0, costUsd: 0 } },
  });
  expect(answerTo({ step: 2, messages: [turn] })).toMatchObject({
    reply: { usage: { inputTokens: 7, cachedTokens: 0, costUsd: null } },
  });
});

describe("an answer outside the conversation", () => {
  const asides = parseScenario(
    `
name: asides
description: For tests.
agents:
  main:
    - when: { task: careful }
      intent: { text: '{"risk":"high"}' }
      summary: { error: { type: network, message: gone } }
      steps: [{ text: first, calls: [{ tool: read }] }, { text: second }]
    - steps: [{ text: plain }]
`,
    "asides.yaml",
  );
  const answer = (question: Partial<ScenarioQuestion>) => selectReply(asides, { ...first, ...question }).outcome;

  test.for<{ question: Partial<ScenarioQuestion>; outcome: object }>([
    { question: { task: "careful", purpose: "intent" }, outcome: { reply: { text: '{"risk":"high"}', calls: [] } } },
    // The step does not matter: the question is outside the conversation.
    { question: { task: "careful", purpose: "summary", step: 7 }, outcome: { error: { type: "network" } } },
    { question: { task: "careful", purpose: "turn" }, outcome: { reply: { text: "first" } } },
    {
      question: { purpose: "intent" },
      outcome: { error: { message: "the scenario asides has no answer: the script of main has no intent" } },
    },
    {
      question: { purpose: "summary" },
      outcome: { error: { message: "the scenario asides has no answer: the script of main has no summary" } },
    },
  ])("$question", ({ question, outcome }) => {
    expect(answer(question)).toMatchObject(outcome);
  });

  test("cannot make calls", () => {
    const text =
      "{ name: n, description: d, agents: { main: [{ intent: { calls: [{ tool: read }] }, steps: [{ text: hi }] }] } }";
    expect(() => parseScenario(text, "n.yaml")).toThrow("only text or error can be given here");
  });
});

describe("an answer over the limit is cut off:", () => {
  const scenarioOf = (step: string) =>
    parseScenario(`{ name: t, description: d, agents: { main: [{ steps: [${step}] }] } }`, "t.yaml");
  const long = '{ text: "one two three four" }';
  const calling = '{ text: "now", calls: [{ tool: read, args: { path: "a very long path" } }] }';

  test.for([
    {
      step: long,
      maxOutputTokens: 5,
      reply: { text: "one two three four", stopReason: "end", usage: { outputTokens: 5 } },
    },
    {
      step: long,
      maxOutputTokens: 2,
      reply: { text: "one two ", stopReason: "max_tokens", usage: { outputTokens: 2 } },
    },
    { step: long, maxOutputTokens: 0, reply: { text: "", stopReason: "max_tokens", usage: { outputTokens: 0 } } },
    { step: calling, maxOutputTokens: 100, reply: { text: "now", stopReason: "tool_calls" } },
    {
      step: calling,
      maxOutputTokens: 3,
      reply: { text: "now", calls: [], stopReason: "max_tokens", usage: { outputTokens: 3 } },
    },
    { step: '{ text: "👋👋👋" }', maxOutputTokens: 1, reply: { text: "👋👋", stopReason: "max_tokens" } },
    { step: '{ text: "a👋👋" }', maxOutputTokens: 1, reply: { text: "a👋", stopReason: "max_tokens" } },
    {
      step: "{ text: hi, usage: { outputTokens: 900 } }",
      maxOutputTokens: 1_000,
      reply: { text: "hi", stopReason: "end", usage: { outputTokens: 900 } },
    },
    {
      step: "{ text: hi, usage: { outputTokens: 900 } }",
      maxOutputTokens: 100,
      reply: { text: "hi", stopReason: "max_tokens", usage: { outputTokens: 100 } },
    },
  ])("$step at $maxOutputTokens", ({ step, maxOutputTokens, reply }) => {
    const answer = selectReply(scenarioOf(step), { ...first, maxOutputTokens });
    expect(answer.outcome).toMatchObject({ reply });
    expect(answer.deltas.join("")).toBe(reply.text);
  });
});

describe("the cost of a reply", () => {
  const priced = (price: string, usage = "{}") =>
    selectReply(
      parseScenario(
        `{ name: p, description: d, price: ${price}, agents: { main: [{ steps: [{ text: "12345678", usage: ${usage} }] }] } }`,
        "p.yaml",
      ),
      { ...first, messages: [{ role: "user", text: "x".repeat(40) }] },
    ).outcome;

  test.for([
    { price: "{ inputPerMillion: 100000, outputPerMillion: 500000 }", usage: "{}", costUsd: 2 },
    { price: "{ inputPerMillion: 100000, outputPerMillion: 500000 }", usage: "{ outputTokens: 4 }", costUsd: 3 },
    { price: "{ inputPerMillion: 100000, outputPerMillion: 500000 }", usage: "{ costUsd: 7 }", costUsd: 7 },
    { price: "{ inputPerMillion: 1, outputPerMillion: 1 }", usage: "{ costUsd: null }", costUsd: null },
    { price: "null", usage: "{}", costUsd: null },
  ])("at $price with $usage is $costUsd", ({ price, usage, costUsd }) => {
    expect(priced(price, usage)).toMatchObject({ reply: { usage: { costUsd } } });
  });
});

describe("a text is streamed", () => {
  const paced = (deltas: string) =>
    selectReply(
      parseScenario(
        `{ name: p, description: d, agents: { main: [{ steps: [{ latencyMs: 100, text: "one two three  four\\nfive ", deltas: ${deltas} }] }] } }`,
        "p.yaml",
      ),
      first,
    ).deltas;

  test.for([
    { deltas: "2", pieces: ["one two three  ", "four\nfive "] },
    { deltas: "{ pieces: 5 }", pieces: ["one ", "two ", "three  ", "four\n", "five "] },
    { deltas: "99", pieces: ["one ", "two ", "three  ", "four\n", "five "] },
    { deltas: "{ everyMs: 50 }", pieces: ["one two three  ", "four\nfive "] },
    { deltas: "{ everyMs: 1000 }", pieces: ["one two three  four\nfive "] },
  ])("in pieces by $deltas", ({ deltas, pieces }) => {
    expect(paced(deltas)).toEqual(pieces);
  });
});

const anyMessage: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ role: fc.constant("user" as const), text: anyText }),
  fc.record({
    role: fc.constant("assistant" as const),
    text: fc.string(),
    calls: fc.array(
      fc.record({
        id: fc.constantFrom("call_1_0", "call_1_1", "__proto__", ""),
        name: fc.string(),
        args: fc.jsonValue() as fc.Arbitrary<Message extends { args: infer A } ? A : never>,
        problem: fc.constant(null),
      }),
    ),
  }),
  fc.record({
    role: fc.constant("tool" as const),
    callId: fc.constantFrom("call_1_0", "call_1_1", "__proto__", ""),
    name: fc.string(),
    text: fc.oneof(anyText, fc.json(), fc.constant('{"summary":"{{task}}","__proto__":{}}')),
    isError: fc.boolean(),
  }),
);

const anyQuestion: fc.Arbitrary<ScenarioQuestion> = fc
  .record({
    agent: fc.oneof(fc.constant("main"), fc.string()),
    task: fc.oneof(fc.constantFrom("report", "count 1", "loop", "fail", "{{task}}"), anyText),
    attempt: fc.integer({ min: 1, max: 3 }),
    depth: fc.option(fc.integer({ min: 0, max: 4 })),
    step: fc.option(fc.nat()),
    messages: fc.array(anyMessage, { maxLength: 8 }),
    purpose: fc.constantFrom("turn" as const, "intent" as const, "summary" as const),
    maxOutputTokens: fc.integer({ min: 0, max: 40 }),
  })
  .map((question) => ({
    ...question,
    step: question.step ?? question.messages.filter(({ role }) => role === "assistant").length + 1,
  }));

test("any question gets the same well-formed answer each time", () => {
  fc.assert(
    fc.property(anyQuestion, (question) => {
      const before = JSON.stringify(question);
      const answer = selectReply(scenario, question);

      expect(selectReply(scenario, structuredClone(question))).toEqual(answer);
      expect(JSON.stringify(question)).toBe(before);
      if (answer.outcome.kind === "error") expect(RunError.parse(answer.outcome.error)).toEqual(answer.outcome.error);
      else {
        expect(ModelReply.parse(answer.outcome.reply)).toEqual(answer.outcome.reply);
        expect(answer.deltas.join("")).toBe(answer.outcome.reply.text);
      }
    }),
    { numRuns: 500 },
  );
});

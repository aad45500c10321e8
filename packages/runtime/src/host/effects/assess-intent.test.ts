/** Assessing an intent never ends a run, and its usage always counts. */
import { expect, test } from "vitest";
import { networkFailure, type Script } from "../host-deps.test-helper.ts";
import { assessIntent } from "./assess-intent.ts";
import { createScope, run } from "./scope.test-helper.ts";

const assessment = { risk: "high", expected_format: "a table", success_criteria: "all rows", notes: ["careful"] };
const denied = "search_mail is not granted to this run";
const usage = { inputTokens: 10, outputTokens: 5, cachedTokens: 0, costUsd: 0 };

test.for<{ what: string; script: Script; intent: object; used: unknown; maxOutputTokens?: number }>([
  {
    what: "the model's assessment is the intent",
    script: () => ({ text: JSON.stringify(assessment) }),
    intent: { risk: "high", expectedFormat: "a table", successCriteria: "all rows", context: { notes: ["careful"] } },
    used: usage,
  },
  {
    what: "the model plans tools, their order and parameters, and what to do about errors",
    script: () => ({
      text: JSON.stringify({
        ...assessment,
        tools: ["write", "read", "fly"],
        params: { read: { path: "a.txt" } },
        on_error: "say which file",
      }),
    }),
    intent: {
      context: {
        request: "do it",
        tools: ["write", "read"],
        params: { read: { path: "a.txt" } },
        status: "planning",
        result: null,
        notes: ["careful", "if a call fails: say which file", "fly is not granted to this run"],
      },
    },
    used: usage,
  },
  {
    what: "a reply without an assessment leaves the direct intent, and is charged",
    script: () => ({ text: "I think it is fine" }),
    intent: { risk: "low", context: { notes: [expect.stringMatching(/^the intent was not assessed: /)] } },
    used: usage,
  },
  {
    what: "a failed model leaves the direct intent",
    script: () => Promise.reject(networkFailure()),
    intent: { risk: "low", context: { notes: ["the intent was not assessed: connection reset"] } },
    used: null,
  },
  {
    what: "without budget for a call there is no call",
    script: () => ({ text: JSON.stringify(assessment) }),
    maxOutputTokens: 0,
    intent: { risk: "low", context: { notes: ["the intent was not assessed: no budget is left"] } },
    used: null,
  },
])("$what", async ({ script, intent, used, maxOutputTokens = 512 }) => {
  const pin = { grant: { tools: ["read", "write"], agents: [], writes: [] } };
  const scope = await createScope({ agents: [{ id: "main", intent: "model" }], script, pin });
  const body = await assessIntent({ kind: "assessIntent", run, maxOutputTokens }, scope);
  expect(body).toMatchObject({ kind: "intent.assessed", intent, usage: used });
  expect(scope.deps.modelCalls).toHaveLength(maxOutputTokens === 0 ? 0 : 1);
});

test("the question is separate from the conversation, and has an output limit", async () => {
  const asked: unknown[] = [];
  const script: Script = (request) => {
    asked.push(request);
    return { text: "" };
  };
  const scope = await createScope({ agents: [{ id: "main", intent: "model" }], script, pin: { temperature: 0.5 } });
  await assessIntent({ kind: "assessIntent", run, maxOutputTokens: 512 }, scope);
  expect(asked).toMatchObject([
    { maxOutputTokens: 512, temperature: 0.5, tools: [], origin: { purpose: "intent", step: 1 } },
  ]);
});

const mailPatterns = [
  { pattern: "send.*email.*to", tools: ["send_mail", "delivery_status"], risk: "medium" as const },
  { pattern: "search.*email", tools: ["search_mail"], risk: "low" as const },
  { pattern: "everyone|newsletter", tools: ["send_mail"], risk: "high" as const },
];

test.for<{ task: string; intent: object }>([
  {
    task: "Search my email for the invoice",
    intent: { risk: "low", context: { tools: [], notes: ['the request matches the pattern "search.*email"', denied] } },
  },
  { task: "SEND an email\nto Ann", intent: { risk: "medium", context: { tools: ["send_mail"] } } },
  { task: "Send the newsletter by email to everyone", intent: { risk: "high", context: { tools: ["send_mail"] } } },
  {
    task: "Draw a cat",
    intent: { risk: "low", context: { notes: ["no pattern of this domain fits the request"] } },
  },
])("patterns: $task", async ({ task, intent }) => {
  const agents = [{ id: "main", intent: "patterns" as const, patterns: mailPatterns }];
  const scope = await createScope({
    agents,
    request: { task },
    pin: { grant: { tools: ["send_mail"], agents: [], writes: [] } },
  });
  const body = await assessIntent({ kind: "assessIntent", run, maxOutputTokens: 512 }, scope);
  expect(body).toMatchObject({ kind: "intent.assessed", intent, usage: null });
  expect(scope.deps.modelCalls).toEqual([]);
});

test("a pattern that takes too long counts as high risk, and is stopped", async () => {
  const patterns = [{ pattern: "(a+)+$", tools: [], risk: "low" as const }];
  const agents = [{ id: "main", intent: "patterns" as const, patterns }];
  const scope = await createScope({ agents, request: { task: `${"a".repeat(60)}b` } });
  const body = await assessIntent({ kind: "assessIntent", run, maxOutputTokens: 512 }, scope);
  expect(body).toMatchObject({ intent: { risk: "high", context: { notes: [expect.stringContaining("too long")] } } });
});

/** Assessing an intent never ends a run, and its usage always counts. */
import { expect, test } from "vitest";
import { networkFailure, type Script } from "../host-deps.test-helper.ts";
import { assessIntent } from "./assess-intent.ts";
import { createScope, run } from "./scope.test-helper.ts";

const assessment = { risk: "high", expected_format: "a table", success_criteria: "all rows", notes: ["careful"] };
const usage = { inputTokens: 10, outputTokens: 5, cachedTokens: 0, costUsd: 0 };

test.for<{ what: string; script: Script; intent: object; used: unknown; maxOutputTokens?: number }>([
  {
    what: "the model's assessment is the intent",
    script: () => ({ text: JSON.stringify(assessment) }),
    intent: { risk: "high", expectedFormat: "a table", successCriteria: "all rows", context: { notes: ["careful"] } },
    used: usage,
  },
  {
    what: "a reply without an assessment leaves the direct one, and is paid for",
    script: () => ({ text: "I think it is fine" }),
    intent: { risk: "low", context: { notes: [expect.stringMatching(/^the intent was not assessed: /)] } },
    used: usage,
  },
  {
    what: "a model that fails leaves the direct one",
    script: () => Promise.reject(networkFailure()),
    intent: { risk: "low", context: { notes: ["the intent was not assessed: connection reset"] } },
    used: null,
  },
  {
    what: "without room for a call none is made",
    script: () => ({ text: JSON.stringify(assessment) }),
    maxOutputTokens: 0,
    intent: { risk: "low", context: { notes: ["the intent was not assessed: no budget is left"] } },
    used: null,
  },
])("$what", async ({ script, intent, used, maxOutputTokens = 512 }) => {
  const scope = await createScope({ agents: [{ id: "main", intent: "model" }], script });
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

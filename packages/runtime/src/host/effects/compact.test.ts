/** The summary that replaces a conversation that has grown too long. */
import { estimateTokens } from "@troupe/core/internal";
import { describe, expect, test } from "vitest";
import { networkFailure, type Script } from "../host-deps.test-helper.ts";
import { compact } from "./compact.ts";
import { createScope, run } from "./scope.test-helper.ts";

const transcript = "User: mend the gate\n\nAssistant: I look\n[calls read {}]\n\nResult 1/0 of read: one hinge";
const effect = {
  kind: "compact" as const,
  run,
  step: 4,
  transcript,
  maxOutputTokens: 300,
  textTokensMax: 450,
  kept: 2,
  tokensBefore: 3_000,
  tokensLeft: 700,
};
const nothing = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0 };

test("one call creates it from the agent's view, outside the conversation and without tools", async () => {
  const asked: unknown[] = [];
  const script: Script = (request) => {
    asked.push(request);
    return { text: " ## Open\nthe second hinge\n" };
  };
  const scope = await createScope({ script });
  const body = await compact(effect, scope);
  expect(body).toEqual({
    kind: "context.compacted",
    step: 4,
    kept: 2,
    text: "## Open\nthe second hinge",
    usage: { inputTokens: 10, outputTokens: 5, cachedTokens: 0, costUsd: 0 },
    error: null,
    tokensBefore: 3_000,
    tokensAfter: expect.any(Number),
    durationMs: 0,
  });
  expect(scope.shown).toEqual([{ kind: "state.entered", state: "compacting", step: 4 }]);
  const { tokensAfter } = body as { tokensAfter: number };
  expect(tokensAfter - 700).toBeGreaterThan(estimateTokens("## Open\nthe second hinge"));
  expect(asked).toMatchObject([
    {
      system: expect.stringMatching(/for the agent itself[\s\S]*Use at most 180 words/),
      maxOutputTokens: 300,
      tools: [],
      messages: [{ role: "user", text: transcript }],
      origin: { purpose: "summary", step: 4 },
    },
  ]);
});

describe("without a summary, the end of the conversation replaces it:", () => {
  test.for<{ what: string; script: Script; maxOutputTokens: number; error: object; usage: object; calls: number }>([
    {
      what: "no budget for a call",
      script: () => ({ text: "never" }),
      maxOutputTokens: 0,
      error: { type: "budget" },
      usage: nothing,
      calls: 0,
    },
    {
      what: "a failed call",
      script: () => Promise.reject(networkFailure()),
      maxOutputTokens: 300,
      error: { type: "network" },
      usage: nothing,
      calls: 1,
    },
    {
      what: "a reply without text, which is charged",
      script: () => ({ text: " \n" }),
      maxOutputTokens: 300,
      error: { type: "model" },
      usage: { outputTokens: 5 },
      calls: 1,
    },
  ])("$what", async ({ script, maxOutputTokens, error, usage, calls }) => {
    const scope = await createScope({ script });
    const body = await compact({ ...effect, maxOutputTokens }, scope);
    expect(body).toMatchObject({ kind: "context.compacted", text: transcript, error, usage });
    expect(scope.deps.modelCalls).toHaveLength(calls);
  });
});

describe("it stays within its limit,", () => {
  test.for([
    {
      what: "for any reply of the model",
      text: "é".repeat(9_000),
      maxOutputTokens: 300,
      is: /^é+\n\[the rest is left out\]$/,
    },
    { what: "for any truncation", text: "", maxOutputTokens: 0, is: /^\[the beginning is left out\]\n👋+end$/u },
  ])("$what", async ({ text, maxOutputTokens, is }) => {
    const scope = await createScope({ script: () => ({ text }) });
    const long = `begin${"👋".repeat(3_000)}end`;
    const body = await compact({ ...effect, maxOutputTokens, transcript: long }, scope);
    const summary = body?.kind === "context.compacted" ? body.text : "";
    expect(summary).toMatch(is);
    expect(estimateTokens(summary)).toBeLessThanOrEqual(450);
    expect(estimateTokens(summary)).toBeGreaterThan(440);
  });
});

/** The summary that a child gets of a conversation that it was not part of. */
import type { Message } from "@troupe/core";
import { describe, expect, test } from "vitest";
import { networkFailure, type Script, toolCall } from "../host-deps.test-helper.ts";
import { createScope, run } from "./scope.test-helper.ts";
import { excerptCharactersMax, summarise } from "./summarise.ts";

const messages: Message[] = [
  { role: "user", text: "mend the gate" },
  { role: "assistant", text: "I look first", calls: [toolCall("read", { path: "gate.md" }, "a")] },
  { role: "tool", callId: "a", name: "read", text: "it hangs on one hinge", isError: false },
  { role: "tool", callId: "b", name: "shell", text: "no such file", isError: true },
];
const asText = [
  "User: mend the gate",
  'Assistant: I look first\n[calls read {"path":"gate.md"}]',
  "Result of read: it hangs on one hinge",
  "Failure of shell: no such file",
].join("\n\n");

const effect = { kind: "summarise" as const, run, step: 4, messages, maxOutputTokens: 300 };
const nothing = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0 };

test("one call creates it, outside the conversation and without tools", async () => {
  const asked: unknown[] = [];
  const script: Script = (request) => {
    asked.push(request);
    return { text: " The gate hangs on one hinge.\n" };
  };
  const scope = await createScope({ script, pin: { temperature: 0.1 } });
  expect(await summarise(effect, scope)).toEqual({
    kind: "context.summarised",
    step: 4,
    text: "The gate hangs on one hinge.",
    usage: { inputTokens: 10, outputTokens: 5, cachedTokens: 0, costUsd: 0 },
    error: null,
    durationMs: 0,
  });
  expect(asked).toMatchObject([
    {
      maxOutputTokens: 300,
      temperature: 0.1,
      tools: [],
      messages: [{ role: "user", text: asText }],
      origin: { purpose: "summary", step: 4 },
    },
  ]);
});

describe("without a summary, the newest part of the conversation replaces it:", () => {
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
      script: () => ({ text: " \n", stopReason: "max_tokens" }),
      maxOutputTokens: 300,
      error: { type: "model", message: 'the model gave no summary (it stopped with "max_tokens")' },
      usage: { outputTokens: 5 },
      calls: 1,
    },
    {
      what: "a refusal",
      script: () => ({ text: "I would rather not", stopReason: "refusal" }),
      maxOutputTokens: 300,
      error: { type: "model" },
      usage: { outputTokens: 5 },
      calls: 1,
    },
  ])("$what", async ({ script, maxOutputTokens, error, usage, calls }) => {
    const scope = await createScope({ script });
    const body = await summarise({ ...effect, maxOutputTokens }, scope);
    expect(body).toMatchObject({ kind: "context.summarised", text: asText, error, usage });
    expect(scope.deps.modelCalls).toHaveLength(calls);
  });

  test("of a long one the end", async () => {
    const long: Message[] = [{ role: "user", text: `begin${"👋".repeat(3_000)}end` }];
    const scope = await createScope();
    const body = await summarise({ ...effect, messages: long, maxOutputTokens: 0 }, scope);
    const text = body?.kind === "context.summarised" ? body.text : "";
    expect(text).toMatch(/^\[the beginning is left out\]\n👋+end$/u);
    expect(text.length).toBeLessThan(excerptCharactersMax + 50);
    expect(text.length).toBeGreaterThan(excerptCharactersMax - 50);
  });
});

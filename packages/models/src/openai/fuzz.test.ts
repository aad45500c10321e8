/** Any invalid arguments are one problem of their call, and the rest of the reply is complete. */
import type { Json } from "@troupe/core";
import { describe, expect, inject, test } from "vitest";
import { callOf, chunk, providerFor, sse, usePlayServer } from "./openai-server.test-helper.ts";

const server = usePlayServer();
const streams = inject("long") ? 1_000 : 120;

/** A seeded random number generator from 0 to 1. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const whole = JSON.stringify({ path: "notes/a.md", text: 'He said "so"\n', lines: [1, 2, { deep: null }], ok: true });

/** Ways in which arguments are broken; each gets the next of a sequence of numbers. */
const breakages: readonly ((next: () => number) => unknown)[] = [
  (next) => whole.slice(0, 1 + Math.floor(next() * (whole.length - 1))),
  (next) => `${whole}${["}", "]", "{}", " and so on", "\u0000"][Math.floor(next() * 5)]}`,
  (next) => ["null", "true", "12", '"a string"', '["path"]', "[]", "NaN", "undefined"][Math.floor(next() * 8)],
  (next) => [12, true, ["path"], [], [{}]][Math.floor(next() * 5)],
  () => '{"__proto__": {"isAdmin": true}}',
  () => '{"a": {"b": [{"\\u005f_proto__": 1}]}}',
  () => '{"path": "\\ud800"}',
  () => '{"\\udfff": 1}',
  () => '{"path": "\ud83d"}',
  (next) => "[".repeat(1 + Math.floor(next() * 50_000)),
  (next) => `{"a":`.repeat(1 + Math.floor(next() * 20_000)),
  (next) => whole.replace(/[":,{}]/g, (mark) => (next() < 0.3 ? "" : mark)).replace(/^\{?/, "{,"),
  (next) => String.fromCharCode(...Array.from({ length: 1 + Math.floor(next() * 40) }, () => 33 + next() * 60_000)),
];

/** Of every stream the breakage follows from its number; once in a while it is far too long. */
function broken(number: number): unknown {
  const next = numbers(number);
  if (number % 250 === 7) return `{"text":"${"x".repeat(10_000_000)}"}`;
  return breakages[number % breakages.length]?.(next);
}

/** A text in up to six parts, cut anywhere, between the halves of a character as well. */
function cut(text: unknown, next: () => number): unknown[] {
  if (typeof text !== "string") return [text];
  const ends = Array.from({ length: Math.floor(next() * 6) }, () => Math.floor(next() * text.length)).sort(
    (a, b) => a - b,
  );
  return [...ends, text.length].map((end, i) => text.slice(ends[i - 1] ?? 0, end));
}

const beside = { id: "good", name: "write", arguments: '{"path":"b"}' };

function chatBody(args: unknown, number: number): string[] {
  const parts = cut(args, numbers(number + 1));
  const first = { index: 0, id: "bad", type: "function", function: { name: "read" } };
  const more = parts.map((part) => chunk({ tool_calls: [{ index: 0, function: { arguments: part as Json } }] }));
  const good = chunk({
    tool_calls: [{ index: 1, id: "good", function: { name: beside.name, arguments: beside.arguments } }],
  });
  return sse(
    chunk({ content: "Both." }),
    chunk({ tool_calls: [first] }),
    ...more,
    good,
    chunk({}, "tool_calls"),
    "[DONE]",
  );
}

function responsesBody(args: unknown): string[] {
  const item = (call_id: string, name: string, written: unknown) => ({
    type: "function_call",
    call_id,
    name,
    arguments: written as Json,
  });
  const done = (output_index: number, made: Json) => ({ type: "response.output_item.done", output_index, item: made });
  return sse(
    { type: "response.output_text.delta", delta: "Both." },
    done(0, { type: "message", content: [{ type: "output_text", text: "Both." }] }),
    done(1, item("bad", "read", args)),
    done(2, item("good", beside.name, beside.arguments)),
    { type: "response.completed", response: { output: [], usage: { input_tokens: 1, output_tokens: 1 } } },
  );
}

describe("streams with broken arguments", () => {
  test.for([
    { wire: "openai-chat" as const, body: chatBody },
    { wire: "openai-responses" as const, body: responsesBody },
  ])("over $wire: no crash, one problem each, the rest whole", { timeout: 120_000 }, async ({ wire, body }) => {
    const provider = providerFor(server.baseUrl(), { wire });
    for (let number = 0; number < streams; number += 1) {
      const args = broken(number);
      server.play({ body: body(args, number) });
      const { reply, deltas } = await callOf(provider);
      const shown = JSON.stringify(args)?.slice(0, 200);
      expect(reply, shown).toMatchObject({ text: "Both.", stopReason: "tool_calls" });
      expect(deltas.join(""), shown).toBe("Both.");
      expect(reply.calls, shown).toHaveLength(2);
      const [bad, good] = reply.calls;
      expect(bad, shown).toMatchObject({ id: "bad", name: "read", args: null });
      expect(bad?.problem, shown).toMatch(/^its arguments /);
      expect(bad?.problem?.isWellFormed(), shown).toBe(true);
      expect(good, shown).toEqual({ id: "good", name: "write", args: { path: "b" }, problem: null });
      server.clear();
    }
    expect(({} as Record<string, unknown>).isAdmin).toBeUndefined();
  });
});

/**
 * For any texts of the model, any results of tools and a host that dies at any point: the conversation is valid for
 * every provider, within its limit, and the same after a replay.
 */
import fc from "fast-check";
import { expect, inject, test } from "vitest";
import type { Message } from "../../protocol/model.ts";
import type { ToolSpec } from "../../protocol/tool.ts";
import {
  anError,
  aToolCall,
  claimed,
  commanded,
  compacted,
  modelFailed,
  reply,
  timerFired,
  toolFinished,
  trimmed,
} from "../fixtures.test-helper.ts";
import { drive, type MachineDriver } from "../machine-driver.test-helper.ts";
import { emptyConversation, tokensOf } from "./conversation.ts";
import { backoffTimer } from "./model-retry.ts";
import { contextLimit } from "./turn.ts";

const tools: ToolSpec[] = ["read", "recall"].map((name) => {
  return { name, description: name, risk: "low", effect: "read", groups: [], inputSchema: {} };
});

interface Happening {
  says: number;
  results: number[];
  /** Characters of the summary, where one is wanted. */
  summary: number;
  fails: boolean;
  crashes: boolean;
  rateLimited: boolean;
  steered: number;
}

const size = fc.oneof(fc.nat(50), fc.nat(2_000), fc.nat(9_000));
const happening: fc.Arbitrary<Happening> = fc.record({
  says: fc.oneof(fc.constant(0), size),
  results: fc.array(size, { maxLength: 4 }),
  summary: fc.nat(3_000),
  fails: fc.boolean(),
  crashes: fc.boolean(),
  rateLimited: fc.boolean(),
  steered: fc.oneof(fc.constant(0), fc.constant(0), fc.nat(3_000)),
});
const historyOf = (turns: readonly number[]): Message[] =>
  turns.flatMap((length, turn): Message[] => [
    { role: "user", text: `question ${turn}` },
    { role: "assistant", text: "", calls: [{ ...aToolCall("read"), id: `h${turn}` }] },
    { role: "tool", callId: `h${turn}`, name: "read", text: "h".repeat(length), isError: false },
    { role: "assistant", text: `answer ${turn}`, calls: [] },
  ]);
const settings = fc.record({
  maxContextTokens: fc.option(fc.integer({ min: 800, max: 6_000 }), { nil: null }),
  contextTokens: fc.option(fc.integer({ min: 1_200, max: 12_000 }), { nil: null }),
  history: fc.array(fc.nat(3_000), { maxLength: 4 }).map(historyOf),
  canRecall: fc.boolean(),
});

/** Why no provider would take it; null where it is as it has to be. */
function problemOf(messages: readonly Message[], task: string): string | null {
  if (messages.filter(({ text }) => text === task).length !== 1) return "the request is not there once";
  if (messages[0]?.role !== "user") return "it does not begin with a user's word";
  let open: string[] = [];
  for (const message of messages) {
    if (message.role === "tool") {
      if (open.shift() !== message.callId) return `a result of ${message.callId} that was not requested here`;
      continue;
    }
    if (open.length > 0) return `no result of ${open.join(", ")}`;
    if (message.role === "assistant") open = message.calls.map(({ id }) => id);
  }
  return open.length > 0 ? `no result of ${open.join(", ")} at its end` : null;
}

function checkTurn(d: MachineDriver): void {
  const { messages, lastTurn, maxOutputTokens } = d.effect("callModel");
  const { pin, contextTokens } = d.context();
  expect(problemOf(messages, "count the files")).toBeNull();
  expect(contextTokens).toBe(emptyConversation(pin).contextTokens + tokensOf(messages));
  expect(contextTokens).toBeLessThan(contextLimit(pin));
  if (contextTokens >= contextLimit(pin) * 0.8) expect(lastTurn).toBe(true);
  if (pin.contextTokens !== null) expect(contextTokens + maxOutputTokens).toBeLessThanOrEqual(pin.contextTokens);
}

/**
 * A reference stands in the place of the result that it recalls. Results of earlier turns have none. Returns the number
 * of references.
 */
function trim(d: MachineDriver): number {
  const before = d.context().messages;
  d.feed(trimmed(d.effect("trim")));
  // A message that waited for the trim follows the others.
  const messages = d.context().messages.slice(0, before.length);
  expect(messages).toHaveLength(before.length);
  const replaced = [...messages.entries()].filter(([at, { text }]) => text !== before[at]?.text);
  expect(replaced).not.toEqual([]);
  const references = replaced.flatMap(([at, { text }]) => {
    const [, reference] = /call recall with \{"result":"(.+)"\}/.exec(text) ?? [];
    return reference ? [{ reference, was: before[at]?.text }] : [];
  });
  for (const { reference, was } of references) expect(was).toMatch(new RegExp(`^${reference}: `));
  return references.length;
}

/** Lets one thing happen that the run waits for. Returns the number of references to removed results. */
function go(d: MachineDriver, next: Happening): number {
  if (next.crashes) d.feed(claimed());
  if (next.steered > 0) d.feed(commanded({ kind: "run.steered", text: "s".repeat(next.steered) }));
  switch (d.state()) {
    case "execute.think": {
      checkTurn(d);
      const { step } = d.effect("callModel");
      if (next.rateLimited) {
        d.feed(modelFailed(step, { type: "rate_limit" }));
        break;
      }
      const calls = next.results.map((_, place) => ({ ...aToolCall("read", { step, place }), id: `${step}.${place}` }));
      d.feed(reply(step, calls.length > 0 ? "w".repeat(next.says) : "", calls));
      break;
    }
    case "execute.act.working": {
      const { step, call } = d.effect("callTool");
      d.feed(toolFinished(step, call, `${step}/${call}: ${"r".repeat(next.results[call] ?? 700)}`));
      break;
    }
    case "execute.backingOff":
      d.feed(timerFired(backoffTimer(d.context())));
      break;
    case "execute.trimming":
      return trim(d);
    case "execute.compacting": {
      const error = next.fails ? anError() : null;
      d.feed(compacted(d.effect("compact"), { text: "z".repeat(next.summary), error }));
    }
  }
  return 0;
}

/** Before which steps such a thing was done. */
function stepsOf(d: MachineDriver, kind: "context.trimmed" | "context.compacted"): number[] {
  return d.facts.flatMap((fact) => (fact.type === kind ? [fact.step] : []));
}

test("a compacted conversation is valid, and within its limit", () => {
  const seen = { trimmed: 0, references: 0, compacted: 0, bailedOut: 0 };
  const scenario = fc.array(happening, { minLength: 5, maxLength: 80, size: "max" });
  fc.assert(
    fc.property(settings, scenario, ({ maxContextTokens, canRecall, ...rest }, happenings) => {
      const limits = { maxContextTokens, maxIterations: 100, maxToolCalls: 500 };
      const setting = { ...rest, limits, tools: canRecall ? tools : tools.slice(0, 1) };
      const d = drive(setting);
      for (const next of happenings) if (d.state().startsWith("execute")) seen.references += go(d, next);

      const again = drive(setting);
      again.replay(d.facts);
      expect(again.context()).toEqual(d.context());

      const [trims, compactions] = [stepsOf(d, "context.trimmed"), stepsOf(d, "context.compacted")];
      expect([trims, compactions]).toEqual([[...new Set(trims)], [...new Set(compactions)]]);
      seen.trimmed += trims.length;
      seen.compacted += compactions.length;
      seen.bailedOut += d.context().outcome?.bailoutReason === "max_context" ? 1 : 0;
    }),
    { numRuns: inject("long") ? 5_000 : 150 },
  );
  // The property is worthless if these cases do not occur.
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(15);
});

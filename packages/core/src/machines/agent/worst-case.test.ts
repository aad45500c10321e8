/** Unknown usage is charged at its maximum, and budget for retries stays reserved. */
import { describe, expect, test } from "vitest";
import type { RunErrorType } from "../../protocol/run-error.ts";
import {
  aBatch,
  anError,
  aToolCall,
  childSettled,
  commanded,
  intentAssessed,
  reply,
  timerFired,
  toolFinished,
} from "../fixtures.test-helper.ts";
import { drive, type FactBody } from "../machine-driver.test-helper.ts";
import { leftForChildren } from "./turn.ts";

const nothing = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0 };

describe("a call outside the turns", () => {
  test("that failed is charged its whole reservation: an assessment", () => {
    const d = drive({ definition: { intent: "model" } });
    const { callReserve } = d.context();
    d.feed(intentAssessed("low"));
    expect(callReserve?.tokens).toBeGreaterThan(0);
    expect(d.context().usage.lost).toEqual(callReserve);
  });

  test("that is never made is charged nothing", () => {
    const d = drive({ definition: { intent: "patterns" } });
    expect(d.context().callReserve).toBeNull();
    d.feed(intentAssessed("low"));
    expect(d.context().usage.lost.tokens).toBe(0);
  });

  const summary = (error: { type: RunErrorType } | null, usage = nothing): FactBody => {
    const failure = error && anError(error);
    return { kind: "context.summarised", step: 1, text: "in short", usage, error: failure, durationMs: 1 };
  };

  test.each([
    ["failed: it is charged its reservation", { type: "network" as const }, nothing, "whole"],
    ["turned away: free", { type: "rate_limit" as const }, nothing, 0],
    ["was useless: it is charged its usage", { type: "model" as const }, { ...nothing, inputTokens: 40 }, 40],
    ["succeeded: it is charged its usage", null, { ...nothing, inputTokens: 40 }, 40],
  ])("is a summary that %s", (_, error, usage, charged) => {
    const d = drive();
    d.feed(reply(1, "", [aBatch([{ context: "summary" }])], { usage: nothing }));
    const { callReserve } = d.context();
    d.feed(summary(error, usage));
    expect(d.context().usage.charged.tokens).toBe(charged === "whole" ? callReserve?.tokens : charged);
  });
});

test.each([8, 100])("an agent with an output limit of %i tokens works as any other", (maxOutputTokens) => {
  const d = drive({ limits: { maxOutputTokens } });
  expect(d.effect("callModel")).toMatchObject({ lastTurn: false, maxOutputTokens });
  d.feed(reply(1, "", [aToolCall("read")]));
  expect(d.on(toolFinished(1, 0, "words")).state).toBe("execute.think");
});

describe("while a task waits for its retry", () => {
  const two = { budget: { tokens: 100_000, toolCalls: 100, spawns: 20 }, limits: { maxConcurrent: 2 } };
  const once = { retry: { max_attempts: 1 } };

  test("a sibling leaves it its share", () => {
    const d = drive(two);
    d.feed(reply(1, "", [aBatch([{}, once, once])]));
    d.feed(childSettled(1, 0, { error: anError() }, 1, 0));
    d.feed(childSettled(1, 0, {}, 1, 1));
    const sibling = d.effect("runChild").request.budget.tokens ?? 0;
    d.feed(timerFired("retry/1/0/0/1"));
    const retries = d.pending().flatMap((effect) => (effect.kind === "runChild" ? [effect.request] : []));
    const retry = retries.find(({ attempt }) => attempt === 2);
    expect(Math.abs((retry?.budget.tokens ?? 0) - sibling)).toBeLessThan(2_000);
  });

  test("no sibling takes its reserve of a kind that its own agent caps", () => {
    const capped = { id: "helper", budget: { tokens: null, costUsd: null, toolCalls: 5, spawns: 0 } };
    const d = drive({ ...two, targets: [capped, "writer"] });
    d.feed(reply(1, "", [aBatch([{}, { agent: "writer", ...once }])]));
    const [helper, writer] = d.pending().flatMap((effect) => (effect.kind === "runChild" ? [effect.request] : []));
    expect(helper?.budget).toMatchObject({ toolCalls: 5, spawns: 0 });
    // 100 for all, less the delegate call itself, two attempts of the helper, and its second run.
    expect(writer?.budget).toMatchObject({ toolCalls: 99 - 10, spawns: 20 - 3 });
  });
});

test("a slot for a task that has just left the batch is returned, and no run is counted", () => {
  const d = drive({ budget: { tokens: 50_000 }, limits: { maxConcurrent: 2 } });
  d.feed(reply(1, "", [aBatch([{}]), aBatch([{}, {}, {}, {}], { policy: "all" })]));
  d.feed(commanded({ kind: "run.paused" }));
  d.feed(childSettled(1, 0, { error: anError() }));
  // As good as nothing is left: a part of it for each of five is nothing, for each of four it is one token.
  const reserved = d.context().children.get("1/1/0")?.reserve?.tokens ?? 0;
  const tokens = (leftForChildren(d.context()).tokens ?? 0) + reserved - 4;
  d.feed(childSettled(1, 1, { error: anError(), charged: { tokens } }));
  d.feed(timerFired("retry/1/0/0/1"));
  d.feed(timerFired("retry/1/1/0/1"));
  d.feed(commanded({ kind: "run.resumed" }));
  expect(d.pendingKeys()).toEqual(expect.arrayContaining(["child/1/1/1/1", "child/1/1/2/1", "child/1/1/3/1"]));
  expect(d.pending().map(({ kind }) => kind)).not.toContain("runChild");
  expect(d.context().children.size).toBe(0);
  expect(d.context().usage.charged.spawns).toBe(2);
});

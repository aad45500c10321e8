/** One request to one child: when it is tried again, when it is given up, and by which ids. */
import { describe, expect, test } from "vitest";
import { createActor, type EventObject, fromCallback } from "xstate";
import { unlimited } from "../../budget/ledger.ts";
import type { RetryPolicy } from "../../protocol/agent.ts";
import { childRunId } from "../../protocol/ids.ts";
import { type Effect, effectKey } from "../effects.ts";
import { anError, aRequest, aResponse, childSettled, type ResponseChanges, run } from "../fixtures.test-helper.ts";
import { type DelegationEvent, delegationMachine } from "./machine.ts";

const policy: RetryPolicy = { maxAttempts: 3, backoffMs: 100, on: ["network", "rate_limit"], alternative: null };

function delegation(retry: Partial<RetryPolicy> = {}) {
  const log: string[] = [];
  const place = fromCallback<EventObject, Effect>(({ input }) => {
    const delay = input.kind === "startTimer" ? ` ${input.delayMs}` : "";
    log.push(`+${effectKey(input)}${delay}`);
    return () => log.push(`-${effectKey(input)}`);
  });
  const actors = { runChild: place, cancelChild: place, dropChild: place, startTimer: place } as never;
  const request = aRequest({ agent: "helper", run: childRunId({ parentRun: run, step: 2, call: 1, attempt: 1 }) });
  const input = { run, step: 2, call: 1, item: 0, request, retry: { ...policy, ...retry } };
  const actor = createActor(delegationMachine.provide({ actors }), { input }).start();
  return {
    /** The state, and the effects started (+) and stopped (-) by this event. */
    on(event: DelegationEvent): [unknown, ...string[]] {
      log.length = 0;
      actor.send(event);
      return [actor.getSnapshot().value, ...log];
    },
    output: () => actor.getSnapshot().output,
    request: () => actor.getSnapshot().context.request,
  };
}

const granted: DelegationEvent = {
  type: "slot.granted",
  offer: { remainingMs: 10_000, budget: unlimited, context: null },
};
const offered = { waiting: "offered" };

function settled(changes: ResponseChanges, attempt = 1, remainingMs = 10_000): DelegationEvent {
  const { kind, ...fact } = childSettled(2, 1, changes, attempt);
  return { ...fact, type: kind, at: 0, remainingMs };
}

/** `remainingMs` null: there is nothing left to try again with. */
function backoffOver(attempt: number, remainingMs: number | null = 10_000): DelegationEvent {
  const offer = remainingMs === null ? null : { remainingMs, budget: unlimited };
  return { type: "timer.fired", timer: `retry/2/1/0/${attempt}`, at: 0, offer };
}

const failure = (changes: Parameters<typeof anError>[0] = {}) => ({ error: anError(changes) });

test("a delegation waits for a slot, then for its one response", () => {
  const d = delegation();
  expect(d.on(settled({}))).toEqual(["queued"]);
  expect(d.on(granted)).toEqual([offered, "+child/2/1/0/1"]);
  expect(d.request().remainingMs).toBe(10_000);
  expect(d.on({ type: "child.claimed" })).toEqual([{ waiting: "running" }]);
  expect(d.on(settled({ summary: "fine" }))).toEqual(["settled", "-child/2/1/0/1"]);
  expect(d.output()).toMatchObject({ attempts: 1, response: { summary: "fine" } });
});

describe("a retry", () => {
  test.each([
    ["a recoverable failure of a listed type", failure({ type: "network" }), "retrying"],
    ["an unrecoverable one", failure({ type: "network", recoverable: false }), "settled"],
    ["one of another type", failure({ type: "permission" }), "settled"],
    ["a success", {}, "settled"],
    ["a rejection without an error", { status: "rejected" as const }, "settled"],
  ])("%s: %#", (_, changes, state) => {
    const d = delegation();
    d.on(granted);
    expect(d.on(settled(changes))[0]).toBe(state);
  });

  test("happens as often as the policy allows, with a doubling backoff and a new run each time", () => {
    const d = delegation();
    d.on(granted);
    const runs = [d.request().run];
    expect(d.on(settled(failure()))).toEqual(["retrying", "-child/2/1/0/1", "+timer/retry/2/1/0/1 100"]);
    expect(d.on(backoffOver(1))).toEqual([offered, "-timer/retry/2/1/0/1", "+child/2/1/0/2"]);
    runs.push(d.request().run);
    expect(d.on(settled(failure(), 2))).toEqual(["retrying", "-child/2/1/0/2", "+timer/retry/2/1/0/2 200"]);
    expect(d.on(backoffOver(2))).toEqual([offered, "-timer/retry/2/1/0/2", "+child/2/1/0/3"]);
    runs.push(d.request().run);
    expect(d.on(settled(failure({ message: "the third" }), 3))).toEqual(["settled", "-child/2/1/0/3"]);
    expect(d.output()).toMatchObject({ attempts: 3, response: { error: { message: "the third" } } });
    expect(runs).toEqual([1, 2, 3].map((attempt) => childRunId({ parentRun: run, step: 2, call: 1, attempt })));
  });

  test("does not happen with one attempt", () => {
    const d = delegation({ maxAttempts: 1 });
    d.on(granted);
    expect(d.on(settled(failure()))[0]).toBe("settled");
  });

  test.each([
    [5_000, 5_000],
    [50, 100],
    [null, 100],
  ])("never comes before retryAfterMs: %j waits %i ms", (retryAfterMs, delayMs) => {
    const d = delegation();
    d.on(granted);
    expect(d.on(settled(failure({ type: "rate_limit", retryAfterMs })))).toContain(`+timer/retry/2/1/0/1 ${delayMs}`);
  });

  test("does not happen without time of its parent left for the wait", () => {
    const d = delegation();
    d.on(granted);
    expect(d.on(settled(failure({ retryAfterMs: 5_000 }), 1, 5_000))[0]).toBe("settled");
    expect(d.output()).toMatchObject({ attempts: 1 });
  });

  test("does not happen if the time ended in the backoff", () => {
    const d = delegation();
    d.on(granted);
    d.on(settled(failure()));
    expect(d.on(backoffOver(1, null))).toEqual(["settled", "-timer/retry/2/1/0/1"]);
    expect(d.output()).toMatchObject({ attempts: 1 });
  });

  test("has the time that is left at its start", () => {
    const d = delegation();
    d.on(granted);
    d.on(settled(failure()));
    d.on(backoffOver(1, 777));
    expect(d.request()).toMatchObject({ attempt: 2, remainingMs: 777 });
  });
});

describe("is ignored:", () => {
  test.each([
    ["another attempt's response", settled({}, 2)],
    ["another call's response", { ...settled({}), call: 7 } as DelegationEvent],
    ["another step's response", { ...settled({}), step: 7 } as DelegationEvent],
    ["a timer", backoffOver(1)],
    ["a second slot", granted],
  ])("while it waits: %s", (_, event) => {
    const d = delegation();
    d.on(granted);
    expect(d.on(event)).toEqual([offered]);
  });

  test.each([
    ["another backoff", backoffOver(2)],
    ["the response again", settled(failure())],
  ])("while it backs off: %s", (_, event) => {
    const d = delegation();
    d.on(granted);
    d.on(settled(failure()));
    expect(d.on(event)).toEqual(["retrying"]);
  });

  test("every event once it has settled", () => {
    const d = delegation();
    d.on(granted);
    d.on(settled({ summary: "fine" }));
    expect(d.output()).toEqual({ attempts: 1, response: expect.objectContaining({ summary: "fine" }) });
  });
});

test("a response is passed on unchanged", () => {
  const d = delegation();
  d.on(granted);
  const response = aResponse({ runId: d.request().run, details: "all of it" });
  d.on({ ...settled({}), response } as DelegationEvent);
  expect(d.output()?.response).toEqual(response);
});

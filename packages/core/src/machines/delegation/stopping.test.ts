/** A delegation that is no longer wanted, or whose agent is not up to it. */
import { describe, expect, test } from "vitest";
import { createActor, type EventObject, fromCallback } from "xstate";
import { unlimited } from "../../budget/ledger.ts";
import type { RetryPolicy } from "../../protocol/agent.ts";
import type { Budget } from "../../protocol/budget.ts";
import { childRunId } from "../../protocol/ids.ts";
import { type Effect, effectKey } from "../effects.ts";
import { anError, aRequest, childSettled, type ResponseChanges, run } from "../fixtures.test-helper.ts";
import { type DelegationEvent, delegationMachine } from "./machine.ts";

function delegation(retry: Partial<RetryPolicy> = {}) {
  const log: string[] = [];
  const wanted: Effect[] = [];
  const place = fromCallback<EventObject, Effect>(({ input }) => {
    log.push(`+${effectKey(input)}`);
    wanted.push(input);
    return () => log.push(`-${effectKey(input)}`);
  });
  const actors = { runChild: place, cancelChild: place, dropChild: place, startTimer: place } as never;
  const request = aRequest({
    agent: "helper",
    run: childRunId({ parentRun: run, step: 2, call: 1, item: 3, attempt: 1 }),
  });
  const policy: RetryPolicy = {
    maxAttempts: 2,
    backoffMs: 100,
    on: ["network", "permission", "timeout", "budget", "verification"],
    alternative: null,
  };
  const input = { run, step: 2, call: 1, item: 3, request, retry: { ...policy, ...retry } };
  const actor = createActor(delegationMachine.provide({ actors }), { input }).start();
  return {
    on(event: DelegationEvent): [unknown, ...string[]] {
      log.length = 0;
      actor.send(event);
      return [actor.getSnapshot().value, ...log];
    },
    wanted,
    output: () => actor.getSnapshot().output,
    request: () => actor.getSnapshot().context.request,
  };
}

const granted: DelegationEvent = {
  type: "slot.granted",
  offer: { remainingMs: 10_000, budget: unlimited, context: "so far" },
};
const cancelEvent: DelegationEvent = { type: "cancel", reason: "enough", announce: true };
const unannounced: DelegationEvent = { type: "cancel", reason: "enough", announce: false };
const dropped: DelegationEvent = {
  type: "drop",
  status: "rejected",
  error: anError({ type: "budget", message: "nothing left" }),
};

function settled(changes: ResponseChanges, attempt = 1): DelegationEvent {
  const { kind, ...fact } = childSettled(2, 1, changes, attempt, 3);
  return { ...fact, type: kind, at: 0, remainingMs: 10_000 };
}

function backoffOver(attempt: number, budget: Budget = unlimited): DelegationEvent {
  return { type: "timer.fired", timer: `retry/2/1/3/${attempt}`, at: 0, offer: { remainingMs: 5_000, budget } };
}

const failure = (changes: Parameters<typeof anError>[0] = {}) => ({ error: anError(changes) });

describe("a queued child", () => {
  test.each<[string, DelegationEvent, object]>([
    ["dropped", dropped, { status: "rejected", summary: "nothing left", error: { type: "budget" } }],
    [
      "cancelled",
      cancelEvent,
      { status: "cancelled", summary: "enough", error: { type: "cancelled", recoverable: false } },
    ],
    ["cancelled by the same inbox item as its parent", unannounced, { status: "cancelled", summary: "enough" }],
  ])("%s: the drop is journaled as its response, and then it has settled", (_, event, response) => {
    const d = delegation();
    expect(d.on(event)).toEqual(["dropping", "+child/2/1/3/1"]);
    expect(d.wanted[0]).toMatchObject({
      kind: "dropChild",
      item: 3,
      attempt: 1,
      response: { ...response, runId: d.request().run },
    });
    expect(d.on(granted)).toEqual(["dropping"]);
    expect(d.on(settled({ summary: "written" }))).toEqual(["settled", "-child/2/1/3/1"]);
    expect(d.output()).toMatchObject({ attempts: 1, response: { summary: "written" } });
  });
});

describe("a running child", () => {
  test("is told to stop, and its response awaited", () => {
    const d = delegation();
    d.on(granted);
    expect(d.on(cancelEvent)).toEqual([{ waiting: "stopping" }, "+cancel-child/2/1/3/1"]);
    expect(d.wanted.at(-1)).toMatchObject({ kind: "cancelChild", reason: "enough", request: { run: d.request().run } });
    expect(d.on(settled({ status: "cancelled", ...failure({ type: "cancelled" }) }))[0]).toBe("settled");
  });

  test("that receives the cancel itself is not told", () => {
    const d = delegation();
    d.on(granted);
    expect(d.on(unannounced)).toEqual([{ waiting: "ending" }]);
    expect(d.on(settled({}))[0]).toBe("settled");
  });

  test.each([
    ["told", cancelEvent],
    ["heard", unannounced],
  ])("and %s is not retried, even after a recoverable failure", (_, event) => {
    const d = delegation();
    d.on(granted);
    d.on(event);
    expect(d.on(settled(failure()))[0]).toBe("settled");
  });

  test("is not dropped", () => {
    const d = delegation();
    d.on(granted);
    expect(d.on(dropped)).toEqual([{ waiting: "offered" }]);
  });

  test.each([
    ["cancelled", cancelEvent],
    ["dropped", dropped],
  ])("before its retry ends when it is %s, with its last response", (_, event) => {
    const d = delegation();
    d.on(granted);
    d.on(settled(failure({ message: "the first" })));
    expect(d.on(event)).toEqual(["settled", "-timer/retry/2/1/3/1"]);
    expect(d.output()).toMatchObject({ attempts: 1, response: { error: { message: "the first" } } });
  });
});

describe("the alternative", () => {
  const alternative = { alternative: "writer" };

  test("runs after every attempt has failed, and once only", () => {
    const d = delegation({ ...alternative, maxAttempts: 2 });
    d.on(granted);
    d.on(settled(failure()));
    d.on(backoffOver(1));
    expect(d.request()).toMatchObject({ agent: "helper", attempt: 2 });
    d.on(settled(failure(), 2));
    d.on(backoffOver(2));
    expect(d.request()).toMatchObject({ agent: "writer", attempt: 3 });
    expect(d.on(settled(failure(), 3))[0]).toBe("settled");
    expect(d.output()?.attempts).toBe(3);
  });

  test("runs at once if the same agent can never succeed", () => {
    const d = delegation(alternative);
    d.on(granted);
    d.on(settled(failure({ type: "permission", recoverable: false })));
    d.on(backoffOver(1));
    expect(d.request()).toMatchObject({ agent: "writer", attempt: 2 });
  });

  test("does not run for an error that is not listed", () => {
    const d = delegation({ ...alternative, on: ["network"] });
    d.on(granted);
    expect(d.on(settled(failure({ type: "permission", recoverable: false })))[0]).toBe("settled");
  });

  test("gets the context of the first agent, its own share, and a run of its own", () => {
    const d = delegation({ ...alternative, maxAttempts: 1 });
    d.on(granted);
    d.on(settled(failure()));
    const budget = { ...unlimited, tokens: 500 };
    d.on(backoffOver(1, budget));
    expect(d.request()).toMatchObject({
      agent: "writer",
      context: "so far",
      remainingMs: 5_000,
      budget,
      run: childRunId({ parentRun: run, step: 2, call: 1, item: 3, attempt: 2 }),
    });
  });
});

describe("errors without a retry hint", () => {
  test.each(["verification", "timeout", "budget"] as const)("%s is retried if the policy lists it", (type) => {
    const d = delegation();
    d.on(granted);
    expect(d.on(settled(failure({ type, recoverable: false })))[0]).toBe("retrying");
    const other = delegation({ on: ["network"] });
    other.on(granted);
    expect(other.on(settled(failure({ type, recoverable: false })))[0]).toBe("settled");
  });
});

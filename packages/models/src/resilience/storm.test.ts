/**
 * Five minutes in which three of ten requests are refused, in every way that vendors use, while forty agents make calls:
 * no request comes before the named time, no call takes more than five requests, and all together make at
 * most half as many requests again as there are calls.
 */
import type { RunError, RunFailure } from "@troupe/core";
import { toRunError } from "@troupe/core/internal";
import { expect, test } from "vitest";
import { failureOf } from "../wire/failure.ts";
import { after, reliable, request } from "./resilience.test-helper.ts";

const minutes = 5;
const agents = 40;

interface SentRequest {
  atMs: number;
  call: string;
  /** Error of this request; null when it was answered. */
  error: RunError | null;
  endedMs: number;
}

/** A seeded random number generator. */
function createChance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function refusal(chance: () => number): RunFailure {
  const [status, code] = (
    [
      [429, "rate_limit_error"],
      [529, "overloaded_error"],
      [500, "api_error"],
      [null, null],
    ] as const
  )[Math.floor(chance() * 4)] ?? [500, null];
  const retryAfterMs = chance() < 0.5 ? Math.round(chance() * 4_000) : null;
  return failureOf({ provider: "busy", status, code, message: "not now", retryAfterMs, begun: false, keyFix: null });
}

async function storm(seed: number, failuresShare: number) {
  const chance = createChance(seed);
  const asked: SentRequest[] = [];
  const model = reliable(
    async ({ origin }, { signal }) => {
      const entry: SentRequest = {
        atMs: model.clock.now(),
        call: `${origin.agent}/${origin.step}`,
        error: null,
        endedMs: 0,
      };
      asked.push(entry);
      await after(model.clock, 50 + Math.round(chance() * 1_000), signal);
      entry.endedMs = model.clock.now();
      if (chance() >= failuresShare) return;
      const failure = refusal(chance);
      entry.error = failure.runError;
      throw failure;
    },
    { concurrency: 16 },
    chance,
  );
  let ownRetries = 0;
  const endMs = minutes * 60_000;
  let calls = 0;
  let settled = 0;

  /** Repeats a failed call after a timer until its tries are used up, as a run does. */
  async function work(agent: string): Promise<void> {
    for (let step = 1; model.clock.now() < endMs; step += 1) {
      calls += 1;
      let triesBefore = 0;
      while (triesBefore < 5) {
        const origin = { ...request.origin, agent, step, triesBefore };
        const onRetry = (): void => {
          ownRetries += 1;
        };
        const error = await model.call({ origin }, { onRetry }).reply.then(
          () => null,
          (thrown) => toRunError(thrown, "model"),
        );
        if (error === null) break;
        triesBefore += error.tries ?? 1;
        await after(model.clock, error.retryAfterMs ?? 1_000, new AbortController().signal);
      }
      settled += 1;
      await after(model.clock, Math.round(chance() * 2_000), new AbortController().signal);
    }
  }
  const all = Promise.all(Array.from({ length: agents }, (_, agent) => work(`agent-${agent}`)));
  let isOver = false;
  const over = all.then(() => {
    isOver = true;
  });
  while (!isOver) await model.pass(10_000);
  await over;
  return { asked, calls, settled, ownRetries };
}

test.for([1, 2, 3])("at 30 % failures, schedule %i", async (seed) => {
  const { asked, calls, settled } = await storm(seed, 0.3);
  const failed = asked.filter(({ error }) => error !== null);
  expect(failed.length / asked.length).toBeGreaterThan(0.25);
  expect(calls).toBeGreaterThan(500);
  expect(settled).toBe(calls);

  const quiet = failed.filter(({ error }) => error?.type === "rate_limit" && error.retryAfterMs !== null);
  for (const { endedMs, error } of quiet) {
    const untilMs = endedMs + (error?.retryAfterMs ?? 0);
    // Requests at the very moment of the refusal are allowed; later ones are not.
    expect(asked.filter(({ atMs }) => atMs > endedMs && atMs < untilMs)).toEqual([]);
  }
  const perCall = Map.groupBy(asked, ({ call }) => call);
  for (const requests of perCall.values()) {
    expect(requests.length).toBeLessThanOrEqual(5);
    for (const [i, next] of requests.slice(1).entries()) {
      const before = requests[i];
      expect(next.atMs).toBeGreaterThanOrEqual((before?.endedMs ?? 0) + (before?.error?.retryAfterMs ?? 0));
    }
  }
  expect(asked.length / calls).toBeLessThanOrEqual(1.5);
});

test("when most fail, the layer's own retries stay at half of the calls", async () => {
  const { asked, calls, ownRetries } = await storm(4, 0.55);
  expect(calls).toBeGreaterThan(200);
  expect(asked.length / calls).toBeGreaterThan(1.5);
  expect(ownRetries / calls).toBeLessThanOrEqual(0.5);
  expect(ownRetries).toBeGreaterThan(0);
});

import { setImmediate as nextTurn } from "node:timers/promises";
import type { Clock } from "@troupe/core";

/** Time that a test moves: from one thing that falls due to the next, as soon as nothing else is at work. */
export interface SteppingClock extends Clock {
  /** Lets time pass, and everything that falls due meanwhile happen at its own moment. */
  pass(ms: number): Promise<void>;
  /** Lets as much time pass as a promise needs, and not a moment more. */
  until<T>(promise: Promise<T>): Promise<T>;
}

/** No test waits for longer than this: what has not come by then never comes. */
const longestMs = 7 * 24 * 3_600_000;

/** Only for worlds without real input and output: what takes real time is not waited for. */
export function createSteppingClock(startMs = 1_000_000): SteppingClock {
  let nowMs = startMs;
  let sequence = 0;
  const timers = new Map<number, { dueMs: number; callback: () => void }>();

  const next = (): [number, { dueMs: number; callback: () => void }] | undefined =>
    [...timers].sort(([a, x], [b, y]) => x.dueMs - y.dueMs || a - b)[0];

  const fire = ([id, { dueMs, callback }]: NonNullable<ReturnType<typeof next>>): void => {
    timers.delete(id);
    nowMs = Math.max(nowMs, dueMs);
    callback();
  };

  return {
    now: () => nowMs,
    monotonicMs: () => nowMs - startMs,
    after(delayMs, callback) {
      sequence += 1;
      const id = sequence;
      timers.set(id, { dueMs: nowMs + Math.max(0, delayMs), callback });
      return () => timers.delete(id);
    },
    async pass(ms) {
      const endMs = nowMs + ms;
      await quiet();
      for (let due = next(); due && due[1].dueMs <= endMs; due = next()) {
        fire(due);
        await quiet();
      }
      nowMs = endMs;
    },
    async until(promise) {
      let isSettled = false;
      const settled = promise.finally(() => {
        isSettled = true;
      });
      settled.catch(() => {}); // whoever awaits it below hears of it
      const endMs = nowMs + longestMs;
      for (await quiet(); !isSettled; await quiet()) {
        const due = next();
        if (!due || due[1].dueMs > endMs) throw new Error("what is waited for does not come, however late it gets");
        fire(due);
      }
      return await settled;
    },
  };
}

/**
 * Each turn runs everything that waits for nothing but other code. Hosts let the event loop go round between slices of
 * their work, so that what follows from one thing may take several.
 */
const quietTurns = 24;

async function quiet(): Promise<void> {
  for (let turn = 0; turn < quietTurns; turn += 1) await nextTurn();
}

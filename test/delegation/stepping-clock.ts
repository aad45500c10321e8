import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "@troupe/core";
import { turns } from "./remote/activity.ts";

/** Time that a test moves: from one thing that falls due to the next, as soon as nothing else is at work. */
export interface SteppingClock extends Clock {
  /** Lets time pass, and everything that falls due meanwhile happen at its own moment. */
  pass(ms: number): Promise<void>;
  /** Lets as much time pass as a promise needs, and not a moment more. */
  until<T>(promise: Promise<T>): Promise<T>;
  /** Shares time with other processes, which must be idle before it moves. Returns a function that ends the sharing. */
  share(others: RemoteClocks): () => void;
}

export interface RemoteClocks {
  /** Resolves when nothing is at work, there or here. */
  quiet(): Promise<void>;
  /** Resolves when they know what time it is. */
  setTime(nowMs: number): Promise<void>;
}

/** Upper limit of simulated time. An event that is not due by then never comes. */
const longestMs = 7 * 24 * 3_600_000;

/** With nothing due here, another process can still be at work: a busy machine lets it wait for its turn. */
const realMsMax = 60_000;

/** Resolves to false after a moment. Throws after `realMsMax`. */
async function realTimeIsOver(startedMs: number): Promise<boolean> {
  if (performance.now() - startedMs > realMsMax) {
    throw new Error("the awaited event does not come before the end of the simulated time");
  }
  await delay(10);
  return false;
}

const isTrue = (): boolean => true;

const alone: RemoteClocks = { quiet: turns, setTime: async () => {} };

/**
 * Works only without real input and output, except for processes that share this clock. It does not wait for anything
 * that takes real time.
 */
export function createSteppingClock(startMs = 1_000_000): SteppingClock {
  let nowMs = startMs;
  let sequence = 0;
  let others = alone;
  const timers = new Map<number, { dueMs: number; callback: () => void }>();

  const next = (): [number, { dueMs: number; callback: () => void }] | undefined =>
    [...timers].sort(([a, x], [b, y]) => x.dueMs - y.dueMs || a - b)[0];

  const moveTo = async (ms: number): Promise<void> => {
    if (ms <= nowMs) return;
    nowMs = ms;
    await others.setTime(ms);
  };

  const fire = async ([id, { dueMs, callback }]: NonNullable<ReturnType<typeof next>>): Promise<void> => {
    timers.delete(id);
    await moveTo(dueMs);
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
      await others.quiet();
      for (let due = next(); due && due[1].dueMs <= endMs; due = next()) {
        await fire(due);
        await others.quiet();
      }
      await moveTo(endMs);
    },
    async until(promise) {
      let isSettled = false;
      const settled = promise.finally(() => {
        isSettled = true;
      });
      settled.catch(() => {}); // the caller below awaits it
      const endMs = nowMs + longestMs;
      const startedMs = performance.now();
      for (await others.quiet(); !isSettled; await others.quiet()) {
        const due = next();
        if (due && due[1].dueMs <= endMs) await fire(due);
        else if (await Promise.race([settled.then(isTrue, isTrue), realTimeIsOver(startedMs)])) break;
      }
      return await settled;
    },
    share(sharers) {
      others = sharers;
      return () => {
        others = alone;
      };
    },
  };
}

import { uuidv7 } from "uuidv7";
import type { Clock, Ids } from "../ports/clock.ts";

/** Longest delay that setTimeout keeps: a longer one fires at once. */
const timeoutMsMax = 2 ** 31 - 1;

/** The machine's own clock. Callbacks come at their time or after it, never before, however long the delay. */
export function systemClock(): Clock {
  return {
    now: () => Date.now(),
    monotonicMs: () => performance.now(),
    after(delayMs, callback) {
      const dueMs = performance.now() + delayMs;
      let timer: ReturnType<typeof setTimeout>;
      const wait = (): void => {
        timer = setTimeout(check, Math.min(Math.ceil(dueMs - performance.now()), timeoutMsMax));
      };
      const check = (): void => {
        if (performance.now() < dueMs) wait();
        else callback();
      };
      wait();
      return () => clearTimeout(timer);
    },
  };
}

/** UUIDv7s: they sort by the time they were made, also within one millisecond. */
export function systemIds(): Ids {
  return { next: () => uuidv7() };
}

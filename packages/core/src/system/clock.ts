import { uuidv7 } from "uuidv7";
import type { Clock, Ids } from "../ports/clock.ts";

/** The longest delay of setTimeout. A longer one would fire at once. */
const timeoutMsMax = 2 ** 31 - 1;

/** The machine's clock. Callbacks never come early, and delays have no upper limit. */
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

/** UUIDv7 ids. They sort by creation time, even within one millisecond. */
export function systemIds(): Ids {
  return { next: () => uuidv7() };
}

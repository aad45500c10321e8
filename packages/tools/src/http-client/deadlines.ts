import { type Clock, RunFailure } from "@troupe/core";

/** An abort signal for a piece of work. It aborts when the caller aborts or when a deadline passes. */
export interface Deadlines extends Disposable {
  /** The abort reason is a `RunFailure` of type `cancelled` or `timeout`. */
  readonly signal: AbortSignal;
  /** Sets a deadline and returns the function that clears it. `failure` completes "… within 30000 ms". */
  set(ms: number, failure: string): () => void;
}

/**
 * @example
 * using deadlines = startDeadlines(clock, signal);
 * deadlines.set(30_000, "the server did not send the page");
 */
export function startDeadlines(clock: Clock, caller: AbortSignal): Deadlines {
  const controller = new AbortController();
  const clearAll: (() => void)[] = [];
  const onCallerAbort = (): void =>
    controller.abort(new RunFailure({ type: "cancelled", message: "the request was cancelled", recoverable: false }));
  caller.addEventListener("abort", onCallerAbort, { once: true });
  if (caller.aborted) onCallerAbort();
  return {
    signal: controller.signal,
    set(ms, failure) {
      const clear = clock.after(ms, () => {
        const message = `${failure} within ${ms} ms`;
        controller.abort(new RunFailure({ type: "timeout", message, recoverable: true }));
      });
      clearAll.push(clear);
      return clear;
    },
    [Symbol.dispose]() {
      caller.removeEventListener("abort", onCallerAbort);
      for (const clear of clearAll) clear();
    },
  };
}

/** Settles like the promise, or rejects with the reason of the signal if that aborts first. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

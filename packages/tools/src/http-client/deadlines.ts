import { type Clock, RunFailure } from "@troupe/core";

/** Ends a piece of work from outside: when whoever asked gives up, or when one of its times is over. */
export interface Stopwatch extends Disposable {
  /** Its reason is a `RunFailure` that says which time was over. */
  readonly signal: AbortSignal;
  /** Ends the work after a time, unless the function that is returned is called before. */
  limit(ms: number, what: string): () => void;
}

/**
 * @example
 * using watch = startStopwatch(clock, signal);
 * watch.limit(30_000, "the whole page was not there");
 */
export function startStopwatch(clock: Clock, caller: AbortSignal): Stopwatch {
  const stop = new AbortController();
  const cancels: (() => void)[] = [];
  const cancelled = (): void =>
    stop.abort(new RunFailure({ type: "cancelled", message: "the request was cancelled", recoverable: false }));
  caller.addEventListener("abort", cancelled, { once: true });
  if (caller.aborted) cancelled();
  return {
    signal: stop.signal,
    limit(ms, what) {
      const cancel = clock.after(ms, () => stop.abort(tooLate(ms, what)));
      cancels.push(cancel);
      return cancel;
    },
    [Symbol.dispose]() {
      caller.removeEventListener("abort", cancelled);
      for (const cancel of cancels) cancel();
    },
  };
}

/** What a promise comes to, or the reason of the signal if that is aborted before. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function tooLate(ms: number, what: string): RunFailure {
  return new RunFailure({ type: "timeout", message: `${what} within ${ms} ms`, recoverable: true });
}

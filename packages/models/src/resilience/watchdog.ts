import { type Clock, RunFailure } from "@troupe/core";
import { cancelledCall } from "../wire/cancellation.ts";

export interface Watch {
  clock: Clock;
  /** Silence after which a call is given up. */
  idleTimeoutMs: number;
  signal: AbortSignal;
  /** Whose call it is, for the message. */
  model: string;
}

/**
 * Runs a call that shows signs of life. One that is silent for too long is told to stop, and given up, whether it stops
 * or not; one that nobody wants any more ends at once in the same way. It may have been worked on, and paid for.
 *
 * @param run gets the signal that tells it to stop, and what to call whenever something is heard
 */
export function watched<T>(
  { clock, idleTimeoutMs, signal, model }: Watch,
  run: (signal: AbortSignal, alive: () => void) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = new AbortController();
    let heardMs = clock.monotonicMs();
    const giveUp = (failure: RunFailure): void => {
      end();
      // First our own words for it, then the adapter's for being stopped: a promise keeps the first.
      reject(failure);
      stop.abort(failure);
    };
    const cancel = (): void => giveUp(cancelledCall());
    const look = (): void => {
      const leftMs = heardMs + idleTimeoutMs - clock.monotonicMs();
      if (leftMs <= 0) giveUp(silent(model, idleTimeoutMs));
      else stopTimer = clock.after(leftMs, look);
    };
    let stopTimer = clock.after(idleTimeoutMs, look);
    const end = (): void => {
      stopTimer();
      signal.removeEventListener("abort", cancel);
    };
    signal.addEventListener("abort", cancel, { once: true });
    const alive = (): void => {
      heardMs = clock.monotonicMs();
    };
    run(stop.signal, alive).then(resolve, reject).finally(end);
  });
}

function silent(model: string, idleTimeoutMs: number): RunFailure {
  return new RunFailure({
    type: "network",
    message: `${model}: silent for ${idleTimeoutMs / 1_000} s, so the call was given up`,
    recoverable: true,
    begun: true,
  });
}

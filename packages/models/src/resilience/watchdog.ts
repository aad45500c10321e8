import { type Clock, RunFailure } from "@troupe/core";
import { cancelledCall } from "../wire/cancellation.ts";

export interface Watch {
  clock: Clock;
  /** A call without any sign of life for this long is given up. */
  idleTimeoutMs: number;
  signal: AbortSignal;
  /** The called model, for the error message. */
  model: string;
}

/**
 * Runs a call under an idle timeout. A call that times out or is cancelled is aborted and rejected at once, even if it
 * does not stop. The provider may have worked on it and may charge for it.
 *
 * @param run gets the signal that aborts the call, and a function to call at every sign of life
 */
export function withIdleTimeout<T>(
  { clock, idleTimeoutMs, signal, model }: Watch,
  run: (signal: AbortSignal, alive: () => void) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = new AbortController();
    let lastActivityMs = clock.monotonicMs();
    const giveUp = (failure: RunFailure): void => {
      end();
      // Reject before the abort: the adapter rejects with its own error for it, and a promise keeps the first.
      reject(failure);
      stop.abort(failure);
    };
    const cancel = (): void => giveUp(cancelledCall());
    const check = (): void => {
      const leftMs = lastActivityMs + idleTimeoutMs - clock.monotonicMs();
      if (leftMs <= 0) giveUp(idle(model, idleTimeoutMs));
      else stopTimer = clock.after(leftMs, check);
    };
    let stopTimer = clock.after(idleTimeoutMs, check);
    const end = (): void => {
      stopTimer();
      signal.removeEventListener("abort", cancel);
    };
    signal.addEventListener("abort", cancel, { once: true });
    const alive = (): void => {
      lastActivityMs = clock.monotonicMs();
    };
    run(stop.signal, alive).then(resolve, reject).finally(end);
  });
}

function idle(model: string, idleTimeoutMs: number): RunFailure {
  return new RunFailure({
    type: "network",
    message: `${model} sent nothing for ${idleTimeoutMs / 1_000} s; the call was given up`,
    recoverable: true,
    begun: true,
  });
}

import { type Clock, RunFailure } from "@troupe/core";

/** Waits. An abort rejects at once, as a cancelled call. Leaves neither timer nor listener behind. */
export async function delay(delayMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  throwIfAborted(signal);
  if (delayMs <= 0) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const cancel = clock.after(delayMs, done);
    signal.addEventListener("abort", done, { once: true });
  });
  throwIfAborted(signal);
}

export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw cancelledCall();
}

/** The failure of a call that its caller cancelled. */
export function cancelledCall(): RunFailure {
  return new RunFailure({ type: "cancelled", message: "the model call was cancelled", recoverable: false });
}

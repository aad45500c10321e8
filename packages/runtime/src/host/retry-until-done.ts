import type { Clock, RunRequest } from "@troupe/core";
import type { HostDeps } from "./host-deps.ts";

/** Whoever does something until it is done. */
export interface Persistent {
  deps: Pick<HostDeps, "clock" | "logger">;
  request: Pick<RunRequest, "session" | "run">;
  /** Aborts when nobody wants it done any more. */
  signal: AbortSignal;
}

const againMs = 1_000;

/**
 * Does something that may fail for a while (a disk that is full), until it succeeds or nobody wants it any more.
 *
 * @param failed what the log says of a failure
 */
export async function untilDone(act: () => Promise<unknown>, failed: string, scope: Persistent): Promise<void> {
  const { deps, request, signal } = scope;
  while (!signal.aborted) {
    try {
      await act();
      return;
    } catch (error) {
      deps.logger.error({ session: request.session, run: request.run, err: error }, failed);
      await pauseUnless(signal, againMs, deps.clock);
    }
  }
}

/** Waits; ends at once, without a word, when the signal aborts. */
export function pauseUnless(signal: AbortSignal, ms: number, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      cancel();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const cancel = clock.after(ms, done);
    if (signal.aborted) done();
    else signal.addEventListener("abort", done, { once: true });
  });
}

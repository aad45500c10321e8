import type { Clock, RunRequest } from "@troupe/core";
import type { HostDeps } from "./host-deps.ts";

/** The run for which an action is retried. */
export interface RetryScope {
  deps: Pick<HostDeps, "clock" | "logger">;
  request: Pick<RunRequest, "session" | "run">;
  /** Aborts when the result is no longer wanted. */
  signal: AbortSignal;
}

const retryMs = 1_000;

/**
 * Retries an action that may fail for a while (a full disk, an unreachable server) until it succeeds or the signal
 * aborts. Never rejects.
 *
 * @param failure the log message of a failed try
 */
export async function retryUntilDone(
  action: () => Promise<unknown>,
  failure: string,
  { deps, request, signal }: RetryScope,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await action();
      return;
    } catch (error) {
      deps.logger.error({ session: request.session, run: request.run, err: error }, failure);
      await sleep(retryMs, deps.clock, signal);
    }
  }
}

/** Waits for the given time, or until the signal aborts. Never rejects. */
export function sleep(ms: number, clock: Clock, signal: AbortSignal): Promise<void> {
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

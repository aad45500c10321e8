import type { ConnectorError } from "../../ports/connector-error.ts";
import { cancelled, toConnectorError } from "./error-output.ts";

/** The tries that errors of a type allow after the first one. Types that are absent allow none. */
export const retriesMax = { auth: 1, rate_limit: 2, network: 3 } as const;

/** A longer wait is for the caller: the error says when to try again. */
export const waitSecondsMax = 60;

const backoffMs = { rate_limit: 1_000, network: 500 } as const;

/** Retries of one operation. */
export interface RetryOptions {
  tool: string;
  signal: AbortSignal;
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** Obtains fresh access. Resolves to false if that cannot help. */
  refresh(): Promise<boolean>;
  /** Called before each try. */
  onTry(): void;
}

/**
 * Runs an operation, and again by the type of its error: after a refresh, after the wait that the server names, or with
 * growing pauses. `done` tells after a lost connection whether the operation had happened.
 *
 * @example
 * const page = await withRetries(() => mail.searchMessages({}), { ...options, done: null });
 */
export async function withRetries<Result>(
  operation: () => Promise<Result>,
  { done, ...options }: RetryOptions & { done: (() => Promise<Result | null>) | null },
): Promise<Result> {
  const used = { auth: 0, rate_limit: 0, network: 0 };
  let inDoubt = false;
  for (;;) {
    if (options.signal.aborted) throw cancelled(options.tool);
    try {
      const known = inDoubt && done ? await done() : null;
      if (known !== null) return known;
      inDoubt = false;
      options.onTry();
      return await operation();
    } catch (thrown) {
      const error = toConnectorError(thrown);
      inDoubt ||= error.type === "network";
      if (!(await waitFor(error, used, options))) throw error;
    }
  }
}

type Used = Record<keyof typeof retriesMax, number>;

/** Waits until the operation can be tried again. Resolves to false if it may not be. */
async function waitFor(
  error: ConnectorError,
  used: Used,
  { tool, signal, wait, refresh }: RetryOptions,
): Promise<boolean> {
  const { type } = error;
  if (type !== "auth" && type !== "rate_limit" && type !== "network") return false;
  if (used[type] >= retriesMax[type]) return false;
  used[type] += 1;
  if (type === "auth") return await refresh();
  const ms = pauseMs(error, type, used[type]);
  if (ms > waitSecondsMax * 1_000) return false;
  try {
    await wait(ms, signal);
  } catch (thrown) {
    if (signal.aborted) throw cancelled(tool);
    throw thrown;
  }
  return true;
}

function pauseMs({ retryAfterS }: ConnectorError, type: keyof typeof backoffMs, retry: number): number {
  if (type === "rate_limit" && retryAfterS !== null) return retryAfterS * 1_000;
  return backoffMs[type] * 2 ** (retry - 1);
}

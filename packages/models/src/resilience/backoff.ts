/** Requests that are made for one model call at most, the first included. */
export const triesMax = 5;
/** Who has to wait longer than this gives its call up, and waits with a timer that outlasts the process. */
export const waitMsMax = 30_000;

const firstMs = 500;
/** From half a second to half a minute within the four waits that there are. */
const growth = 4;

/**
 * How long to wait before the next request: anything up to a bound that grows (full jitter), so that those who failed
 * together do not come back together; never less than the provider asked for.
 *
 * @param tries requests that have failed so far
 */
export function backoffMs(tries: number, retryAfterMs: number | null, random: () => number): number {
  const mostMs = Math.min(waitMsMax, firstMs * growth ** (tries - 1));
  return Math.max(Math.round(random() * mostMs), retryAfterMs ?? 0);
}

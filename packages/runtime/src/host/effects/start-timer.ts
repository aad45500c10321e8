import type { Perform } from "./effect.ts";

/**
 * Fires when the delay has passed since the machine's start time, also across hosts. A clock that was set back never
 * makes it wait longer than the whole delay.
 */
export const startTimer: Perform<"startTimer"> = async (
  { timer, delayMs, since, retry },
  { deps, signal, publish, now },
) => {
  const { clock } = deps;
  const elapsedMs = Math.max(0, now() - since);
  const waitMs = Math.max(0, delayMs - elapsedMs);
  if (retry) publish({ kind: "model.retrying", ...retry, waitMs });
  const fired = Promise.withResolvers<boolean>();
  const cancel = clock.after(waitMs, () => fired.resolve(true));
  signal.addEventListener("abort", () => fired.resolve(false), { once: true });
  const hasFired = await fired.promise;
  cancel();
  return hasFired ? { kind: "timer.fired", timer } : null;
};

import type { Perform } from "./effect.ts";

/**
 * Fires when its time has gone since the moment that the machine counts from, however often its host has changed
 * since. A clock that was set back never makes it wait longer than its whole time.
 */
export const startTimer: Perform<"startTimer"> = async (
  { timer, delayMs, since, retry },
  { deps, signal, show, now },
) => {
  const { clock } = deps;
  const goneMs = Math.max(0, now() - since);
  const waitMs = Math.max(0, delayMs - goneMs);
  if (retry) show({ kind: "model.retrying", ...retry, waitMs });
  const fired = Promise.withResolvers<boolean>();
  const cancel = clock.after(waitMs, () => fired.resolve(true));
  signal.addEventListener("abort", () => fired.resolve(false), { once: true });
  const hasFired = await fired.promise;
  cancel();
  return hasFired ? { kind: "timer.fired", timer } : null;
};

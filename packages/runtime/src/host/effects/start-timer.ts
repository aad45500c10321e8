import type { Perform } from "./effect.ts";

/**
 * Fires when its time has gone since the moment that the machine counts from, however often its host has changed
 * since. A clock that was set back never makes it wait longer than its whole time.
 */
export const startTimer: Perform<"startTimer"> = async ({ timer, delayMs, since }, { world, signal }) => {
  const { clock } = world;
  const goneMs = Math.max(0, clock.now() - since);
  const fired = Promise.withResolvers<boolean>();
  const cancel = clock.after(Math.max(0, delayMs - goneMs), () => fired.resolve(true));
  signal.addEventListener("abort", () => fired.resolve(false), { once: true });
  const hasFired = await fired.promise;
  cancel();
  return hasFired ? { kind: "timer.fired", timer } : null;
};

import { setTimeout as delay } from "node:timers/promises";

/** Resolves with what `look` finds, once that is something. For what can only be looked at, and tells nobody. */
export async function until<T>(look: () => T | null | undefined | false | Promise<T | null | undefined | false>) {
  for (;;) {
    const found = await look();
    if (found) return found;
    await delay(20);
  }
}

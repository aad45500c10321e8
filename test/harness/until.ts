import { setTimeout as delay } from "node:timers/promises";

/** Polls until `look` returns a value. For conditions that send no notification. */
export async function until<T>(look: () => T | null | undefined | false | Promise<T | null | undefined | false>) {
  for (;;) {
    const found = await look();
    if (found) return found;
    await delay(20);
  }
}

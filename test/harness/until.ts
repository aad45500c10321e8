import { setTimeout as delay } from "node:timers/promises";

/**
 * Polls until `look` returns a value. For conditions that send no notification.
 *
 * @param pauseMs longer for a look that costs more, such as one with a connection of its own
 */
export async function until<T>(
  look: () => T | null | undefined | false | Promise<T | null | undefined | false>,
  pauseMs = 20,
) {
  for (;;) {
    const found = await look();
    if (found) return found;
    await delay(pauseMs);
  }
}

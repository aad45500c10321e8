import { setTimeout as delay } from "node:timers/promises";

/**
 * Polls until `look` returns a value. For conditions that send no notification. The pauses grow to five times the first:
 * a test that waits for seconds need not ask fifty times in each of them.
 *
 * @param pauseMs the first pause: longer for a look that costs more, such as one with a connection of its own
 */
export async function until<T>(
  look: () => T | null | undefined | false | Promise<T | null | undefined | false>,
  pauseMs = 20,
) {
  for (let pause = pauseMs; ; pause = Math.min(pause * 1.2, 5 * pauseMs)) {
    const found = await look();
    if (found) return found;
    await delay(pause);
  }
}

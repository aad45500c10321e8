import type { Cli } from "../cli.ts";
import { type Check, fail, warn } from "./check.ts";

/** Webhooks with messages that were given up, or that wait after a failure. No finding without such messages. */
export async function checkWebhooks({ composition, home }: Cli): Promise<Check[]> {
  try {
    return (await composition.readWebhooks(home)).flatMap(({ id, dead, open, lastError }) => {
      if (dead === 0 && lastError === null) return [];
      const counts = `${dead} messages were given up, ${open} wait; the last failure: ${lastError ?? "none"}`;
      const resend = dead > 0 ? `   # then: troupe webhooks resend ${id}` : "";
      return [warn("webhooks", `${id}: ${counts}`, `troupe webhooks test ${id}${resend}`)];
    });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [fail("webhooks", why, "troupe up   # after the file is repaired or moved away")];
  }
}

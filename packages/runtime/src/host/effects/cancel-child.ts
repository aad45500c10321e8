import type { InboxItem } from "@troupe/core";
import { type EffectOf, protocolVersion } from "@troupe/core/internal";
import { untilDone } from "../retry-until-done.ts";
import { sendCommand, wake } from "../run/send-command.ts";
import type { EffectScope, Perform } from "./effect.ts";

/**
 * Tells a child, and all below it, to stop: wherever they run, and also where they are parked. Told once, however
 * often the parent's host changes. The child's response comes to whoever runs it.
 */
export const cancelChild: Perform<"cancelChild"> = async (effect, scope) => {
  await untilDone(() => tell(effect, scope), "child could not be told to stop; trying again", scope);
  return null;
};

async function tell({ request, reason }: EffectOf<"cancelChild">, { deps }: EffectScope): Promise<void> {
  const { session, run } = request;
  const items = (await deps.journal.readInbox(session)).map(({ item }) => item);
  const told = items.find((item) => item.kind === "run.cancelled" && item.run === run);
  if (told) {
    // Whoever said it may have been stopped before it could wake anybody.
    await wake(deps, told);
    return;
  }
  const command: InboxItem = { v: protocolVersion, kind: "run.cancelled", at: deps.clock.now(), session, run, reason };
  await sendCommand(deps, command);
}

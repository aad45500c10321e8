import type { InboxItem } from "@troupe/core";
import { type EffectOf, protocolVersion } from "@troupe/core/internal";
import { retryUntilDone } from "../retry-until-done.ts";
import { sendCommand, wakeParkedRuns } from "../run/send-command.ts";
import type { EffectScope, Perform } from "./effect.ts";

/**
 * Cancels a child and all runs below it, wherever they are. The command is stored once, also if the parent moves to
 * another host. The child's response goes to the `runChild` effect.
 */
export const cancelChild: Perform<"cancelChild"> = async (effect, scope) => {
  await retryUntilDone(() => sendCancel(effect, scope), "child could not be told to stop; trying again", scope);
  return null;
};

async function sendCancel({ request, reason }: EffectOf<"cancelChild">, { deps }: EffectScope): Promise<void> {
  const { session, run } = request;
  const items = (await deps.journal.readInbox(session)).map(({ item }) => item);
  const sent = items.find((item) => item.kind === "run.cancelled" && item.run === run);
  if (sent) {
    // The earlier host may have stopped after it stored the command and before it offered the parked runs.
    await wakeParkedRuns(deps, sent);
    return;
  }
  const command: InboxItem = { v: protocolVersion, kind: "run.cancelled", at: deps.clock.now(), session, run, reason };
  await sendCommand(deps, command);
}

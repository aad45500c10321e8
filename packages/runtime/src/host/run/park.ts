import { type Entry, type Journal, type RunRequest, TroupeError } from "@troupe/core";
import { openEntry } from "@troupe/core/internal";
import type { HostDeps } from "../host-deps.ts";
import { offerRun } from "../offer-run.ts";
import { commandsFor, lastInboxSeq } from "./inbox.ts";

/** An inbox that cannot be read is read again after this time. */
const readAgainMs = 1_000;

/** Whether the run is parked until a person sends a command, going by its newest entry. */
export function isWaitingForPerson(last: Entry): boolean {
  return last.kind === "run.parked" && last.reason !== "drain";
}

/** Whether the session's inbox has a command for a run that the run's journal does not have. */
export async function hasNewCommand(journal: Journal, request: RunRequest, afterSeq: number): Promise<boolean> {
  const items = await journal.readInbox(request.session, afterSeq);
  return commandsFor(items, request, afterSeq).length > 0;
}

/** Whether a run is parked for a person and has no new command. Offering such a run would achieve nothing. */
export async function isParkedWithoutCommand(journal: Journal, texts: readonly string[]): Promise<boolean> {
  const last = texts.at(-1);
  if (last === undefined || !isWaitingForPerson(openEntry(last))) return false;
  const entries = texts.map(openEntry);
  const [opened] = entries;
  if (opened?.kind !== "run.opened") return false;
  return !(await hasNewCommand(journal, opened.request, lastInboxSeq(entries)));
}

/**
 * Offers a run that has just parked, if it has a new command. A command that arrives while the run parks finds the run
 * neither parked nor in memory, so without this check it would wait for the next command.
 *
 * @param afterSeq the newest command in the run's journal
 */
export async function offerIfCommandPending(deps: HostDeps, request: RunRequest, afterSeq: number): Promise<void> {
  const { journal, logger, clock } = deps;
  const { session, run } = request;
  try {
    if (!(await hasNewCommand(journal, request, afterSeq))) return;
    await offerRun(deps, request);
  } catch (error) {
    if (TroupeError.is(error) && error.code === "CLOSED") return;
    logger.error({ session, run, err: error }, "inbox could not be read after parking; trying again");
    clock.after(readAgainMs, () => void offerIfCommandPending(deps, request, afterSeq));
  }
}

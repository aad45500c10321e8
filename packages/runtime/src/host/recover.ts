import type { Journal, RunRequest, TaskQueue } from "@troupe/core";
import { beginsTurn, openEntry } from "@troupe/core/internal";
import { offerRun } from "./offer-run.ts";
import { stillWaits } from "./run/park.ts";

/**
 * Offers every run that has no terminal entry again, but those that wait for a person who has said nothing yet. Called
 * at start by whoever owns the journal; offering what is queued or held already changes nothing.
 *
 * @returns the runs that were offered
 */
export async function recoverOpenRuns(journal: Journal, queue: TaskQueue): Promise<string[]> {
  const open = await journal.openRuns();
  const offered: string[] = [];
  for (const { session, run, lastIndex } of open) {
    const request = lastIndex < 0 ? await requestedOf(journal, session, run) : await resumableOf(journal, session, run);
    if (!request) continue;
    await offerRun({ queue }, request);
    offered.push(run);
  }
  return offered;
}

/** What an open run was asked for; null for one that could do nothing but wait on. */
async function resumableOf(journal: Journal, session: string, run: string): Promise<RunRequest | null> {
  const texts = await journal.readRun(session, run);
  const [first] = texts;
  const opened = first === undefined ? null : openEntry(first);
  if (opened?.kind !== "run.opened" || (await stillWaits(journal, texts))) return null;
  return opened.request;
}

/** A turn of a session that was accepted but that no host had taken up yet. */
export async function requestedOf(journal: Journal, session: string, run: string): Promise<RunRequest | null> {
  for (const { item } of await journal.readInbox(session)) {
    if (beginsTurn(item) && item.request.run === run) return item.request;
  }
  return null;
}

import type { Entry, Journal, RunRequest } from "@troupe/core";
import { openEntry } from "@troupe/core/internal";
import { commandsFor, lastInboxSeq } from "../inbox.ts";

/** Whether a run has left memory until a person says something, going by its newest entry. */
export function isWaitingForPerson(last: Entry): boolean {
  return last.kind === "run.parked" && last.reason !== "drain";
}

/** Whether a session's inbox has something about a run that its journal does not have yet. */
export async function hasNewCommand(journal: Journal, request: RunRequest, afterSeq: number): Promise<boolean> {
  const items = await journal.readInbox(request.session, afterSeq);
  return commandsFor(items, request, afterSeq).length > 0;
}

/** Whether waking a run would lead to nothing: it waits for a person, and nobody has said anything since. */
export async function stillWaits(journal: Journal, texts: readonly string[]): Promise<boolean> {
  const last = texts.at(-1);
  if (last === undefined || !isWaitingForPerson(openEntry(last))) return false;
  const entries = texts.map(openEntry);
  const [opened] = entries;
  if (opened?.kind !== "run.opened") return false;
  return !(await hasNewCommand(journal, opened.request, lastInboxSeq(entries)));
}

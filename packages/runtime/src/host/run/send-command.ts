import type { InboxItem, Journal } from "@troupe/core";
import { openEntry } from "@troupe/core/internal";
import { announceInbox } from "../announce.ts";
import type { HostDeps } from "../host-deps.ts";
import { concernsRun } from "../inbox.ts";
import { offerRun } from "../offer-run.ts";

type Ports = Pick<HostDeps, "journal" | "queue" | "bus" | "subjects">;

/**
 * Says something about a session's runs so that it reaches them wherever they are: durable first, then announced to
 * those that live, then those that are parked are woken.
 *
 * @returns the place of the wish in the session's inbox
 */
export async function sendCommand(ports: Ports, item: InboxItem): Promise<{ seq: number }> {
  const stored = await ports.journal.appendInbox(item);
  announceInbox(ports, item.session);
  await wake(ports, item);
  return stored;
}

/**
 * Offers every parked run that a wish concerns. Called when the wish is in the inbox: a run that parks at the same
 * time looks there once more after it has parked, so that one of the two sees the other.
 *
 * @returns the runs that were offered
 */
export async function wake({ journal, queue }: Pick<Ports, "journal" | "queue">, item: InboxItem): Promise<string[]> {
  const woken: string[] = [];
  for (const run of await parkedRuns(journal, item.session)) {
    const [first] = await journal.readRun(item.session, run);
    const opened = first === undefined ? null : openEntry(first);
    if (opened?.kind !== "run.opened" || !concernsRun(item, opened.request)) continue;
    await offerRun({ queue }, opened.request);
    woken.push(run);
  }
  return woken;
}

/** Runs of a session that are looked at together. */
const lookedAtOnce = 100;

async function parkedRuns(journal: Journal, session: string): Promise<string[]> {
  // A run that has only been opened is not parked.
  const moved = (await journal.openRuns({ session })).filter(({ lastIndex }) => lastIndex > 0);
  const parked: string[] = [];
  for (let first = 0; first < moved.length; first += lookedAtOnce) {
    const some = moved.slice(first, first + lookedAtOnce);
    const last = await Promise.all(some.map(({ run }) => journal.lastOf(session, run)));
    parked.push(...some.filter((_, i) => isParked(last[i] ?? null)).map(({ run }) => run));
  }
  return parked;
}

/** Most runs are at work: those are told by their words alone, because to read an entry costs far more. */
function isParked(text: string | null): boolean {
  return text?.includes('"run.parked"') === true && openEntry(text).kind === "run.parked";
}

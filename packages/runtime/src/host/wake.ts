import { encode, type InboxItem, openEntry } from "@troupe/core";
import { announceInbox } from "./announce.ts";
import { concernsRun } from "./inbox.ts";
import type { World } from "./world.ts";

type Ports = Pick<World, "journal" | "queue" | "bus" | "subjects">;

/**
 * Says something about a session's runs so that it reaches them wherever they are: durable first, then announced to
 * those that live, then those that are parked are woken.
 *
 * @returns the place of the wish in the session's inbox
 */
export async function sendWish(ports: Ports, item: InboxItem): Promise<{ seq: number }> {
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
  for (const { session, run, lastIndex } of await journal.openRuns({ session: item.session })) {
    const last = lastIndex < 0 ? null : await journal.lastOf(session, run);
    if (last === null || openEntry(last).kind !== "run.parked") continue;
    const [first] = await journal.readRun(session, run);
    const opened = first === undefined ? null : openEntry(first);
    if (opened?.kind !== "run.opened" || !concernsRun(item, opened.request)) continue;
    await queue.offer({ run, agent: opened.request.agent, place: "any", bytes: encode(opened.request) });
    woken.push(run);
  }
  return woken;
}

import type { InboxItem, Journal } from "@troupe/core";
import { encode, openEntry, protocolVersion } from "@troupe/core/internal";
import type { HostDeps } from "../host-deps.ts";
import { offerRun } from "../offer-run.ts";
import { concernsRun } from "./inbox.ts";

type CommandPorts = Pick<HostDeps, "journal" | "queue" | "bus" | "subjects">;

/**
 * Sends a command to the runs of a session, wherever they are. The command is stored first, then announced to runs in
 * memory, then the parked runs that it concerns are offered.
 *
 * @returns the position of the command in the session's inbox
 */
export async function sendCommand(ports: CommandPorts, item: InboxItem): Promise<{ seq: number }> {
  const stored = await ports.journal.appendInbox(item);
  announceInbox(ports, item.session);
  await wakeParkedRuns(ports, item);
  return stored;
}

/** Tells all hosts that a session's inbox has a new item. */
export function announceInbox({ bus, subjects }: Pick<CommandPorts, "bus" | "subjects">, session: string): void {
  bus.publish(subjects.control("all"), encode({ v: protocolVersion, kind: "inbox.announced", session }));
}

/**
 * Offers every parked run that a command concerns. Call it after the command is in the inbox: a run that parks at the
 * same time reads the inbox after it has parked, so one of the two notices the other.
 *
 * @returns the offered runs
 */
export async function wakeParkedRuns(
  { journal, queue }: Pick<CommandPorts, "journal" | "queue">,
  item: InboxItem,
): Promise<string[]> {
  const offered: string[] = [];
  for (const run of await parkedRuns(journal, item.session)) {
    const [first] = await journal.readRun(item.session, run);
    const opened = first === undefined ? null : openEntry(first);
    if (opened?.kind !== "run.opened" || !concernsRun(item, opened.request)) continue;
    await offerRun({ queue }, opened.request);
    offered.push(run);
  }
  return offered;
}

/** How many runs of a session are read concurrently. */
const concurrentReads = 100;

async function parkedRuns(journal: Journal, session: string): Promise<string[]> {
  // A run with one entry was only opened, so it is not parked.
  const candidates = (await journal.openRuns({ session })).filter(({ lastIndex }) => lastIndex > 0);
  const parked: string[] = [];
  for (let first = 0; first < candidates.length; first += concurrentReads) {
    const batch = candidates.slice(first, first + concurrentReads);
    const last = await Promise.all(batch.map(({ run }) => journal.lastOf(session, run)));
    parked.push(...batch.filter((_, i) => isParked(last[i] ?? null)).map(({ run }) => run));
  }
  return parked;
}

/** Most runs are not parked. The text search avoids the cost of parsing their entries. */
function isParked(text: string | null): boolean {
  return text?.includes('"run.parked"') === true && openEntry(text).kind === "run.parked";
}

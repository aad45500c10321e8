import { type Clock, type Logger, TroupeError } from "@troupe/core";
import type { NatsJournal, SettledSession } from "./journal.ts";

type PurgeableJournal = Pick<NatsJournal, "settledSessions" | "followers" | "purgeSession" | "tail">;

export interface PurgeOptions {
  journal: PurgeableJournal;
  /** Minimum time since a session settled, by the server's clock. */
  olderThanMs: number;
  clock: Pick<Clock, "now">;
  /** Reports without purging. @default false */
  dryRun?: boolean;
}

export interface PurgeReport {
  /** Sessions that were purged, or that a dry run would purge. */
  purged: SettledSession[];
  /** Sessions that are old enough, but not stored by every follower. They stay. */
  lacked: SettledSession[];
  /** Followers that have not stored all of those. Empty if the journal has no followers: then no copy exists. */
  lackedBy: string[];
}

const msPerDay = 86_400_000;

/**
 * Purges settled sessions that every follower has stored. Without followers nothing is purged, because no copy exists. The
 * session with the newest item of the journal stays: positions must never go back. Messages that are written to a session
 * during the purge stay, too.
 *
 * @example
 * const { purged } = await purgeSettled({ journal, olderThanMs: 7 * 86_400_000, clock: systemClock() });
 */
export async function purgeSettled({
  journal,
  olderThanMs,
  clock,
  dryRun = false,
}: PurgeOptions): Promise<PurgeReport> {
  const settledBefore = clock.now() - olderThanMs;
  const settled = await journal.settledSessions();
  const tail = await journal.tail();
  const old = settled.filter(({ endedAtMs, position }) => endedAtMs <= settledBefore && position < tail);
  const followers = await journal.followers();
  const hasStored = (session: SettledSession) => (follower: { position: number }) =>
    follower.position >= session.position;
  const isStored = (session: SettledSession): boolean => followers.length > 0 && followers.every(hasStored(session));
  const lacked = old.filter((session) => !isStored(session));
  const purged: SettledSession[] = [];
  for (const each of old.filter(isStored)) {
    if (dryRun || (await journal.purgeSession(each.session, each.position))) purged.push(each);
  }
  const lackedBy = followers.filter((follower) => lacked.some((session) => !hasStored(session)(follower)));
  return { purged, lacked, lackedBy: lackedBy.map(({ follower }) => follower) };
}

export interface PurgingOptions {
  journal: PurgeableJournal;
  /** Days that a settled session stays in the journal; 0 keeps it for ever. */
  keepDays: number;
  clock: Clock;
  logger: Logger;
  /** Interval between two purges. @default 1 hour */
  everyMs?: number;
}

/**
 * Purges periodically, for the first time after one interval. Several processes may do it for the same journal. Returns a
 * function that stops it.
 *
 * @example
 * const stop = startPurging({ journal, keepDays: 7, clock: systemClock(), logger });
 */
export function startPurging({ journal, keepDays, clock, logger, everyMs = 3_600_000 }: PurgingOptions): () => void {
  if (keepDays === 0) return () => {};
  let stopped = false;
  let cancel = (): void => {};
  const purge = async (): Promise<void> => {
    try {
      const { purged, lacked, lackedBy } = await purgeSettled({ journal, olderThanMs: keepDays * msPerDay, clock });
      if (purged.length > 0) logger.info({ sessions: purged.length }, "old sessions were purged from the journal");
      if (lacked.length > 0) logger.warn({ sessions: lacked.length, lackedBy }, whyNotPurged(lackedBy));
    } catch (err) {
      if (stopped || (TroupeError.is(err) && err.code === "CLOSED")) return;
      logger.warn({ err }, "old sessions cannot be purged from the journal; trying again");
    }
    if (!stopped) cancel = clock.after(everyMs, () => void purge());
  };
  cancel = clock.after(everyMs, () => void purge());
  return () => {
    stopped = true;
    cancel();
  };
}

function whyNotPurged(lackedBy: readonly string[]): string {
  if (lackedBy.length === 0) return "old sessions stay in the journal: no recorder follows it";
  return "old sessions stay in the journal: a recorder has not stored some of them (troupe nats check)";
}

import type { Logger } from "@troupe/core";
import { type Clock, TroupeError } from "@troupe/core";
import type { NatsJournal, SettledSession } from "./journal.ts";

type PurgeableJournal = Pick<NatsJournal, "settledSessions" | "followers" | "purgeSession" | "tail">;

export interface PurgeOptions {
  journal: PurgeableJournal;
  /** Sessions that have settled at least so long ago, by the server's clock. */
  olderThanMs: number;
  clock: Pick<Clock, "now">;
  /** Only says what would be done. @default false */
  dryRun?: boolean;
}

export interface PurgeReport {
  /** Let go of, or what would be. */
  purged: SettledSession[];
  /** Old enough, and kept because somebody does not have all of it. */
  lacked: SettledSession[];
  /** Followers who lack any of those; empty as well where nobody follows, so that nobody has a copy. */
  lackedBy: string[];
}

const msPerDay = 86_400_000;

/**
 * Lets go of sessions that have settled and that every follower has for good. Where nobody follows, nobody has them, and
 * all of them stay. What is written of a session meanwhile stays too, and so does the session that has the newest item of
 * all: positions never go back.
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
  const before = clock.now() - olderThanMs;
  const settled = await journal.settledSessions();
  const tail = await journal.tail();
  const old = settled.filter(({ endedAtMs, position }) => endedAtMs <= before && position < tail);
  const followers = await journal.followers();
  const has = (session: SettledSession) => (follower: { position: number }) => follower.position >= session.position;
  const isKept = (session: SettledSession): boolean => followers.length > 0 && followers.every(has(session));
  const lacked = old.filter((session) => !isKept(session));
  const purged: SettledSession[] = [];
  for (const each of old.filter(isKept)) {
    if (dryRun || (await journal.purgeSession(each.session, each.position))) purged.push(each);
  }
  const lackedBy = followers.filter((follower) => lacked.some((session) => !has(session)(follower)));
  return { purged, lacked, lackedBy: lackedBy.map(({ follower }) => follower) };
}

export interface PurgingOptions {
  journal: PurgeableJournal;
  /** Days that a settled session stays; 0: for ever. */
  keepDays: number;
  clock: Clock;
  logger: Logger;
  /** @default 1 hour */
  everyMs?: number;
}

/** Purges again and again, the first time after one such pause. Several processes may. Returns what stops it. */
export function startPurging({ journal, keepDays, clock, logger, everyMs = 3_600_000 }: PurgingOptions): () => void {
  if (keepDays === 0) return () => {};
  let stopped = false;
  let cancel = (): void => {};
  const purge = async (): Promise<void> => {
    try {
      const { purged, lacked, lackedBy } = await purgeSettled({ journal, olderThanMs: keepDays * msPerDay, clock });
      if (purged.length > 0) logger.info({ sessions: purged.length }, "old sessions were let go of in the journal");
      if (lacked.length > 0) logger.warn({ sessions: lacked.length, lackedBy }, whyLacked(lackedBy));
    } catch (err) {
      if (stopped || (TroupeError.is(err) && err.code === "CLOSED")) return;
      logger.warn({ err }, "old sessions cannot be let go of at the moment");
    }
    if (!stopped) cancel = clock.after(everyMs, () => void purge());
  };
  cancel = clock.after(everyMs, () => void purge());
  return () => {
    stopped = true;
    cancel();
  };
}

function whyLacked(lackedBy: readonly string[]): string {
  if (lackedBy.length === 0) return "old sessions stay in the journal: nobody records them";
  return "old sessions stay in the journal: a recorder lacks some of them (troupe nats check)";
}

import { existsSync } from "node:fs";
import { silentLogger, TroupeError } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import {
  checkStreams,
  createNatsBlobs,
  createNatsJournal,
  type Drift,
  type NatsJournal,
  type NatsLink,
  type PurgeReport,
  purgeSettled,
  type RestoreReport,
  restoreNatsJournal,
  type StreamCopies,
  serverWarnings,
} from "@troupe/nats";
import { type CopyInspection, openRecord, type RecordStore, readRecordOrigin } from "@troupe/recorder";
import { homeFiles, keepDaysDefault, type NatsFlags, type OwnedHome, selectRecord } from "troupe/internal";
import { findServer, type NatsCheckOptions, openServerLink, type ServerConnection } from "./server.ts";

/** Maintenance of the streams on a server. */
export interface StreamMaintenance {
  check(options: StreamOptions): Promise<StreamFacts>;
  purge(options: StreamOptions & { olderThanDays: number | null; dryRun: boolean }): Promise<PurgeFacts>;
  /** Needs the home's lock. Rejects with `DATABASE_DAMAGED` if the record is damaged, unless `withoutDamaged` is set. */
  restore(options: StreamOptions & RestoreRequest & { home: OwnedHome }): Promise<RestoreFacts>;
}

export interface StreamOptions extends NatsCheckOptions {
  nats: NatsFlags;
}

export interface RestoreRequest {
  /** Leaves out damaged sessions instead of rejecting. */
  withoutDamaged: boolean;
  /** Also restores sessions that are old enough to be purged. */
  all: boolean;
  onProgress?: (done: number, of: number) => void;
}

export interface StreamFacts {
  server: string;
  version: string;
  namespace: string;
  /** Id and last position of the journal; null if there is no stream. */
  journal: { id: string; tail: number } | null;
  missing: string[];
  drift: Drift[];
  /** Copies of each stream; empty on a single server. */
  copies: StreamCopies[];
  /** Recorders, and how many messages each is behind. `own`: the recorder of this home. */
  followers: { follower: string; behind: number; own: boolean }[];
  /**
   * This home's record: its journal, whether that is the one on the server, and how many messages the server has lost. Null
   * if there is no record.
   */
  record: { journal: string | null; isSame: boolean; ahead: number } | null;
  warnings: string[];
}

export interface PurgeFacts extends PurgeReport {
  namespace: string;
  olderThanDays: number;
  dryRun: boolean;
}

export interface RestoreFacts extends Omit<CopyInspection, "items">, RestoreReport {
  namespace: string;
  journal: string;
  /** Damaged sessions that were left out. */
  leftOut: string[];
}

const msPerDay = 86_400_000;
/** Positions that one message takes in the journal. */
const positionsPerMessage = 4_096;

export const streamMaintenance: StreamMaintenance = {
  check: (options) => withServer(options, (session) => check(session, options)),
  purge: (options) => withServer(options, (session) => purge(session, options)),
  restore: (options) => withServer(options, (session) => restore(session, options)),
};

interface ServerSession {
  link: NatsLink;
  connection: ServerConnection;
}

async function withServer<T>(options: StreamOptions, use: (session: ServerSession) => Promise<T>): Promise<T> {
  const connection = await findServer(options);
  if (connection.kind !== "server") throw noServer();
  const link = await openServerLink(connection, "troupe-nats");
  try {
    return await use({ link, connection });
  } finally {
    await link.close();
  }
}

function noServer(): TroupeError {
  return new TroupeError("USAGE", "no NATS server is configured", { fix: "name one: --nats nats://host:4222" });
}

async function check({ link, connection }: ServerSession, { home }: StreamOptions): Promise<StreamFacts> {
  const { namespace, settings } = connection;
  const { info } = link.connection;
  const { journalId, missing, drift, copies } = await checkStreams({ link, namespace, settings });
  const own = ownOrigin(home, journalId);
  const positions = journalId === null ? null : await withJournal({ link, connection }, readPositions);
  const ahead =
    own?.isSame && positions ? Math.max(0, Math.ceil((own.position - positions.tail) / positionsPerMessage)) : 0;
  return {
    server: link.redactedUrl,
    version: info?.version ?? "unknown",
    namespace,
    journal: positions && journalId !== null ? { id: journalId, tail: positions.tail } : null,
    missing,
    drift,
    copies,
    followers: (positions?.followers ?? []).map(({ follower, position }) => ({
      follower,
      behind: Math.max(0, Math.ceil(((positions?.tail ?? 0) - position) / positionsPerMessage)),
      own: follower === own?.follower,
    })),
    record: own && { journal: own.journal, isSame: own.isSame, ahead },
    warnings: info ? serverWarnings(info) : [],
  };
}

async function readPositions(journal: NatsJournal) {
  const [tail, followers] = await Promise.all([journal.tail(), journal.followers()]);
  return { tail, followers };
}

function ownOrigin(home: StreamOptions["home"], journalId: string | null) {
  const file = homeFiles(home).record;
  const origin = existsSync(file) ? readRecordOrigin({ file }) : null;
  return origin && { ...origin, isSame: origin.journal === null || origin.journal === journalId };
}

async function purge(
  session: ServerSession,
  options: StreamOptions & { olderThanDays: number | null; dryRun: boolean },
): Promise<PurgeFacts> {
  const { namespace, keepDays } = session.connection;
  const olderThanDays = options.olderThanDays ?? keepDays ?? keepDaysDefault;
  const { dryRun } = options;
  const olderThanMs = olderThanDays * msPerDay;
  const report = await withJournal(session, (journal) =>
    purgeSettled({ journal, olderThanMs, clock: systemClock(), dryRun }),
  );
  return { namespace, olderThanDays, dryRun, ...report };
}

async function restore(
  session: ServerSession,
  options: StreamOptions & RestoreRequest & { home: OwnedHome },
): Promise<RestoreFacts> {
  const { home, withoutDamaged, all, onProgress } = options;
  const { link, connection } = session;
  const { namespace, settings, keepDays } = connection;
  await selectRecord(home, `nats-${namespace}`);
  const file = homeFiles(home).record;
  const record = await openRecord({ file });
  try {
    const journal = record.origin().journal;
    if (journal === null) throw nothingRecorded(file, namespace);
    const days = keepDays ?? keepDaysDefault;
    const recent = all || days === 0 ? {} : { settledSince: new Date(Date.now() - days * msPerDay) };
    const { items, ...inspected } = await record.copy.inspect(recent);
    const [worst] = inspected.damage;
    if (worst && !withoutDamaged) throw damagedCopy(file, worst, inspected.damage.length);
    const without = new Set(inspected.damage.map(({ session }) => session));
    const report = await restoreNatsJournal({
      ...{ link, namespace, settings },
      copy: { journal, position: record.cursor().position },
      items: record.copy.items({ ...recent, without }),
      clock: systemClock(),
      logger: silentLogger,
      onProgress: (done) => onProgress?.(done, items),
    });
    rewindRecord(record, report);
    return { namespace, journal, ...inspected, ...report, leftOut: [...without] };
  } finally {
    record.close();
  }
}

/** After a restore into an existing stream the recorder reads from the start, because its position can be wrong. */
function rewindRecord(record: RecordStore, { created }: RestoreReport): void {
  if (!created) record.rewind();
}

async function withJournal<T>(
  { link, connection }: ServerSession,
  use: (journal: NatsJournal) => Promise<T>,
): Promise<T> {
  const shared = { link, namespace: connection.namespace, clock: systemClock() };
  const journal = await createNatsJournal({ ...shared, blobs: createNatsBlobs(shared), logger: silentLogger });
  try {
    return await use(journal);
  } finally {
    await journal.close();
  }
}

function nothingRecorded(file: string, namespace: string): TroupeError {
  return new TroupeError("JOURNAL_LOST", `${file} has no sessions of the namespace ${namespace}`, {
    fix: "restore from a home whose daemon has recorded it: TROUPE_HOME=<folder> troupe nats restore",
  });
}

function damagedCopy(file: string, worst: CopyInspection["damage"][number], count: number): TroupeError {
  const { session, run, index, reason } = worst;
  const what = run === null ? `item ${index} of the inbox of session ${session}` : `entry ${index} of run ${run}`;
  const more = count > 1 ? `, and ${count - 1} more are damaged` : "";
  return new TroupeError("DATABASE_DAMAGED", `${file} is damaged: ${what} ${reason}${more}`, {
    fix: "restore from another daemon's home, or leave out damaged sessions: troupe nats restore --without-damaged",
  });
}

import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, Logger, SessionRow } from "@troupe/core";
import type { SessionArchive } from "@troupe/core/internal";
import type { RecordStore } from "@troupe/recorder";
import { openSqlite } from "@troupe/recorder/internal";
import { type Home, homeFiles } from "../home/home.ts";

export interface RetentionOptions {
  home: Home;
  /** Null: no limit. */
  maxAgeMs: number | null;
  maxBytes: number | null;
  record: Pick<RecordStore, "reader">;
  archive: SessionArchive;
  clock: Clock;
  logger: Logger;
}

/** Sessions that settled or were continued within this time are in use. */
const recentMs = 3_600_000;
const everyMs = 3_600_000;
const sessionsMax = 1_000_000;

/**
 * Deletes old settled sessions now and every hour, until it is stopped.
 *
 * @example
 * cleanup.add(startRetention({ home, maxAgeMs: 90 * 86_400_000, maxBytes: null, record, archive, clock, logger }));
 */
export function startRetention(options: RetentionOptions): () => Promise<void> {
  const { clock, logger, maxAgeMs, maxBytes } = options;
  if (maxAgeMs === null && maxBytes === null) return async () => {};
  let cancel = (): void => {};
  let isStopped = false;
  const pass = async (): Promise<void> => {
    try {
      const removed = await applyRetention(options);
      if (removed.length > 0) logger.info({ sessions: removed }, "the retention removed old sessions");
    } catch (err) {
      logger.error({ err }, "the retention could not remove old sessions");
    }
    if (!isStopped) cancel = clock.after(everyMs, start);
  };
  let running: Promise<void> = Promise.resolve();
  const start = (): void => {
    running = pass();
  };
  start();
  return async () => {
    isStopped = true;
    cancel();
    await running;
  };
}

/** Returns the removed sessions. */
export async function applyRetention(options: RetentionOptions): Promise<string[]> {
  const { maxAgeMs, maxBytes, archive, clock } = options;
  const now = clock.now();
  const old = maxAgeMs === null ? [] : (await unusedSessions(options)).filter((row) => settledAt(row) < now - maxAgeMs);
  const removed = old.length === 0 ? [] : (await archive.remove(old.map(({ session }) => session))).removed;
  if (maxBytes === null) return removed;
  for (const { session } of await unusedSessions(options)) {
    if ((await storedBytes(options.home)) <= maxBytes) break;
    removed.push(...(await archive.remove([session])).removed);
  }
  return removed;
}

/** Settled sessions that are not in use, oldest first. */
async function unusedSessions({ record, clock }: RetentionOptions): Promise<SessionRow[]> {
  const rows = await record.reader.sessions({ limit: sessionsMax });
  const before = clock.now() - recentMs;
  return rows
    .filter((row) => row.completedAt !== null && row.runsActive === 0 && settledAt(row) < before)
    .sort((one, other) => settledAt(one) - settledAt(other));
}

function settledAt({ completedAt, turnStartedAt }: SessionRow): number {
  return Math.max(Date.parse(completedAt ?? ""), turnStartedAt === null ? 0 : Date.parse(turnStartedAt));
}

/** Bytes in use by journal, record and blobs. A database keeps the pages of deleted rows for new ones. */
async function storedBytes(home: Home): Promise<number> {
  const { journal, record, blobs } = homeFiles(home);
  const names = await readdir(blobs, { recursive: true }).catch(() => []);
  const sizes = await Promise.all(
    names.map(async (name) => (await stat(join(blobs, name)).catch(() => null))?.size ?? 0),
  );
  return usedBytes(journal) + usedBytes(record) + sizes.reduce((sum, size) => sum + size, 0);
}

function usedBytes(file: string): number {
  if (!existsSync(file)) return 0;
  const database = openSqlite(file, { readOnly: true });
  try {
    const [pages, free, size] = ["page_count", "freelist_count", "page_size"].map((name) =>
      Number(database.pragma(name)),
    );
    return ((pages ?? 0) - (free ?? 0)) * (size ?? 0);
  } finally {
    database.close();
  }
}

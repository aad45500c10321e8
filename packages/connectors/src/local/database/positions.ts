import type { OfficeDatabase } from "./office-database.ts";

const perMillisecond = 1_024;
/** The year 2200. A later time would make a position that JavaScript cannot hold. */
const latestMs = Date.UTC(2200, 0, 1);

/** The first position of a time. */
export function positionAt(atMs: number): bigint {
  return BigInt(Math.trunc(Math.min(Math.max(atMs, 0), latestMs))) * BigInt(perMillisecond);
}

/** The time of a position. */
export function timeOfPosition(position: number): number {
  return Math.floor(position / perMillisecond);
}

/** A position for a new row of this time. Rows of the same millisecond keep the order of their arrival. */
export function freePosition(database: OfficeDatabase, table: "messages" | "channel_messages", atMs: number): bigint {
  const first = positionAt(atMs);
  const next = first + BigInt(perMillisecond);
  const newest = database.get<{ position: number | null }>(
    `SELECT max(position) AS position FROM ${table} WHERE position >= ? AND position < ?`,
    first,
    next,
  )?.position;
  return newest === null || newest === undefined ? first : BigInt(newest) + 1n;
}

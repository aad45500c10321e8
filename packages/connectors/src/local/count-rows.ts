import type { LocalOffice } from "./open-local-office.ts";

/** Rows of a local office. Messages are those of the user's own mailbox. */
export interface OfficeCounts {
  messages: number;
  events: number;
  contacts: number;
  channels: number;
  channelMessages: number;
}

/**
 * Counts the rows of a local office.
 *
 * @example
 * countRows(office).messages; // 0 in a new office
 */
export function countRows({ account: { database, mailbox } }: LocalOffice): OfficeCounts {
  const count = (sql: string, ...values: number[]): number => database.get<{ n: number }>(sql, ...values)?.n ?? 0;
  return {
    messages: count("SELECT count(*) AS n FROM messages WHERE mailbox = ?", mailbox),
    events: count("SELECT count(*) AS n FROM events WHERE series IS NULL"),
    contacts: count("SELECT count(*) AS n FROM contacts"),
    channels: count("SELECT count(*) AS n FROM channels"),
    channelMessages: count("SELECT count(*) AS n FROM channel_messages"),
  };
}

import type { WebhookEvent, WebhookRow } from "@troupe/core/internal";
import { type DatabaseSpec, openDatabase, openToRead } from "@troupe/recorder/internal";

/** A webhook as it is stored. The secret of a configured one is in a variable, and never here. */
export interface StoredWebhook {
  id: string;
  url: string;
  events: WebhookEvent[];
  secret: string | null;
  origin: "config" | "user";
  createdAtMs: number;
}

/** A message for one webhook. Its id is derived from the event, so a repeated event is the same message. */
export interface WebhookMessage {
  webhook: string;
  id: string;
  body: string;
}

export interface OpenMessage extends WebhookMessage {
  /** Failed attempts so far. */
  tries: number;
}

type StoredRow = Omit<StoredWebhook, "events" | "createdAtMs"> & { events: string; created_at: number };
type Counts = Pick<WebhookRow, "open" | "delivered" | "dead" | "lastError">;

const databaseOf = (file: string): DatabaseSpec => ({
  file,
  applicationId: 0x74_72_77_68,
  migrations: [
    `CREATE TABLE webhooks (
       id TEXT PRIMARY KEY, url TEXT NOT NULL, events TEXT NOT NULL, secret TEXT, origin TEXT NOT NULL,
       created_at INTEGER NOT NULL
     ) STRICT;
     CREATE TABLE messages (
       webhook TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE, id TEXT NOT NULL, body TEXT NOT NULL,
       state TEXT NOT NULL, tries INTEGER NOT NULL, due_at INTEGER NOT NULL, created_at INTEGER NOT NULL, error TEXT,
       PRIMARY KEY (webhook, id)
     ) STRICT;
     CREATE INDEX messages_due ON messages (webhook, due_at) WHERE state = 'open';
     CREATE TABLE cursor (one INTEGER PRIMARY KEY CHECK (one = 1), position INTEGER NOT NULL) STRICT;`,
  ],
  // The record can make every message again from the cursor, which is in the same file: an older state loses nothing.
  synchronous: "NORMAL",
  whenDamaged: `mv ${file} ${file}.damaged   # then add the webhooks again`,
});

const webhookColumns = "id, url, events, secret, origin, created_at";

/** Opens the file with the webhooks and their messages. Only this user can read it: it has secrets. */
export function openWebhookStore(file: string) {
  const database = openDatabase(databaseOf(file));
  const all = database.prepare<[], StoredRow>(`SELECT ${webhookColumns} FROM webhooks ORDER BY created_at, id`);
  const put = database.prepare<[string, string, string, string | null, string, number]>(
    `INSERT INTO webhooks (${webhookColumns}) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET events = excluded.events`,
  );
  const drop = database.prepare<[string]>("DELETE FROM webhooks WHERE id = ?");
  const addMessage = database.prepare<[string, string, string, number, number]>(
    `INSERT INTO messages (webhook, id, body, state, tries, due_at, created_at) VALUES (?, ?, ?, 'open', 0, ?, ?)
       ON CONFLICT DO NOTHING`,
  );
  const due = database.prepare<[string, number], OpenMessage>(
    `SELECT webhook, id, body, tries FROM messages
       WHERE state = 'open' AND webhook = ? AND due_at <= ? ORDER BY due_at, rowid LIMIT 1`,
  );
  const nextDue = database.prepareValue<[], number | null>("SELECT min(due_at) FROM messages WHERE state = 'open'");
  const openCount = database.prepareValue<[], number>("SELECT count(*) FROM messages WHERE state = 'open'");
  const finish = database.prepare<[string, number, string | null, string, string]>(
    // The body of a message that is given up stays: it can be sent again.
    "UPDATE messages SET state = ?1, tries = ?2, error = ?3, body = iif(?1 = 'dead', body, '') WHERE webhook = ?4 AND id = ?5",
  );
  const postpone = database.prepare<[number, number, string, string, string]>(
    "UPDATE messages SET tries = ?, due_at = ?, error = ? WHERE webhook = ? AND id = ?",
  );
  const prune = database.prepare<[number]>("DELETE FROM messages WHERE state = 'delivered' AND created_at < ?");
  const forgetDead = database.prepare<[number]>(
    "UPDATE messages SET body = '' WHERE state = 'dead' AND created_at < ? AND body <> ''",
  );
  const revive = database.prepare<[number, string, number]>(
    `UPDATE messages SET state = 'open', tries = 0, due_at = ? WHERE rowid IN (
       SELECT rowid FROM messages WHERE webhook = ? AND state = 'dead' AND body <> '' ORDER BY rowid
       LIMIT CAST(? AS INTEGER))`,
  );
  const position = database.prepareValue<[], number>("SELECT position FROM cursor");
  const setPosition = database.prepare<[number]>(
    "INSERT INTO cursor (one, position) VALUES (1, ?) ON CONFLICT DO UPDATE SET position = excluded.position",
  );
  const countsOf = database.prepare<[string], Counts>(countsQuery);

  /** Returns false if the queue is full before all are in it. */
  const addAll = database.transaction(
    (messages: readonly WebhookMessage[], nowMs: number, queueMax: number): boolean => {
      let left = queueMax - (openCount.get() ?? 0);
      for (const { webhook, id, body } of messages) {
        if (left <= 0) return false;
        left -= Number(addMessage.run(webhook, id, body, nowMs, nowMs).changes);
      }
      return true;
    },
  );

  return {
    list: (): StoredWebhook[] => all.all().map(toWebhook),
    countsOf: (id: string): Counts => countsOf.get(id) ?? noCounts,
    put({ id, url, events, secret, origin, createdAtMs }: StoredWebhook): void {
      put.run(id, url, JSON.stringify(events), secret, origin, createdAtMs);
    },
    remove: (id: string): void => void drop.run(id),
    addAll,
    /** The first message of a webhook that is due; null for none. */
    due: (webhook: string, nowMs: number): OpenMessage | null => due.get(webhook, nowMs) ?? null,
    nextDue: (): number | null => nextDue.get() ?? null,
    openCount: (): number => openCount.get() ?? 0,
    delivered: ({ webhook, id, tries }: OpenMessage): void =>
      void finish.run("delivered", tries + 1, null, webhook, id),
    died: ({ webhook, id, tries }: OpenMessage, error: string): void =>
      void finish.run("dead", tries + 1, error, webhook, id),
    postpone: ({ webhook, id, tries }: OpenMessage, dueAtMs: number, error: string): void =>
      void postpone.run(tries + 1, dueAtMs, error, webhook, id),
    /** Makes all open messages due: after a restart, nothing waits for an old delay. */
    makeDue: (nowMs: number): void =>
      void database.prepare<[number]>("UPDATE messages SET due_at = ? WHERE state = 'open'").run(nowMs),
    /** Returns how many messages are open again. The queue takes no more than `queueMax`. */
    revive: database.transaction((webhook: string, nowMs: number, queueMax: number): number => {
      const space = Math.max(0, queueMax - (openCount.get() ?? 0));
      return Number(revive.run(nowMs, webhook, space).changes);
    }),
    prune(beforeMs: number): void {
      prune.run(beforeMs);
      forgetDead.run(beforeMs);
    },
    position: (): number | null => position.get() ?? null,
    setPosition: (value: number): void => void setPosition.run(value),
    close: (): void => database.close(),
  };
}

export type WebhookStore = ReturnType<typeof openWebhookStore>;

/** Reads the webhooks of a home that no process runs. */
export function readStoredWebhooks(file: string): WebhookRow[] {
  const database = openToRead(databaseOf(file));
  try {
    const counts = database.prepare<[string], Counts>(countsQuery);
    const rows = database
      .prepare<[], StoredRow>(`SELECT ${webhookColumns} FROM webhooks ORDER BY created_at, id`)
      .all();
    return rows.map((row) => toRow(toWebhook(row), counts.get(row.id) ?? noCounts));
  } finally {
    database.close();
  }
}

/** The row of a webhook for people: without its secret. */
export function toRow({ id, url, events, origin, createdAtMs }: StoredWebhook, counts: Counts): WebhookRow {
  return { id, url, events, origin, createdAt: new Date(createdAtMs).toISOString(), ...counts };
}

const countsQuery = `SELECT
    count(*) FILTER (WHERE state = 'open') AS open, count(*) FILTER (WHERE state = 'delivered') AS delivered,
    count(*) FILTER (WHERE state = 'dead') AS dead,
    (SELECT error FROM messages WHERE webhook = m.webhook AND error IS NOT NULL ORDER BY rowid DESC LIMIT 1) AS lastError
  FROM messages m WHERE webhook = ?`;

const noCounts: Counts = { open: 0, delivered: 0, dead: 0, lastError: null };

function toWebhook({ events, created_at: createdAtMs, ...row }: StoredRow): StoredWebhook {
  return { ...row, events: JSON.parse(events), createdAtMs };
}

/**
 * The SQL at index n migrates version n to n + 1. A released migration never changes.
 *
 * A `position` orders messages by time: the milliseconds since 1970, times 1024, plus a number that makes it unique. Search
 * reads an index in the order of positions, so the newest hits of a frequent word cost as little as those of a rare one.
 *
 * `occurrences` holds every start of every event. Those of a recurring event are computed up to `expanded_to_ms`, and
 * further when a query needs them. Free time is then one lookup in an index, however many rules there are.
 */
export const tables: readonly string[] = [
  `
CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE mailboxes (id INTEGER PRIMARY KEY, address TEXT NOT NULL UNIQUE, name TEXT NOT NULL);
CREATE TABLE receipts (
  account TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL, content_hash TEXT NOT NULL, result TEXT NOT NULL,
  created_ms INTEGER NOT NULL, PRIMARY KEY (account, kind, key)
) WITHOUT ROWID;

CREATE TABLE messages (
  position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, mailbox INTEGER NOT NULL REFERENCES mailboxes,
  message_id TEXT NOT NULL, thread TEXT NOT NULL, folder TEXT NOT NULL,
  from_name TEXT NOT NULL, from_address TEXT NOT NULL, recipients TEXT NOT NULL,
  subject TEXT NOT NULL, snippet TEXT NOT NULL, body TEXT NOT NULL, is_truncated INTEGER NOT NULL,
  is_unread INTEGER NOT NULL, attachment_count INTEGER NOT NULL,
  UNIQUE (mailbox, message_id)
);
CREATE INDEX messages_by_mailbox ON messages (mailbox, position);
CREATE INDEX messages_by_folder ON messages (mailbox, folder, position);
CREATE INDEX messages_by_thread ON messages (mailbox, thread, position);
CREATE VIRTUAL TABLE message_words USING fts5 (
  subject, body, sender, recipients, mailbox,
  content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE TABLE attachments (
  message TEXT NOT NULL REFERENCES messages (id), number INTEGER NOT NULL, name TEXT NOT NULL, content_type TEXT NOT NULL,
  size_bytes INTEGER NOT NULL, content BLOB, PRIMARY KEY (message, number)
);
CREATE TABLE deliveries (
  message TEXT NOT NULL REFERENCES messages (id), address TEXT NOT NULL, status TEXT NOT NULL, detail TEXT NOT NULL,
  PRIMARY KEY (message, address)
) WITHOUT ROWID;

CREATE TABLE events (
  id TEXT PRIMARY KEY, uid TEXT NOT NULL, series TEXT REFERENCES events (id) ON DELETE CASCADE, original_ms INTEGER,
  is_cancelled INTEGER NOT NULL, title TEXT NOT NULL, description TEXT NOT NULL, location TEXT NOT NULL,
  organizer_name TEXT NOT NULL, organizer_address TEXT NOT NULL, start TEXT NOT NULL, end TEXT NOT NULL,
  start_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL, recurrence TEXT, expanded_to_ms INTEGER,
  visibility TEXT NOT NULL, show_as TEXT NOT NULL,
  UNIQUE (series, original_ms)
) WITHOUT ROWID;
CREATE INDEX events_by_uid ON events (uid);
CREATE INDEX events_to_expand ON events (expanded_to_ms) WHERE recurrence IS NOT NULL;
CREATE TABLE attendees (
  event TEXT NOT NULL REFERENCES events (id) ON DELETE CASCADE, address TEXT NOT NULL, number INTEGER NOT NULL,
  name TEXT NOT NULL, response TEXT NOT NULL, PRIMARY KEY (event, address)
) WITHOUT ROWID;
CREATE TABLE occurrences (
  event TEXT NOT NULL REFERENCES events (id) ON DELETE CASCADE, original_ms INTEGER NOT NULL,
  start_ms INTEGER NOT NULL, end_ms INTEGER NOT NULL, is_long INTEGER NOT NULL, PRIMARY KEY (event, original_ms)
) WITHOUT ROWID;
CREATE INDEX occurrences_by_start ON occurrences (is_long, start_ms, end_ms);

CREATE TABLE contacts (
  number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, uid TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
  emails TEXT NOT NULL, phones TEXT NOT NULL, organization TEXT COLLATE NOCASE, title TEXT, note TEXT NOT NULL
);
CREATE INDEX contacts_by_name ON contacts (name COLLATE NOCASE, number);
CREATE INDEX contacts_by_organization ON contacts (organization, number);
CREATE TABLE contact_addresses (address TEXT NOT NULL, contact INTEGER NOT NULL REFERENCES contacts, PRIMARY KEY (address, contact))
  WITHOUT ROWID;
CREATE VIRTUAL TABLE contact_words USING fts5 (
  name, emails, title, organization, content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
);

CREATE TABLE channels (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE) WITHOUT ROWID;
CREATE TABLE members (
  id TEXT PRIMARY KEY, handle TEXT NOT NULL, name TEXT NOT NULL, email TEXT, title TEXT, time_zone TEXT, is_bot INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE channel_messages (
  position INTEGER PRIMARY KEY, id TEXT NOT NULL, channel TEXT NOT NULL REFERENCES channels, author TEXT NOT NULL,
  text TEXT NOT NULL, thread TEXT, reactions TEXT NOT NULL, UNIQUE (channel, id)
);
CREATE INDEX channel_messages_by_thread ON channel_messages (channel, thread, position);
CREATE VIRTUAL TABLE channel_words USING fts5 (
  text, scope, content = '', contentless_delete = 1, tokenize = 'porter unicode61 remove_diacritics 2'
);
`,
];

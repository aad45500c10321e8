import { createHash } from "node:crypto";
import type { MailFolder } from "../../ports/mail.ts";
import { type Person, toLine } from "../../ports/person.ts";
import type { OfficeDatabase } from "../database/office-database.ts";
import { freePosition } from "../database/positions.ts";

/** A message to store, of any origin. Its text can be hostile; the store keeps it as text. */
export interface MailRecord {
  folder: MailFolder;
  /** The Message-ID header. A mailbox holds each id once. */
  messageId: string;
  /** Message-IDs of earlier messages of the thread, the first one first. */
  references: readonly string[];
  from: Person;
  to: readonly Person[];
  cc: readonly Person[];
  bcc: readonly Person[];
  subject: string;
  body: string;
  sentMs: number;
  isUnread: boolean;
  attachments: readonly { name: string; contentType: string; content: Uint8Array }[];
}

/** Characters of a body that are stored. A longer body is cut, and marked as cut. */
export const storedBodyCharactersMax = 1_000_000;
/** Characters of a body that a search finds. */
const indexedCharactersMax = 200_000;
const snippetCharactersMax = 160;

/** Returns the number of a person's mailbox, and creates the mailbox if it does not exist. */
export function ensureMailbox(database: OfficeDatabase, { name, address }: Person): number {
  database.run("INSERT INTO mailboxes (address, name) VALUES (?, ?) ON CONFLICT (address) DO NOTHING", address, name);
  return findMailbox(database, address) ?? 0;
}

export function findMailbox(database: OfficeDatabase, address: string): number | undefined {
  return database.get<{ id: number }>("SELECT id FROM mailboxes WHERE address = ?", address)?.id;
}

/** Stores a message. Returns its id, or null if the mailbox has a message with this Message-ID. */
export function addMessage(database: OfficeDatabase, mailbox: number, record: MailRecord): string | null {
  return database.transaction(() => {
    const known = "SELECT 1 FROM messages WHERE mailbox = ? AND message_id = ?";
    if (database.get(known, mailbox, record.messageId)) return null;
    const id = `msg_${shortHash(`${mailbox} ${record.messageId}`)}`;
    insertMessage(database, mailbox, id, record);
    record.attachments.forEach(({ name, contentType, content }, number) => {
      database.run(
        "INSERT INTO attachments (message, number, name, content_type, size_bytes, content) VALUES (?, ?, ?, ?, ?, ?)",
        ...[id, number, toLine(name, 255), contentType, content.byteLength, content],
      );
    });
    return id;
  });
}

function insertMessage(database: OfficeDatabase, mailbox: number, id: string, record: MailRecord): void {
  const { folder, messageId, from, to, cc, bcc, sentMs, isUnread, attachments } = record;
  const body = record.body.slice(0, storedBodyCharactersMax);
  const subject = toLine(record.subject);
  const position = freePosition(database, "messages", sentMs);
  database.run(
    `INSERT INTO messages (position, id, mailbox, message_id, thread, folder, from_name, from_address, recipients, subject,
       snippet, body, is_truncated, is_unread, attachment_count)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[position, id, mailbox, messageId, threadOf(database, mailbox, record), folder, from.name, from.address],
    ...[JSON.stringify({ to, cc, bcc }), subject, snippetOf(body), body, Number(body.length < record.body.length)],
    ...[Number(isUnread), attachments.length],
  );
  database.run(
    "INSERT INTO message_words (rowid, subject, body, sender, recipients, mailbox) VALUES (?, ?, ?, ?, ?, ?)",
    ...[position, subject, body.slice(0, indexedCharactersMax), namesOf([from]), namesOf([...to, ...cc])],
    mailboxToken(mailbox),
  );
}

/** A word of the index that only the messages of this mailbox have. */
export function mailboxToken(mailbox: number): string {
  return `mailbox${mailbox}`;
}

/** A reply belongs to the thread of the message that it answers, also if that message arrives later. */
function threadOf(database: OfficeDatabase, mailbox: number, { messageId, references }: MailRecord): string {
  for (const reference of references.toReversed()) {
    const known = database.get<{ thread: string }>(
      "SELECT thread FROM messages WHERE mailbox = ? AND message_id = ?",
      mailbox,
      reference,
    );
    if (known) return known.thread;
  }
  return `thread_${shortHash(references[0] ?? messageId)}`;
}

function snippetOf(body: string): string {
  return toLine(body.slice(0, 4 * snippetCharactersMax), snippetCharactersMax);
}

function namesOf(people: readonly Person[]): string {
  return people.map(({ name, address }) => `${name} ${address}`).join(" ");
}

/** Enough of a hash to be unique in a mailbox. */
export function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 20);
}

import type { FetchMessageObject, MessageStructureObject } from "imapflow";
import { parseMail } from "../../import/parse-mail.ts";
import type { MailRecord } from "../../local/mail/mail-store.ts";
import { storedBodyCharactersMax } from "../../local/mail/mail-store.ts";
import type { MailMessage, MailSummary } from "../../ports/mail.ts";
import { toLine } from "../../ports/person.ts";
import { toIso } from "../../time/zoned-instant.ts";
import type { CheckedAccount } from "../standard-options.ts";
import type { ImapSession, OpenedFolder } from "./imap-session.ts";
import { mailId, parseMailId, unknownMessage } from "./mail-ids.ts";

/** A larger message is read up to here. */
const sourceBytesMax = 40_000_000;
/** Enough for the headers and the first words of a list. */
export const previewBytes = 32_768;
const snippetCharactersMax = 160;

/** A message with its parsed text. */
export interface ReadMail {
  message: MailMessage;
  record: MailRecord;
  /** The headers as they are, for marks of troupe. */
  headers: string;
  flags: ReadonlySet<string>;
}

/** Reads a whole message by its id. Throws `params` if it does not exist. */
export async function readMail(account: CheckedAccount, session: ImapSession, id: string): Promise<ReadMail> {
  const place = parseMailId(id);
  if (!place || !session.paths.has(place.folder)) throw unknownMessage(id);
  return session.within(place.folder, async (opened) => {
    if (opened.uidValidity !== place.uidValidity) throw unknownMessage(id);
    const fetched = await session.client.fetchOne(
      String(place.uid),
      { uid: true, flags: true, internalDate: true, source: { maxLength: sourceBytesMax } },
      { uid: true },
    );
    if (!fetched || fetched.source === undefined) throw unknownMessage(id);
    return toMail(account, opened, fetched);
  });
}

async function toMail(account: CheckedAccount, opened: OpenedFolder, fetched: FetchMessageObject): Promise<ReadMail> {
  const source = fetched.source ?? Buffer.alloc(0);
  const record = await toRecord(account, fetched);
  const { cc, bcc, messageId, attachments } = record;
  const message: MailMessage = {
    ...toSummary(opened, fetched, record),
    attachmentCount: attachments.length,
    ...{ cc: [...cc], bcc: [...bcc], messageId },
    body: record.body.slice(0, storedBodyCharactersMax),
    isTruncated: record.body.length > storedBodyCharactersMax || source.byteLength >= sourceBytesMax,
    attachments: attachments.map(({ name, contentType, content }) => {
      return { name, contentType, sizeBytes: content.byteLength };
    }),
  };
  const end = source.indexOf("\r\n\r\n");
  const headers = source.subarray(0, end < 0 ? source.length : end).toString("latin1");
  return { message, record, headers, flags: fetched.flags ?? new Set() };
}

/** The message in a list, from its first bytes. */
export async function toListed(
  account: CheckedAccount,
  opened: OpenedFolder,
  fetched: FetchMessageObject,
): Promise<MailSummary> {
  return toSummary(opened, fetched, await toRecord(account, fetched));
}

async function toRecord(
  { user, clock }: CheckedAccount,
  { source, internalDate }: FetchMessageObject,
): Promise<MailRecord> {
  // A message without a readable date has the time of its arrival.
  const arrivedMs = new Date(internalDate ?? clock.now()).getTime();
  const { record } = await parseMail(source ?? Buffer.alloc(0), { person: user, clock: { now: () => arrivedMs } });
  return { ...record, subject: toLine(record.subject), body: record.body.replace(/\r?\n$/, "") };
}

function toSummary(opened: OpenedFolder, fetched: FetchMessageObject, record: MailRecord): MailSummary {
  const id = mailId({ ...opened, uid: fetched.uid });
  return {
    id,
    thread: threadOf(record, id),
    folder: opened.folder,
    from: record.from,
    to: [...record.to],
    subject: record.subject,
    snippet: toLine(record.body.slice(0, 4 * snippetCharactersMax), snippetCharactersMax),
    sentAt: toIso(record.sentMs),
    isUnread: !fetched.flags?.has("\\Seen"),
    attachmentCount: fetched.bodyStructure ? countAttachments(fetched.bodyStructure) : 0,
  };
}

const threadCharactersMax = 200;

/** The Message-ID of the first message of the thread. A message without any is its own thread. */
function threadOf({ references, messageId }: MailRecord, id: string): string {
  const root = references[0] ?? messageId;
  return root.endsWith("@import.local>") ? id : root.slice(0, threadCharactersMax);
}

export function countAttachments({ disposition, childNodes = [] }: MessageStructureObject): number {
  const own = disposition === "attachment" ? 1 : 0;
  return childNodes.reduce((count, child) => count + countAttachments(child), own);
}

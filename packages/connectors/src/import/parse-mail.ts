import { createHash } from "node:crypto";
import PostalMime, { type Attachment, type Email } from "postal-mime";
import type { LocalAccount } from "../local/local-account.ts";
import { type MailRecord, storedBodyCharactersMax } from "../local/mail/mail-store.ts";
import { bodyOf, parseLimits, peopleIn, unknownSender } from "../mime/mail-parts.ts";
import { attachmentBytesMax } from "../ports/mail.ts";
import { toLine } from "../ports/person.ts";

export interface ParsedMail {
  record: MailRecord;
  problems: string[];
}

/** Reads a message of RFC 5322. Throws if it is not one, or is nested without an end. */
export async function parseMail(
  raw: Uint8Array,
  { clock, person }: Pick<LocalAccount, "clock" | "person">,
): Promise<ParsedMail> {
  const email = await PostalMime.parse(raw, parseLimits);
  const { subject, messageId, date } = email;
  if (!email.from && [subject, messageId, date].every((header) => header === undefined)) {
    throw new Error("has no header of a mail");
  }
  const problems: string[] = [];
  const [from = unknownSender] = peopleIn(email.from ? [email.from] : []);
  const sentMs = Date.parse(email.date ?? "");
  if (Number.isNaN(sentMs)) problems.push("has no readable date, so the time of the import is used");
  const isOwn = from.address === person.address;
  const record: MailRecord = {
    folder: isOwn ? "sent" : "inbox",
    messageId: email.messageId ? toLine(email.messageId) : `<${hashOf(raw)}@import.local>`,
    references: referencesOf(email),
    from,
    to: peopleIn(email.to ?? []),
    cc: peopleIn(email.cc ?? []),
    bcc: isOwn ? peopleIn(email.bcc ?? []) : [],
    subject: email.subject ?? "",
    body: await bodyOf(email),
    sentMs: Number.isNaN(sentMs) ? clock.now() : sentMs,
    isUnread: false,
    attachments: attachmentsOf(email.attachments, problems),
  };
  if (record.body.length > storedBodyCharactersMax) {
    problems.push(`the body has ${record.body.length} characters, and the first ${storedBodyCharactersMax} are stored`);
  }
  return { record, problems };
}

/** The first message of the thread comes first. */
function referencesOf({ references = "", inReplyTo = "" }: Email): string[] {
  return [...new Set(`${references} ${inReplyTo}`.match(/<[^<>\s]{1,500}>/g) ?? [])].slice(0, 100);
}

function attachmentsOf(attachments: readonly Attachment[], problems: string[]): MailRecord["attachments"] {
  return attachments.flatMap(({ filename, mimeType, content }, i) => {
    const name = toLine(filename ?? `part ${i + 1}`, 255);
    const bytes = typeof content === "string" ? Buffer.from(content) : new Uint8Array(content);
    if (bytes.byteLength <= attachmentBytesMax) return [{ name, contentType: toLine(mimeType, 100), content: bytes }];
    problems.push(`the attachment ${JSON.stringify(name)} is larger than 20 MB, and was left out`);
    return [];
  });
}

function hashOf(raw: Uint8Array): string {
  return createHash("sha256").update(raw).digest("hex").slice(0, 32);
}

import PostalMime, { addressParser, decodeWords } from "postal-mime";
import { z } from "zod";
import { htmlToText } from "../../mime/html-text.ts";
import { bodyOf, parseLimits, peopleIn, unknownSender } from "../../mime/mail-parts.ts";
import type { MailFolder, MailMessage, MailSummary } from "../../ports/mail.ts";
import { mailBodyCharactersMax } from "../../ports/mail.ts";
import { type Person, toLine } from "../../ports/person.ts";
import { toIso } from "../../time/zoned-instant.ts";

const Header = z.object({ name: z.string(), value: z.string() });

/** A part of a message: only the fields that `summaryFields` asks for. */
export interface GmailPart {
  filename?: string | undefined;
  headers?: z.infer<typeof Header>[] | undefined;
  parts?: GmailPart[] | undefined;
}
const Part: z.ZodType<GmailPart> = z.object({
  filename: z.string().optional(),
  headers: z.array(Header).optional(),
  get parts() {
    return z.array(Part).optional();
  },
});

const messageHead = {
  id: z.string(),
  threadId: z.string(),
  labelIds: z.array(z.string()).default([]),
  /** Milliseconds since 1970, as text. */
  internalDate: z.string().regex(/^\d+$/),
  snippet: z.string().default(""),
};
/** A message without its text. */
export const GmailMessage = z.object({ ...messageHead, payload: Part.default({}) });
export type GmailMessage = z.infer<typeof GmailMessage>;
/** A message as its sender wrote it, in base64. */
export const RawGmailMessage = z.object({ ...messageHead, raw: z.string() });

/** Gmail sends only these fields: a list needs no bodies. */
export const summaryFields =
  "id,threadId,labelIds,internalDate,snippet,payload(headers,filename,parts(filename,parts(filename,parts(filename))))";
const snippetCharactersMax = 160;

export async function toSummary(message: GmailMessage): Promise<MailSummary> {
  const { payload } = message;
  return {
    ...headOf(message),
    from: peopleOf(payload, "From")[0] ?? unknownSender,
    to: peopleOf(payload, "To"),
    subject: toLine(decodeWords(headerOf(payload, "Subject") ?? "")),
    snippet: await snippetOf(message.snippet),
    attachmentCount: countFiles(payload),
  };
}

export async function toMessage(message: z.infer<typeof RawGmailMessage>): Promise<MailMessage> {
  const email = await PostalMime.parse(Buffer.from(message.raw, "base64url"), parseLimits);
  const whole = withoutLastBreak(await bodyOf(email));
  const head = headOf(message);
  return {
    ...head,
    from: peopleIn(email.from ? [email.from] : [])[0] ?? unknownSender,
    to: peopleIn(email.to ?? []),
    cc: peopleIn(email.cc ?? []),
    bcc: head.folder === "sent" || head.folder === "drafts" ? peopleIn(email.bcc ?? []) : [],
    subject: toLine(email.subject ?? ""),
    snippet: toLine(whole.slice(0, 4 * snippetCharactersMax), snippetCharactersMax),
    body: whole.slice(0, mailBodyCharactersMax),
    isTruncated: whole.length > mailBodyCharactersMax,
    messageId: toLine(email.messageId ?? ""),
    attachmentCount: email.attachments.length,
    attachments: email.attachments.map(({ filename, mimeType, content }, i) => ({
      name: toLine(filename ?? `part ${i + 1}`, 255),
      contentType: toLine(mimeType, 100),
      sizeBytes: typeof content === "string" ? Buffer.byteLength(content) : content.byteLength,
    })),
  };
}

function headOf({ id, threadId, labelIds, internalDate }: Omit<GmailMessage, "payload">) {
  return {
    id,
    thread: threadId,
    folder: folderOf(labelIds),
    sentAt: toIso(Number(internalDate)),
    isUnread: labelIds.includes("UNREAD"),
  };
}

/** Sent mail that the user also received is in the folder of sent mail. */
export function folderOf(labelIds: readonly string[]): MailFolder {
  if (labelIds.includes("DRAFT")) return "drafts";
  if (labelIds.includes("SENT")) return "sent";
  return labelIds.includes("INBOX") ? "inbox" : "archive";
}

export function headerOf({ headers = [] }: GmailPart, name: string): string | undefined {
  return headers.find((header) => header.name.toLowerCase() === name.toLowerCase())?.value;
}

export function peopleOf(payload: GmailPart, header: string): Person[] {
  const addresses = addressParser(headerOf(payload, header) ?? "");
  return peopleIn(addresses).map(({ name, address }) => ({ name: toLine(decodeWords(name), 200), address }));
}

/** Gmail writes a snippet as HTML. */
export async function snippetOf(snippet: string): Promise<string> {
  const text = /[&<]/.test(snippet) ? await htmlToText(snippet) : snippet;
  return toLine(text, snippetCharactersMax);
}

function countFiles({ filename = "", parts = [] }: GmailPart): number {
  return parts.reduce((count, part) => count + countFiles(part), filename === "" ? 0 : 1);
}

/** The last line of a mail ends with a line break that its sender did not write. */
function withoutLastBreak(text: string): string {
  return text.replace(/\r?\n$/, "");
}

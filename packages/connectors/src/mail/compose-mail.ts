import type { Person } from "../ports/person.ts";

/** A mail with all of its headers. */
export interface ComposedMail {
  from: Person;
  to: readonly Person[];
  cc: readonly Person[];
  bcc: readonly Person[];
  subject: string;
  body: string;
  attachments: readonly { name: string; contentType: string; content: Uint8Array }[];
  messageId: string;
  /** Message-IDs of earlier messages of the thread, the first one first. */
  references: readonly string[];
  headers: Record<string, string>;
  /** The time of the header Date. Absent: now. */
  sentMs?: number;
}

/**
 * The bytes of a mail. The composer folds and encodes headers, and takes no line break into one. It may read no file and no
 * URL.
 *
 * @param keepsBcc whether the header Bcc stays: Gmail reads the recipients from it, and the own copy shows it; SMTP sends it as it is
 */
export async function composeMail(mail: ComposedMail, { keepsBcc }: { keepsBcc: boolean }): Promise<Buffer> {
  const { default: MailComposer } = await import("nodemailer/lib/mail-composer");
  const { from, to, cc, bcc, subject, body, attachments, messageId, references, headers, sentMs } = mail;
  const last = references.at(-1);
  const node = new MailComposer({
    ...{ from, to: [...to], cc: [...cc], bcc: [...bcc], subject, messageId, headers },
    text: body,
    ...(sentMs === undefined ? {} : { date: new Date(sentMs) }),
    ...(last === undefined ? {} : { inReplyTo: last, references: [...references] }),
    attachments: attachments.map(({ name, contentType, content }) => ({
      filename: name,
      contentType,
      content: Buffer.from(content),
    })),
    disableFileAccess: true,
    disableUrlAccess: true,
  }).compile();
  node.keepBcc = keepsBcc;
  return await node.build();
}

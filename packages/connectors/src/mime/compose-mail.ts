import { loadOptional } from "@troupe/core/internal";
import type { z } from "zod";
import type { DraftMail } from "../ports/mail.ts";
import type { Person } from "../ports/person.ts";

/** A mail with everything that its headers need. */
export interface ComposedMail {
  from: Person;
  content: z.output<typeof DraftMail>;
  messageId: string;
  /** Message-IDs of the thread, the first one first. */
  references: readonly string[];
  /** Absent: the time of the composing. */
  sentMs?: number;
  headers?: Record<string, string>;
}

/**
 * The MIME form of a mail. The library encodes names and subjects, and reads no file and no URL.
 *
 * @param keepsBcc only the copy of the sender names the hidden recipients
 */
export async function composeMail(mail: ComposedMail, { keepsBcc }: { keepsBcc: boolean }): Promise<Buffer> {
  const { default: MailComposer } = await loadOptional("nodemailer@10", () => import("nodemailer/lib/mail-composer"));
  const { from, content, messageId, references, sentMs, headers = {} } = mail;
  const inReplyTo = references.at(-1);
  const composer = new MailComposer({
    ...{ from, to: content.to, cc: content.cc, bcc: content.bcc },
    ...{
      subject: content.subject,
      text: content.body,
      messageId,
      headers,
      ...(sentMs === undefined ? {} : { date: new Date(sentMs) }),
    },
    ...(inReplyTo === undefined ? {} : { inReplyTo, references: [...references] }),
    ...{ disableFileAccess: true, disableUrlAccess: true },
    attachments: content.attachments.map(({ name, contentType, content: bytes }) => {
      return { filename: name, contentType, content: Buffer.from(bytes) };
    }),
  });
  const node = composer.compile();
  node.keepBcc = keepsBcc;
  return node.build();
}

import { z } from "zod";
import { bullets, momentText, oneLine, quoted } from "../../base/wording.ts";

/** The sender: a text such as `Ana <ana@x.example>`, or its parts. */
export const Sender = z
  .union([z.string(), z.object({ name: z.string().default(""), address: z.string() })])
  .transform((from) =>
    typeof from === "string" ? from.replace(/\s*<[^>]*>$/, "") || from : from.name || from.address,
  );

const FoundMessage = z.object({
  message_id: z.string(),
  from: Sender,
  subject: z.string(),
  snippet: z.string().default(""),
  sent_at: z.string(),
  unread: z.boolean().default(false),
});
export type FoundMessage = z.output<typeof FoundMessage>;

/** The output of a search. */
export const FoundMessages = z.object({
  messages: z.array(FoundMessage),
  next_page: z.string().nullish(),
});

/** A message in a sentence. */
export function messageText({ subject, from, sent_at }: FoundMessage, timeZone: string): string {
  return `${subject === "" ? "the mail without a subject" : quoted(subject)} from ${oneLine(from)} of ${momentText(sent_at, timeZone)}`;
}

export function messageLines(messages: readonly FoundMessage[], timeZone: string): string {
  return bullets(
    messages.map(({ subject, from, sent_at, unread }) => {
      const title = quoted(subject === "" ? "(no subject)" : subject);
      return `${title}, ${oneLine(from)}, ${momentText(sent_at, timeZone)}${unread ? ", unread" : ""}`;
    }),
  );
}

import { z } from "zod";

/** One line of a change: a field of an event before and after it. */
const FieldChange = z.object({ field: z.string(), before: z.string(), after: z.string() });

/** A message as its recipients will see it. */
const EmailPreview = z.object({
  kind: z.literal("email"),
  from: z.string(),
  to: z.array(z.string()),
  cc: z.array(z.string()).default([]),
  bcc: z.array(z.string()).default([]),
  subject: z.string(),
  /** Plain text. */
  body: z.string(),
  attachments: z
    .array(
      z.object({
        name: z.string(),
        bytes: z.number().nonnegative(),
        /** Changes with the content. */
        digest: z.string().exactOptional(),
      }),
    )
    .default([]),
  /** Recipients outside of the user's own domains. */
  external: z.array(z.string()).default([]),
});

/** An event as a calendar shows it. */
const EventPreview = z.object({
  kind: z.literal("event"),
  action: z.enum(["create", "update", "delete"]),
  title: z.string(),
  /** Start, end and time zone, in words. */
  when: z.string(),
  repeats: z.string().nullable().default(null),
  location: z.string().nullable().default(null),
  description: z.string().nullable().default(null),
  attendees: z.array(z.string()).default([]),
  external: z.array(z.string()).default([]),
  visibility: z.enum(["private", "public"]).default("private"),
  /** For an update. */
  changes: z.array(FieldChange).default([]),
});

/** A message as a channel shows it. */
const MessagePreview = z.object({
  kind: z.literal("message"),
  /** With its `#`. */
  channel: z.string(),
  /** The beginning of the message that it replies to. */
  thread: z.string().nullable().default(null),
  /** Plain text. */
  text: z.string(),
});

/** The message or event that a call will send or change, as a person would see it in a mail or calendar program or in a channel. For requests for approval. */
export const CallPreview = z.discriminatedUnion("kind", [EmailPreview, EventPreview, MessagePreview]);
export type CallPreview = z.infer<typeof CallPreview>;

import { z } from "zod";
import { Id } from "./ids.ts";

/** Events that a webhook can be for. */
export const WebhookEvent = z.enum(["session.settled", "approval.requested"]);
export type WebhookEvent = z.infer<typeof WebhookEvent>;

/** The secret of a webhook in the form of Standard Webhooks: 24 to 64 bytes in base64. */
export const WebhookSecret = z
  .string()
  .regex(/^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/, "write whsec_ and 24 to 64 random bytes in base64");

/** An address that receives webhooks. A user name or password in it would be shown by lists. */
export const WebhookUrl = z
  .string()
  .max(2_000)
  .refine(isWebhookUrl, "write an http:// or https:// address without a user name and a fragment");

/** Body of the request that adds a webhook. */
export const WebhookDraft = z.strictObject({
  url: WebhookUrl,
  events: z
    .array(WebhookEvent)
    .min(1)
    .default([...WebhookEvent.options]),
  /** @default a new secret */
  secret: WebhookSecret.optional(),
});
export type WebhookDraft = z.infer<typeof WebhookDraft>;

/** A webhook and the state of its messages. The secret is never shown again. */
export const WebhookRow = z.object({
  id: Id,
  url: z.string(),
  events: z.array(WebhookEvent),
  /** `config`: from the user's configuration, where it is changed. */
  origin: z.enum(["config", "user"]),
  createdAt: z.iso.datetime(),
  /** Messages that wait for a successful attempt. */
  open: z.int(),
  delivered: z.int(),
  /** Messages that were given up after too many attempts. */
  dead: z.int(),
  /** Why the newest failed attempt failed; null if none did. */
  lastError: z.string().nullable(),
});
export type WebhookRow = z.infer<typeof WebhookRow>;

export const WebhookList = z.object({ webhooks: z.array(WebhookRow) });
export type WebhookList = z.infer<typeof WebhookList>;

/** The new webhook. This is the only reply with its secret. */
export const WebhookAdded = z.object({ webhook: WebhookRow, secret: z.string() });
export type WebhookAdded = z.infer<typeof WebhookAdded>;

/** Result of a test message. */
export const WebhookTest = z.object({
  id: Id,
  delivered: z.boolean(),
  /** Null without a response. */
  httpStatus: z.int().nullable(),
  error: z.string().nullable(),
});
export type WebhookTest = z.infer<typeof WebhookTest>;

/** Messages that were given up and are sent again. */
export const WebhookResent = z.object({
  id: Id,
  resent: z.int(),
  /** Messages that stay given up: the queue is full, or their content is not stored any more. */
  left: z.int(),
});
export type WebhookResent = z.infer<typeof WebhookResent>;

function isWebhookUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  return url.username === "" && url.password === "" && url.hash === "";
}

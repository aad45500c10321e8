import type { WebhookAdded, WebhookDraft, WebhookResent, WebhookRow, WebhookTest } from "../protocol/webhook.ts";

/** The webhooks of this machine. Unknown ids fail with `UNKNOWN_WEBHOOK`. */
export interface Webhooks {
  list(): Promise<WebhookRow[]>;
  /** Only events after this are sent. Fails with `LIMIT_REACHED` for one webhook too many. */
  add(draft: WebhookDraft): Promise<WebhookAdded>;
  /** Removes the webhook and its messages. Fails with `CONFLICT` for a webhook of the configuration. */
  remove(id: string): Promise<WebhookRow>;
  /** Sends one message of the type `webhook.test` now, without another attempt. */
  test(id: string): Promise<WebhookTest>;
  /** Sends the messages that were given up again, with the same ids and all attempts. */
  resend(id: string): Promise<WebhookResent>;
}

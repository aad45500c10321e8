import { WebhookAdded, WebhookDraft, WebhookList, WebhookResent, WebhookRow, WebhookTest } from "@troupe/core/internal";
import { defineRoutes } from "./route.ts";

/** Routes that list, add, test and remove webhooks. */
export const webhookContract = defineRoutes({
  "GET /webhooks": {
    operation: "listWebhooks",
    summary: "The webhooks, without their secrets, and the state of their messages",
    reply: WebhookList,
  },
  "POST /webhooks": {
    operation: "addWebhook",
    summary: "Adds a webhook; the reply has its secret, once",
    description: "Messages are signed and repeated as Standard Webhooks says. Only events after this are sent.",
    body: WebhookDraft,
    reply: WebhookAdded,
    status: 201,
    errors: ["CONFLICT", "LIMIT_REACHED"],
  },
  "DELETE /webhooks/{id}": {
    operation: "removeWebhook",
    summary: "Removes a webhook and its messages, and returns it",
    params: { id: "webhook" },
    reply: WebhookRow,
    errors: ["CONFLICT"],
  },
  "POST /webhooks/{id}/test": {
    operation: "testWebhook",
    summary: "Sends one test message now",
    params: { id: "webhook" },
    reply: WebhookTest,
  },
  "POST /webhooks/{id}/resend": {
    operation: "resendWebhook",
    summary: "Sends the messages that were given up again, with the same ids",
    description: "The content of such a message is kept for 30 days.",
    params: { id: "webhook" },
    reply: WebhookResent,
  },
});

import { TroupeError, type TroupeService } from "@troupe/core";
import type { Webhooks } from "@troupe/core/internal";
import type { Hono } from "hono";
import { addRoutes } from "./contract/add-routes.ts";
import { webhookContract } from "./contract/webhook-contract.ts";
import type { HttpEnv } from "./input.ts";

/** Routes that list, add, test and remove webhooks, and send their messages again. */
export function addWebhookRoutes(app: Hono<HttpEnv>, service: TroupeService): void {
  addRoutes(app, webhookContract, {
    "GET /webhooks": async () => ({ webhooks: await webhooksOf(service).list() }),
    "POST /webhooks": async ({ body }) => await webhooksOf(service).add(body),
    "DELETE /webhooks/{id}": async ({ params: { id } }) => await webhooksOf(service).remove(id),
    "POST /webhooks/{id}/resend": async ({ params: { id } }) => await webhooksOf(service).resend(id),
    "POST /webhooks/{id}/test": async ({ params: { id } }) => await webhooksOf(service).test(id),
  });
}

function webhooksOf({ webhooks }: TroupeService): Webhooks {
  if (webhooks) return webhooks;
  throw new TroupeError("USAGE", "this process sends no webhooks", { fix: "troupe up" });
}

import { type DomainAgent, defineDomainAgent } from "../base/define-domain-agent.ts";
import { deliveryPlan } from "./mail/delivery-plan.ts";
import { draftPlan } from "./mail/draft-plan.ts";
import { readPlan, searchPlan } from "./mail/find-plans.ts";
import { replyPlan } from "./mail/reply-plan.ts";
import { sendPlan } from "./mail/send-plan.ts";
import type { OfficeScope } from "./office-scope.ts";

/** Mail: find, read, write, send, and look after the delivery. */
export function gmailAgent(scope: OfficeScope): DomainAgent {
  return defineDomainAgent({
    domain: "email",
    handler: "gmail",
    description: "Searches, reads, drafts, sends and answers mail, and checks its delivery",
    patterns: new URL("../../../patterns/gmail.yaml", import.meta.url),
    connector: async (request) => (await scope.connectors(request)).mail,
    tools: scope.toolsOf("gmail_"),
    ...scope.shared,
    requests: {
      send: sendPlan(scope),
      draft: draftPlan(scope),
      reply: replyPlan,
      read: readPlan,
      search: searchPlan,
      "delivery-status": deliveryPlan,
    },
  });
}

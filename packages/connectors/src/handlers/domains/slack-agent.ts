import { type DomainAgent, defineDomainAgent } from "../base/define-domain-agent.ts";
import type { OfficeScope } from "./office-scope.ts";
import { messagesPlan, searchPlan, threadPlan } from "./slack/message-plans.ts";
import { postPlan } from "./slack/post-plan.ts";
import { summarizePlan } from "./slack/summarize-plan.ts";
import { userPlan } from "./slack/user-plan.ts";

/** The channels: messages, threads, summaries and posts. */
export function slackAgent(scope: OfficeScope): DomainAgent {
  return defineDomainAgent({
    domain: "slack",
    description: "Reads, searches and summarizes channels, and posts messages",
    patterns: new URL("../../../patterns/slack.yaml", import.meta.url),
    connector: async (request) => (await scope.connectors(request)).channels,
    tools: scope.toolsOf("slack_"),
    ...scope.shared,
    requests: {
      summarize: summarizePlan,
      messages: messagesPlan,
      search: searchPlan,
      thread: threadPlan,
      user: userPlan,
      post: postPlan,
    },
  });
}

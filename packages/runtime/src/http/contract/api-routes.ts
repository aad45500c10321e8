import { agentFileContract } from "./agent-file-contract.ts";
import { approvalContract } from "./approval-contract.ts";
import { conversationContract } from "./conversation-contract.ts";
import { costContract } from "./cost-contract.ts";
import { daemonContract } from "./daemon-contract.ts";
import { eventContract } from "./event-contract.ts";
import { runContract } from "./run-contract.ts";
import { searchContract } from "./search-contract.ts";
import { sessionArchiveContract } from "./session-archive-contract.ts";
import { sessionContract } from "./session-contract.ts";
import { sessionFileContract } from "./session-file-contract.ts";
import { webhookContract } from "./webhook-contract.ts";

/** The groups of routes, by the tag that they have in the document. A new group is one line here. */
export const routeGroups = {
  daemon: daemonContract,
  sessions: sessionContract,
  archive: sessionArchiveContract,
  runs: runContract,
  conversations: conversationContract,
  search: searchContract,
  costs: costContract,
  approvals: approvalContract,
  files: sessionFileContract,
  agents: agentFileContract,
  events: eventContract,
  webhooks: webhookContract,
} as const;

/** Every route of the API. */
export const apiRoutes = {
  ...daemonContract,
  ...sessionContract,
  ...sessionArchiveContract,
  ...runContract,
  ...conversationContract,
  ...searchContract,
  ...costContract,
  ...approvalContract,
  ...sessionFileContract,
  ...agentFileContract,
  ...eventContract,
  ...webhookContract,
} as const;

/** The routes as a type, from which the typed client has its paths, inputs and replies. */
export type ApiRoutes = typeof apiRoutes;

import type { TroupeService } from "@troupe/core";
import type { Hono } from "hono";
import { notFound } from "../service/lookup.ts";
import { addRoutes } from "./contract/add-routes.ts";
import { conversationContract } from "./contract/conversation-contract.ts";
import type { HttpEnv } from "./input.ts";

/** Routes about the tree of a session, and about the conversation and the time of one run. */
export function addConversationRoutes(app: Hono<HttpEnv>, { record }: TroupeService): void {
  addRoutes(app, conversationContract, {
    "GET /runs/{run}/conversation": async ({ params: { run }, query }) =>
      known(await record.queries.conversation(run, query), "run", run),
    "GET /runs/{run}/timeline": async ({ params: { run } }) => known(await record.queries.runTimeline(run), "run", run),
    "GET /runs/{run}/children": async ({ params: { run }, query: { after = -1, limit } }) =>
      known(await record.queries.children(run, { after, limit }), "run", run),
    "GET /runs/{run}/ancestors": async ({ params: { run } }) => ({
      ancestors: known(await record.queries.ancestors(run), "run", run),
    }),
    "GET /sessions/{id}/tree": async ({ params: { id }, query: { after = -1, limit } }) =>
      known(await record.queries.tree(id, { after, limit }), "session", id),
  });
}

function known<T>(answer: T | null, what: "run" | "session", id: string): T {
  if (answer !== null) return answer;
  throw notFound(what, id);
}

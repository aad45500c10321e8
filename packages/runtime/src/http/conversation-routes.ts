import type { TroupeService } from "@troupe/core";
import type { RunNode } from "@troupe/core/internal";
import type { Context, Hono } from "hono";
import { notFound } from "../service/lookup.ts";
import { type HttpEnv, readParam, readNumber } from "./input.ts";

/** Routes about the tree of a session, and about the conversation and the time of one run. */
export function addConversationRoutes(app: Hono<HttpEnv>, { record: { queries } }: TroupeService): void {
  app.get("/api/runs/:run/conversation", async (context) => {
    const run = readParam(context, "run", "run");
    const from = readNumber(context, "from", { otherwise: 0, min: 0, max: Number.MAX_SAFE_INTEGER });
    const limit = readNumber(context, "limit", { otherwise: 200, min: 1, max: 1_000 });
    return context.json(known(await queries.conversation(run, { from, limit }), "run", run));
  });
  app.get("/api/runs/:run/timeline", async (context) => {
    const run = readParam(context, "run", "run");
    return context.json(known(await queries.runTimeline(run), "run", run));
  });
  app.get("/api/runs/:run/children", async (context) => {
    const run = readParam(context, "run", "run");
    return context.json(known(await queries.children(run, readTreePage(context)), "run", run));
  });
  app.get("/api/runs/:run/ancestors", async (context) => {
    const run = readParam(context, "run", "run");
    const ancestors = known(await queries.ancestors(run), "run", run);
    return context.json({ ancestors } satisfies { ancestors: RunNode[] });
  });
  app.get("/api/sessions/:id/tree", async (context) => {
    const session = readParam(context, "id", "session");
    return context.json(known(await queries.tree(session, readTreePage(context)), "session", session));
  });
}

/** A node needs less than 2 KB for its ids and sums, and its task is cut, so that 300 of them fit 1 MB. */
const nodesMax = 300;

function readTreePage(context: Context<HttpEnv>): { after: number; limit: number } {
  return {
    after: readNumber(context, "after", { otherwise: -1, min: 0, max: Number.MAX_SAFE_INTEGER }),
    limit: readNumber(context, "limit", { otherwise: 100, min: 1, max: nodesMax }),
  };
}

function known<T>(answer: T | null, what: "run" | "session", id: string): T {
  if (answer !== null) return answer;
  throw notFound(what, id);
}

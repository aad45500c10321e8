import { TroupeError } from "@troupe/core";
import {
  ConversationPage,
  CostReport,
  IdMatch,
  type RecordQueries,
  RecordTotals,
  RunNode,
  RunTimeline,
  SearchPage,
  TreePage,
} from "@troupe/core/internal";
import { z } from "zod";
import { withQuery } from "./transport.ts";

/** Gets a path and parses the reply. */
export type GetReply = <S extends z.ZodType>(schema: S, path: string) => Promise<z.output<S>>;

const AncestorList = z.object({ ancestors: z.array(RunNode) });
const MatchList = z.object({ matches: z.array(IdMatch) });

/** The queries of the daemon's record, over its HTTP API. */
export function createQueryClient(get: GetReply): RecordQueries {
  const run = (id: string, part: string) => `/api/runs/${encodeURIComponent(id)}/${part}`;
  return {
    search: ({ words, sinceMs, agent, after, limit }) =>
      get(SearchPage, withQuery("/api/search", { q: words, since: isoOf(sinceMs), agent, after, limit })),
    costs: ({ by, sinceMs }) => get(CostReport, withQuery("/api/costs", { by, since: isoOf(sinceMs) })),
    totals: ({ sinceMs, branches }) => get(RecordTotals, withQuery("/api/stats", { since: isoOf(sinceMs), branches })),
    tree: (session, page) =>
      orNull(get(TreePage, withQuery(`/api/sessions/${encodeURIComponent(session)}/tree`, pageQuery(page)))),
    children: (id, page) => orNull(get(TreePage, withQuery(run(id, "children"), pageQuery(page)))),
    ancestors: async (id) => (await orNull(get(AncestorList, run(id, "ancestors"))))?.ancestors ?? null,
    runTimeline: (id) => orNull(get(RunTimeline, run(id, "timeline"))),
    conversation: (id, { from, limit }) =>
      orNull(get(ConversationPage, withQuery(run(id, "conversation"), { from, limit }))),
    idsWith: async (prefix, { limit }) =>
      (await get(MatchList, withQuery(`/api/ids/${encodeURIComponent(prefix)}`, { limit }))).matches,
  };
}

function isoOf(atMs: number | null): string | null {
  return atMs === null ? null : new Date(atMs).toISOString();
}

function pageQuery({ after, limit }: { after: number; limit: number }) {
  return { after: after < 0 ? null : after, limit };
}

async function orNull<T>(reply: Promise<T>): Promise<T | null> {
  try {
    return await reply;
  } catch (error) {
    if (TroupeError.is(error) && (error.code === "UNKNOWN_RUN" || error.code === "UNKNOWN_SESSION")) return null;
    throw error;
  }
}

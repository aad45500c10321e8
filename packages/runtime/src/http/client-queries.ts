import { TroupeError } from "@troupe/core";
import {
  ConversationPage,
  CostReport,
  type RecordQueries,
  RecordTotals,
  RunTimeline,
  SearchPage,
  TreePage,
} from "@troupe/core/internal";
import type { z } from "zod";
import { paramKinds } from "./contract/param-kinds.ts";
import { AncestorList, IdMatchList } from "./pages.ts";
import { withQuery } from "./transport.ts";

/** Gets a path and parses the reply. */
export type GetReply = <S extends z.ZodType>(schema: S, path: string) => Promise<z.output<S>>;

/** The queries of the daemon's record, over its HTTP API. */
export function createQueryClient(get: GetReply): RecordQueries {
  const run = (id: string, part: string) => `/api/v1/runs/${encodeURIComponent(id)}/${part}`;
  return {
    search: ({ words, sinceMs, agent, after, limit }) =>
      get(SearchPage, withQuery("/api/v1/search", { q: words, since: isoOf(sinceMs), agent, after, limit })),
    costs: ({ by, sinceMs }) => get(CostReport, withQuery("/api/v1/costs", { by, since: isoOf(sinceMs) })),
    totals: ({ sinceMs, branches }) =>
      get(RecordTotals, withQuery("/api/v1/stats", { since: isoOf(sinceMs), branches })),
    tree: (session, page) =>
      orNull(get(TreePage, withQuery(`/api/v1/sessions/${encodeURIComponent(session)}/tree`, pageQuery(page)))),
    children: (id, page) => orNull(get(TreePage, withQuery(run(id, "children"), pageQuery(page)))),
    ancestors: async (id) => (await orNull(get(AncestorList, run(id, "ancestors"))))?.ancestors ?? null,
    runTimeline: (id) => orNull(get(RunTimeline, run(id, "timeline"))),
    conversation: (id, { from, limit }) =>
      orNull(get(ConversationPage, withQuery(run(id, "conversation"), { from, limit }))),
    idsWith: async (prefix, { limit }) => {
      // The daemon refuses a text that no id can begin with.
      if (!paramKinds.prefix.schema.safeParse(prefix).success) return [];
      return (await get(IdMatchList, withQuery(`/api/v1/ids/${encodeURIComponent(prefix)}`, { limit }))).matches;
    },
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

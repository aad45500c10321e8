import type { RecordQueries } from "@troupe/core/internal";
import type { Database } from "../../database/sqlite.ts";
import { createConversation } from "./conversation.ts";
import { createCostQuery } from "./costs.ts";
import { createIdSearch } from "./ids.ts";
import { createFactReader } from "./run-facts.ts";
import { createRunTimeline } from "./run-timeline.ts";
import { createSearch } from "./search.ts";
import { createTotals } from "./totals.ts";
import { createTreeQueries } from "./tree.ts";

/**
 * The questions about a whole record, on one connection that can only read. Front ends ask them over `RecordReader.queries`
 * or over HTTP, so all of them give the same answers.
 */
export function createRecordQueries(database: Database): RecordQueries {
  const search = createSearch(database);
  const readFacts = createFactReader(database);
  const costsBy = createCostQuery(database);
  const totalsOf = createTotals(database);
  const trees = createTreeQueries(database);
  const timelineOf = createRunTimeline(database);
  const conversationOf = createConversation(database);
  const findIds = createIdSearch(database);
  return {
    search: async (options) => search(options),
    costs: async ({ by, sinceMs }) => costsBy(by, sinceMs),
    totals: async ({ sinceMs, branches }) => totalsOf(await readFacts(sinceMs), sinceMs, branches),
    tree: async (session, options) => trees.tree(session, options),
    children: async (run, options) => trees.children(run, options),
    ancestors: async (run) => trees.ancestors(run),
    runTimeline: async (run) => timelineOf(run),
    conversation: async (run, options) => conversationOf(run, options),
    idsWith: async (prefix, { limit }) => findIds(prefix, limit),
  };
}

/** Opens the connection at the first question: a process that asks none pays nothing. */
export function createLazyQueries(open: () => Database): { queries: RecordQueries; close(): void } {
  let database: Database | null = null;
  let queries: RecordQueries | null = null;
  const use = (): RecordQueries => {
    database ??= open();
    queries ??= createRecordQueries(database);
    return queries;
  };
  return {
    queries: {
      search: async (options) => use().search(options),
      costs: async (options) => use().costs(options),
      totals: async (options) => use().totals(options),
      tree: async (session, options) => use().tree(session, options),
      children: async (run, options) => use().children(run, options),
      ancestors: async (run) => use().ancestors(run),
      runTimeline: async (run) => use().runTimeline(run),
      conversation: async (run, options) => use().conversation(run, options),
      idsWith: async (prefix, options) => use().idsWith(prefix, options),
    },
    close: () => database?.close(),
  };
}

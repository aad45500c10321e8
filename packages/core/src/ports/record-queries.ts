import type { ConversationPage } from "../protocol/conversation.ts";
import type { CostGrouping, CostReport, RecordTotals } from "../protocol/costs.ts";
import type { IdMatch, RunNode, RunTimeline, TreePage } from "../protocol/run-tree.ts";
import type { SearchPage } from "../protocol/search.ts";

/** Questions about the whole record. The record, the HTTP client and the command line ask them in the same way. */
export interface RecordQueries {
  /**
   * Runs and tool calls whose request, response or arguments have all the words, newest first. Words in quotes are a phrase,
   * and a word that ends with `*` is a prefix. All other characters have no meaning. Throws `USAGE` without a word.
   */
  search(options: {
    words: string;
    /** Only runs and calls that began at or after this time. Null: all. */
    sinceMs: number | null;
    /** An agent by its id, or as team/agent. Null: all. */
    agent: string | null;
    /** Only hits before this place: the `next` of the previous page. Null: from the newest. */
    after: number | null;
    limit: number;
  }): Promise<SearchPage>;
  costs(options: { by: CostGrouping; sinceMs: number | null }): Promise<CostReport>;
  totals(options: { sinceMs: number | null; branches: number }): Promise<RecordTotals>;
  /** Null for an unknown session. `after` is the `next` of the previous page, -1 for the first. */
  tree(session: string, options: { after: number; limit: number }): Promise<TreePage | null>;
  /** The children of a run, by arrival. Null for an unknown run. */
  children(run: string, options: { after: number; limit: number }): Promise<TreePage | null>;
  /** The runs above a run, from the root down. Null for an unknown run. */
  ancestors(run: string): Promise<RunNode[] | null>;
  /** Null for an unknown run. */
  runTimeline(run: string): Promise<RunTimeline | null>;
  /** From the entry with that index on. Null for an unknown run. */
  conversation(run: string, options: { from: number; limit: number }): Promise<ConversationPage | null>;
  /** Sessions, then runs, whose id begins with the prefix. */
  idsWith(prefix: string, options: { limit: number }): Promise<IdMatch[]>;
}

import { z } from "zod";

/** One page of results. */
export interface Page<Item> {
  items: Item[];
  /** Pass it as `cursor` to get the next page. Null on the last page. */
  nextCursor: string | null;
}

/** Fields that every paged query has. */
export const pageFields = {
  limit: z.int().min(1).max(100).default(25),
  /** `nextCursor` of the page before, with otherwise the same query. */
  cursor: z.string().max(500).nullable().default(null),
};

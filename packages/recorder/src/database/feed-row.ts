import type { FeedItem } from "@troupe/core";

/** One item of a feed in SQL. `run` is null for an item of the session's inbox; its `idx` is then its sequence number. */
export interface FeedRow {
  position: number;
  session: string;
  run: string | null;
  idx: number;
  text: string;
}

export function toFeedItem({ position, session, run, idx, text }: FeedRow): FeedItem {
  if (run === null) return { position, kind: "inbox", session, seq: idx, text };
  return { position, kind: "entry", session, run, index: idx, text };
}

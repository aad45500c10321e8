import type { FeedItem } from "@troupe/core";
import { replaySession } from "@troupe/runtime";

/**
 * Every session that was recorded comes about again from its record alone. What the hosts, their number, their clocks
 * and their ends had to do with it is in the record, or has no part in it.
 */
export async function expectReplayable(feed: readonly FeedItem[]): Promise<void> {
  for (const session of new Set(feed.map((item) => item.session))) {
    const { divergence } = await replaySession({ session, from: feed });
    if (divergence) throw new Error(`the session does not replay: ${JSON.stringify(divergence, null, 2)}`);
  }
}

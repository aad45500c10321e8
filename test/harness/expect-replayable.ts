import type { FeedItem } from "@troupe/core";
import { replaySession } from "@troupe/runtime";

/** Replays every session from its record alone. Hosts, clocks and crashes must not be needed for it. */
export async function expectReplayable(feed: readonly FeedItem[]): Promise<void> {
  for (const session of new Set(feed.map((item) => item.session))) {
    const { divergence } = await replaySession({ session, from: feed });
    if (divergence) throw new Error(`the session does not replay: ${JSON.stringify(divergence, null, 2)}`);
  }
}

import { once } from "node:events";
import type { FeedItem, Journal } from "@troupe/core";

/** The methods of a journal that a recorder uses. */
export type FollowedJournal = Pick<Journal, "id" | "checkpoint" | "watch" | "tail">;

/** A journal with a fixed feed. The test shows the items step by step, and can repeat them. */
export function feedJournal(items: FeedItem[], shown = items.length): FollowedJournal & { show(count: number): void } {
  const changed = new EventTarget();
  let visible = shown;
  return {
    show(count) {
      visible = count;
      changed.dispatchEvent(new Event("more"));
    },
    id: async () => "a journal",
    checkpoint: async () => {},
    tail: async () => items[visible - 1]?.position ?? 0,
    async *watch({ after, signal }) {
      let next = items.findIndex(({ position }) => position > after);
      while (!signal.aborted) {
        const batch = next < 0 ? [] : items.slice(next, visible);
        next += batch.length;
        if (batch.length > 0) yield batch;
        else await once(changed, "more", { signal }).catch(() => {});
      }
    },
  };
}

import { setTimeout as pause } from "node:timers/promises";
import type { Journal, ToolContext } from "@troupe/core";
import { createRecentTexts, type RecentTexts } from "./recent-texts.ts";
import { createSeenVersions, type SeenVersions } from "./seen-versions.ts";

/** What the file tools of one process know together. */
export interface FileToolDeps {
  seen: SeenVersions;
  recent: RecentTexts;
  turns: Turns;
}

export interface FileToolParts {
  /** Where a run's own past is found after a restart. @default what a run has seen is known in this process alone */
  journal?: Pick<Journal, "readRun">;
}

export function createFileToolDeps({ journal }: FileToolParts): FileToolDeps {
  return { seen: createSeenVersions(journal ?? null), recent: createRecentTexts(), turns: createTurns() };
}

/**
 * From its plan to its end a call has the files that it is about to change to itself, in this process: of two edits of
 * one file in one turn the second is planned when the first is done, and not for a content that will be gone. It is a
 * courtesy, and no guard: versions are. So whoever has waited for long goes on.
 */
export interface Turns {
  /** Waits until no other call has any of these files; from then on this one has them, and what it had before too. */
  take(context: ToolContext, keys: readonly string[]): Promise<void>;
  end(context: ToolContext): void;
}

const waitMsMax = 5_000;

function createTurns(): Turns {
  const holders = new Map<string, Holder>();
  const byCall = new Map<string, Holder>();

  const end = (context: ToolContext): void => {
    const holder = byCall.get(context.idempotencyKey);
    byCall.delete(context.idempotencyKey);
    for (const [key, held] of holders) if (held === holder) holders.delete(key);
    holder?.end();
  };

  const holderOf = (context: ToolContext): Holder => {
    const known = byCall.get(context.idempotencyKey);
    if (known) return known;
    const { promise: ended, resolve } = Promise.withResolvers<void>();
    const onAbort = (): void => end(context);
    context.signal.addEventListener("abort", onAbort, { once: true });
    const holder: Holder = {
      ended,
      end: () => {
        context.signal.removeEventListener("abort", onAbort);
        resolve();
      },
    };
    byCall.set(context.idempotencyKey, holder);
    return holder;
  };

  return {
    async take(context, keys) {
      const mine = holderOf(context);
      // Always in one order: two that wait for each other would both wait in vain.
      for (const key of keys.toSorted()) {
        for (let held = holders.get(key); held && held !== mine; held = holders.get(key)) {
          const over = new AbortController();
          const isOver = pause(waitMsMax, true, { signal: over.signal }).catch(() => true);
          const waited = await Promise.race([held.ended.then(() => false), isOver]);
          over.abort();
          if (waited && holders.get(key) === held) break;
        }
        if (!context.signal.aborted) holders.set(key, mine);
      }
    },
    end,
  };
}

interface Holder {
  ended: Promise<void>;
  end(): void;
}

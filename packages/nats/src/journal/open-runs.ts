import type { OpenRun } from "@troupe/core/internal";
import { createFollowedRuns, type FollowedRuns, type FollowedRunsOptions } from "./followed-runs.ts";
import type { SettledSession } from "./run-index.ts";

/** Open runs of all sessions or of one, each followed while somebody asks for it. */
export interface OpenRuns {
  of(session?: string): Promise<OpenRun[]>;
  settled(): Promise<SettledSession[]>;
  /** What was said of a session up to a sequence is there no more. */
  forget(session: string, through: number): void;
  close(): void;
}

/** What nobody has asked for so long is followed no more. */
const unaskedMs = 120_000;

export function createOpenRuns(options: Omit<FollowedRunsOptions, "session">): OpenRuns {
  const { clock } = options;
  const all = "";
  const followed = new Map<string, FollowedRuns>();
  let stopTimer: (() => void) | null = null;

  const follow = (session: string): FollowedRuns => {
    const found = followed.get(session);
    if (found) return found;
    const created = createFollowedRuns(session === all ? options : { ...options, session });
    followed.set(session, created);
    stopTimer ??= clock.after(unaskedMs, sweep);
    return created;
  };
  const drop = (session: string): void => {
    followed.get(session)?.close();
    followed.delete(session);
  };
  /** One that has failed is begun anew by whoever asks next. */
  const ask = async <T>(session: string, question: (of: FollowedRuns) => Promise<T>): Promise<T> => {
    const of = follow(session);
    try {
      return await question(of);
    } catch (error) {
      if (followed.get(session) === of && of.isOver) drop(session);
      throw error;
    }
  };
  const sweep = (): void => {
    const nowMs = clock.monotonicMs();
    for (const [session, { askedAtMs }] of [...followed]) if (nowMs - askedAtMs > unaskedMs) drop(session);
    stopTimer = followed.size > 0 ? clock.after(unaskedMs, sweep) : null;
  };

  return {
    of(session) {
      // Whoever follows all of them has those of each session.
      const isThere = session === undefined || followed.has(all);
      return isThere ? ask(all, (each) => each.openRuns(session)) : ask(session, (each) => each.openRuns(session));
    },
    settled: () => ask(all, (each) => each.settled()),
    forget(session, through) {
      for (const key of [session, all]) followed.get(key)?.forget(session, through);
    },
    close() {
      stopTimer?.();
      for (const session of [...followed.keys()]) drop(session);
    },
  };
}

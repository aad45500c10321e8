import type { Journal } from "@troupe/core";
import { createInvalidMessages } from "@troupe/core/internal";
import { redactDeps } from "../secrets/redact-ports.ts";
import type { HostDeps } from "./host-deps.ts";

/** The host's dependencies as its runs use them: secrets are redacted, and concurrent journal reads are shared. */
export interface RunDeps extends HostDeps {
  /** The started and unsettled runs of a session, each with the index of its newest entry. */
  openRunsOf(session: string): Promise<ReadonlyMap<string, number>>;
}

export function createRunDeps(given: HostDeps): RunDeps {
  const deps = redactDeps(given);
  const journal = withSharedInboxReads(deps.journal);
  const openRunsOf = shareReads<null, ReadonlyMap<string, number>>(
    (session) => readOpenRuns(journal, session),
    () => null,
  );
  const invalidMessages = deps.invalidMessages ?? createInvalidMessages();
  return { ...deps, journal, invalidMessages, openRunsOf: (session) => openRunsOf(session, null) };
}

export async function readOpenRuns(journal: Journal, session: string): Promise<ReadonlyMap<string, number>> {
  const runs = await journal.openRuns({ session });
  return new Map(runs.flatMap(({ run, lastIndex }) => (lastIndex < 0 ? [] : [[run, lastIndex] as const])));
}

/**
 * A journal that merges concurrent reads of an inbox. A read can return items up to `afterSeq` too, because another
 * caller asked for them.
 */
export function withSharedInboxReads(journal: Journal): Journal {
  const readInbox = shareReads((session, afterSeq: number) => journal.readInbox(session, afterSeq), Math.min);
  return {
    append: (append) => journal.append(append),
    readRun: (session, run, from) => journal.readRun(session, run, from),
    lastOf: (session, run) => journal.lastOf(session, run),
    appendInbox: (item) => journal.appendInbox(item),
    readInbox: (session, afterSeq = 0) => readInbox(session, afterSeq),
    openRuns: (of) => journal.openRuns(of),
    id: () => journal.id(),
    checkpoint: (follower, position) => journal.checkpoint(follower, position),
    tail: () => journal.tail(),
    watch: (options) => journal.watch(options),
    close: () => journal.close(),
  };
}

type SharedRead<Query, Result> = (session: string, query: Query) => Promise<Result>;

interface PendingRead<Query, Result> {
  query: Query;
  result: Promise<Result>;
}

/**
 * Merges concurrent reads of a session: callers that ask during a read share the next one. When a thousand runs hear of
 * the same command, they cause one read, not a thousand.
 *
 * Like an own read, a shared read returns everything that was durable when the caller asked.
 *
 * @param merge the query that covers two queries
 */
function shareReads<Query, Result>(
  read: (session: string, query: Query) => Promise<Result>,
  merge: (a: Query, b: Query) => Query,
): SharedRead<Query, Result> {
  const running = new Map<string, Promise<unknown>>();
  const pending = new Map<string, PendingRead<Query, Result>>();

  const begin = (session: string, next: PendingRead<Query, Result>): Promise<Result> => {
    pending.delete(session);
    const result = read(session, next.query);
    const done = result
      .then(
        () => {},
        () => {},
      )
      .then(() => {
        if (running.get(session) === done) running.delete(session);
      });
    running.set(session, done);
    return result;
  };

  return (session, query) => {
    const joined = pending.get(session);
    if (joined) {
      joined.query = merge(joined.query, query);
      return joined.result;
    }
    const next = { query } as PendingRead<Query, Result>;
    next.result = (running.get(session) ?? Promise.resolve()).then(() => begin(session, next));
    pending.set(session, next);
    return next.result;
  };
}

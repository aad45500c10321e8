import type { Journal } from "@troupe/core";

/** One read of something about a session, for all who ask for it at the same time. */
export type SharedRead<A, T> = (session: string, asked: A) => Promise<T>;

interface Look<A, T> {
  asked: A;
  found: Promise<T>;
}

/**
 * Reads one at a time for each session: whoever asks while a read is under way shares the next one with all others who
 * do. A thousand runs that hear of the same wish need one read, not a thousand.
 *
 * Promises what a read of one's own does: everything that was durable when it was asked for is in it.
 *
 * @param merge what to ask for when two have asked
 */
export function shareReads<A, T>(
  read: (session: string, asked: A) => Promise<T>,
  merge: (a: A, b: A) => A,
): SharedRead<A, T> {
  const underWay = new Map<string, Promise<unknown>>();
  const next = new Map<string, Look<A, T>>();

  const begin = (session: string, look: Look<A, T>): Promise<T> => {
    next.delete(session);
    const found = read(session, look.asked);
    const done = found
      .then(
        () => {},
        () => {},
      )
      .then(() => {
        if (underWay.get(session) === done) underWay.delete(session);
      });
    underWay.set(session, done);
    return found;
  };

  return (session, asked) => {
    const joined = next.get(session);
    if (joined) {
      joined.asked = merge(joined.asked, asked);
      return joined.found;
    }
    const look = { asked } as Look<A, T>;
    look.found = (underWay.get(session) ?? Promise.resolve()).then(() => begin(session, look));
    next.set(session, look);
    return look.found;
  };
}

/** A journal whose inboxes are read together. Of items up to `afterSeq` there may be some: another asked for them. */
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

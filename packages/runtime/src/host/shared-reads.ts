import type { Journal } from "@troupe/core";

type ReadInbox = Journal["readInbox"];

interface Look {
  afterSeq: number;
  items: ReturnType<ReadInbox>;
}

/** A journal whose inboxes are read together, for a host whose runs are of few sessions. */
export function withSharedInboxReads(journal: Journal): Journal {
  const readInbox = shareInboxReads((session, afterSeq) => journal.readInbox(session, afterSeq));
  return {
    append: (append) => journal.append(append),
    readRun: (session, run, from) => journal.readRun(session, run, from),
    lastOf: (session, run) => journal.lastOf(session, run),
    appendInbox: (item) => journal.appendInbox(item),
    readInbox,
    openRuns: (of) => journal.openRuns(of),
    tail: () => journal.tail(),
    watch: (options) => journal.watch(options),
    close: () => journal.close(),
  };
}

/**
 * Looks into inboxes, one at a time for each session: whoever asks while a look is under way shares the next one with
 * all others who do. A thousand runs that hear of the same wish need one read, not a thousand.
 *
 * Promises what a read of one's own does: everything that was durable when it was asked for is in it. Of items up to
 * `afterSeq` there may be some, because another asked for them.
 */
export function shareInboxReads(read: ReadInbox): ReadInbox {
  const underWay = new Map<string, Promise<unknown>>();
  const next = new Map<string, Look>();

  const begin = (session: string, look: Look): ReturnType<ReadInbox> => {
    next.delete(session);
    const items = read(session, look.afterSeq);
    const done = items
      .catch(() => {})
      .then(() => {
        if (underWay.get(session) === done) underWay.delete(session);
      });
    underWay.set(session, done);
    return items;
  };

  return (session, afterSeq = 0) => {
    const joined = next.get(session);
    if (joined) {
      joined.afterSeq = Math.min(joined.afterSeq, afterSeq);
      return joined.items;
    }
    const look: Look = { afterSeq, items: Promise.resolve([]) };
    look.items = (underWay.get(session) ?? Promise.resolve()).then(() => begin(session, look));
    next.set(session, look);
    return look.items;
  };
}

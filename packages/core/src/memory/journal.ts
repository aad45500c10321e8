import { TroupeError } from "../errors.ts";
import type { FeedItem, Journal, OpenRun, RunAppend } from "../ports/journal.ts";
import { beginsTurn, InboxItem } from "../protocol/inbox.ts";

interface RunState extends OpenRun {
  terminal: boolean;
  texts: string[];
}

let journals = 1;

/** A journal in memory, for unit tests. */
export function createMemoryJournal(): Journal {
  const id = `memory-${journals++}`;
  const feed: FeedItem[] = [];
  const runs = new Map<string, RunState>();
  const inboxes = new Map<string, string[]>();
  const wakers = new Set<() => void>();
  let closed = false;

  const checkOpen = (): void => {
    if (closed) throw new TroupeError("CLOSED", "the journal is closed");
  };
  const publish = (): void => {
    for (const wake of wakers) wake();
  };
  const runOf = (session: string, run: string): RunState => {
    const known = runs.get(run);
    if (known) return known;
    const created = { session, run, lastIndex: -1, terminal: false, texts: [] };
    runs.set(run, created);
    return created;
  };

  return {
    id: async () => id,
    checkpoint: async () => {},
    async append(append) {
      checkOpen();
      checkIndexes(append);
      const { session, run, after, entries, terminal } = append;
      const known = runs.get(run);
      if (known && isStored(known, append)) return { ok: true };
      const lastIndex = known?.lastIndex ?? -1;
      if (known?.terminal || lastIndex !== after) return { ok: false, reason: "conflict", lastIndex };
      const state = runOf(session, run);
      for (const { index, text } of entries) {
        state.texts.push(text);
        feed.push({ position: feed.length + 1, kind: "entry", session, run, index, text });
      }
      state.lastIndex += entries.length;
      state.terminal = terminal;
      publish();
      return { ok: true };
    },
    async readRun(_session, run, from = 0) {
      return runs.get(run)?.texts.slice(from) ?? [];
    },
    async lastOf(_session, run) {
      return runs.get(run)?.texts.at(-1) ?? null;
    },
    async appendInbox(item) {
      checkOpen();
      const text = JSON.stringify(item);
      const texts = inboxes.get(item.session) ?? [];
      inboxes.set(item.session, texts);
      const seq = texts.push(text);
      if (beginsTurn(item)) runOf(item.session, item.request.run);
      feed.push({ position: feed.length + 1, kind: "inbox", session: item.session, seq, text });
      publish();
      return { seq };
    },
    async readInbox(session, afterSeq = 0) {
      const texts = inboxes.get(session) ?? [];
      return texts
        .slice(afterSeq)
        .map((text, i) => ({ seq: afterSeq + i + 1, item: InboxItem.parse(JSON.parse(text)) }));
    },
    async openRuns(of) {
      return [...runs.values()]
        .filter((state) => !state.terminal && (!of || state.session === of.session))
        .map(({ session, run, lastIndex }) => ({ session, run, lastIndex }));
    },
    async tail() {
      return feed.length;
    },
    async *watch({ after, signal }) {
      let next = after;
      while (!signal.aborted && !closed) {
        const batch = feed.slice(next);
        next += batch.length;
        if (batch.length > 0) yield batch;
        else await woken(wakers, signal);
      }
    },
    async close() {
      closed = true;
      publish();
    },
  };
}

function checkIndexes({ run, after, entries }: RunAppend): void {
  const wrong = entries.find(({ index }, i) => index !== after + 1 + i);
  if (!wrong) return;
  throw new TroupeError("INVALID_MESSAGE", `entry ${wrong.index} of run ${run} does not count on from ${after}`);
}

function isStored({ texts }: RunState, { entries }: RunAppend): boolean {
  return entries.length > 0 && entries.every(({ index, text }) => texts[index] === text);
}

function woken(wakers: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      wakers.delete(wake);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    wakers.add(wake);
    signal.addEventListener("abort", wake, { once: true });
  });
}

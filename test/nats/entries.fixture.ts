import { type FeedItem, type Journal, RunRequest } from "@troupe/core";
import { type AppendResult, type SealedEntry, sealEntry } from "@troupe/core/internal";
import { systemIds } from "@troupe/core/system";

/** One run, with short ways to write into its journal. */
export interface RunUnderTest {
  session: string;
  run: string;
  entry(index: number, words?: string): SealedEntry;
  texts(...indexes: number[]): string[];
  append(journal: Journal, after: number, entries: SealedEntry[], terminal?: boolean): Promise<AppendResult>;
  /** Repeats the append until its result is known. */
  appendForSure(journal: Journal, after: number, entries: SealedEntry[]): Promise<AppendResult>;
}

const ids = systemIds();

export function newRun(session = ids.next()): RunUnderTest {
  const run = ids.next();
  const entry = (index: number, words = "x"): SealedEntry =>
    sealEntry(
      { v: 1, session, run, index, epoch: 1, host: "host", at: 1_000 + index, prev: null },
      { kind: "timer.fired", timer: words },
    );
  const append: RunUnderTest["append"] = (journal, after, entries, terminal = false) =>
    journal.append({ session, run, after, entries, terminal });
  return {
    session,
    run,
    entry,
    texts: (...indexes) => indexes.map((index) => entry(index).text),
    append,
    async appendForSure(journal, after, entries) {
      for (;;) {
        const result = await append(journal, after, entries).catch(() => null);
        if (result) return result;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
  };
}

/** A session's request for its root run. */
export function requestOf({ session, run }: Pick<RunUnderTest, "session" | "run">) {
  return {
    v: 1,
    kind: "session.requested",
    at: 1,
    session,
    origin: "api",
    demo: false,
    request: RunRequest.parse({
      v: 1,
      session,
      run,
      parent: null,
      agent: "main",
      depth: 0,
      attempt: 1,
      task: "say hello",
      chain: [],
      layers: [],
      model: "demo/scripted",
      workspace: { id: "w", path: "/w" },
      grant: { tools: [], agents: [], writes: [] },
    }),
  } as const;
}

export interface Reading {
  items: FeedItem[];
  /** Resolves when this number of items was read. */
  until(count: number): Promise<FeedItem[]>;
  stop(): Promise<void>;
}

/** Collects the items of a watch. */
export function readFeed(journal: Journal, after = 0, follower?: string): Reading {
  const controller = new AbortController();
  const items: FeedItem[] = [];
  let wake = (): void => {};
  let failure: unknown = null;
  const options = { after, signal: controller.signal, ...(follower === undefined ? {} : { follower }) };
  const reading = (async () => {
    for await (const batch of journal.watch(options)) {
      items.push(...batch);
      wake();
    }
  })().catch((error: unknown) => {
    failure = error;
    wake();
  });
  return {
    items,
    async until(count) {
      while (items.length < count) {
        if (failure) throw failure;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return items;
    },
    async stop() {
      controller.abort();
      await reading;
    },
  };
}

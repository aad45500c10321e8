import { hash } from "node:crypto";
import type { Entry, FeedItem } from "@troupe/core";
import { entryIsIntact, isTerminal, openEntry } from "@troupe/core/internal";

/** Result of a check of the record's copy of the journal. */
export interface CopyInspection {
  sessions: number;
  runs: number;
  /** Runs that have not settled. */
  open: number;
  items: number;
  damage: Damage[];
}

/** The first damaged or missing item of a run or an inbox. */
export interface Damage {
  session: string;
  /** Null for the session's inbox. */
  run: string | null;
  /** Index of the entry, or number of the inbox item. */
  index: number;
  reason: string;
}

type Defect = Pick<Damage, "index" | "reason">;

interface RunChain {
  index: number;
  hash: string | null;
  settled: boolean;
}

/** Follows every run and every inbox of a feed, and finds the first defect of each. */
export interface CopyInspector {
  add(item: FeedItem): void;
  result(): CopyInspection;
}

export function createCopyInspector(): CopyInspector {
  const runs = new Map<string, RunChain>();
  const inboxes = new Map<string, number>();
  const sessions = new Set<string>();
  const damage = new Map<string, Damage>();
  let items = 0;

  const findEntryDefect = (item: Extract<FeedItem, { kind: "entry" }>): Defect | null => {
    const { session, run, index, text } = item;
    const chain = runs.get(run) ?? { index: -1, hash: null, settled: false };
    if (index !== chain.index + 1) return { index: chain.index + 1, reason: "is missing" };
    if (!entryIsIntact(text, (open) => hash("sha256", open))) return { index, reason: "is damaged" };
    const entry = readEntry(text);
    if (!entry) return { index, reason: "cannot be read" };
    const isOwn = entry.session === session && entry.run === run && entry.index === index;
    if (!isOwn) return { index, reason: "belongs to another run or index" };
    if (entry.prev !== chain.hash) return { index, reason: "does not follow the previous entry" };
    runs.set(run, { index, hash: entry.hash, settled: isTerminal(entry) });
    return null;
  };

  const findInboxDefect = ({ session, seq }: Extract<FeedItem, { kind: "inbox" }>): Defect | null => {
    const next = (inboxes.get(session) ?? 0) + 1;
    if (seq !== next) return { index: next, reason: "is missing" };
    inboxes.set(session, seq);
    return null;
  };

  return {
    add(item) {
      items += 1;
      sessions.add(item.session);
      const [run, defect] = item.kind === "entry" ? [item.run, findEntryDefect(item)] : [null, findInboxDefect(item)];
      const key = run ?? `inbox ${item.session}`;
      if (defect && !damage.has(key)) damage.set(key, { session: item.session, run, ...defect });
    },
    result() {
      const open = [...runs.values()].filter(({ settled }) => !settled).length;
      return { sessions: sessions.size, runs: runs.size, open, items, damage: [...damage.values()] };
    },
  };
}

function readEntry(text: string): Entry | null {
  try {
    return openEntry(text);
  } catch {
    return null;
  }
}

import { hash } from "node:crypto";
import type { Entry, FeedItem } from "@troupe/core";
import { entryIsIntact, isTerminal, openEntry } from "@troupe/core/internal";

export interface CopyInspection {
  sessions: number;
  runs: number;
  /** Runs that had not settled. */
  open: number;
  items: number;
  damage: Damage[];
}

/** Where what is kept of a run or of an inbox stops being whole. */
export interface Damage {
  session: string;
  /** Null for the session's inbox. */
  run: string | null;
  /** Of the first entry, or the number of the first item, that is missing or wrong. */
  index: number;
  reason: string;
}

type Flaw = Pick<Damage, "index" | "reason">;

interface Line {
  index: number;
  hash: string | null;
  settled: boolean;
}

/** Follows every run and every inbox of a feed, and finds where one of them is not whole. */
export interface LineCheck {
  take(item: FeedItem): void;
  result(): CopyInspection;
}

export function createLineCheck(): LineCheck {
  const runs = new Map<string, Line>();
  const inboxes = new Map<string, number>();
  const sessions = new Set<string>();
  const damage = new Map<string, Damage>();
  let items = 0;

  const flawOfEntry = (item: Extract<FeedItem, { kind: "entry" }>): Flaw | null => {
    const { session, run, index, text } = item;
    const line = runs.get(run) ?? { index: -1, hash: null, settled: false };
    if (index !== line.index + 1) return { index: line.index + 1, reason: "is missing" };
    if (!entryIsIntact(text, (open) => hash("sha256", open))) return { index, reason: "is damaged" };
    const entry = opened(text);
    if (!entry) return { index, reason: "cannot be read" };
    const isHome = entry.session === session && entry.run === run && entry.index === index;
    if (!isHome) return { index, reason: "is an entry of another place" };
    if (entry.prev !== line.hash) return { index, reason: "does not follow on the one before it" };
    runs.set(run, { index, hash: entry.hash, settled: isTerminal(entry) });
    return null;
  };

  const flawOfItem = ({ session, seq }: Extract<FeedItem, { kind: "inbox" }>): Flaw | null => {
    const next = (inboxes.get(session) ?? 0) + 1;
    if (seq !== next) return { index: next, reason: "is missing" };
    inboxes.set(session, seq);
    return null;
  };

  return {
    take(item) {
      items += 1;
      sessions.add(item.session);
      const [run, flaw] = item.kind === "entry" ? [item.run, flawOfEntry(item)] : [null, flawOfItem(item)];
      const key = run ?? `inbox ${item.session}`;
      if (flaw && !damage.has(key)) damage.set(key, { session: item.session, run, ...flaw });
    },
    result() {
      const open = [...runs.values()].filter(({ settled }) => !settled).length;
      return { sessions: sessions.size, runs: runs.size, open, items, damage: [...damage.values()] };
    },
  };
}

function opened(text: string): Entry | null {
  try {
    return openEntry(text);
  } catch {
    return null;
  }
}

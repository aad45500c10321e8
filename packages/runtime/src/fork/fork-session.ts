import { type Entry, type EntryBody, type FeedItem, InboxItem, type RunRequest, TroupeError } from "@troupe/core";
import {
  beginsTurn,
  type ForkedFrom,
  forkHost,
  isTerminal,
  type JournalSession,
  protocolVersion,
  sealEntry,
} from "@troupe/core/internal";
import { sha256 } from "../host/run/seal-entries.ts";
import { type RecordedItem, readRecording } from "../replay/recording.ts";
import { createForkIds, type ForkIds } from "./fork-ids.ts";
import { type ForkPoint, forkPointsOf } from "./fork-points.ts";

export interface ForkOptions {
  /** The feed of the original session. */
  feed: readonly FeedItem[];
  session: string;
  run: string;
  step: number;
  /** Id of the new session. */
  newSession: string;
  /** A message for the newest root run. Null: none. */
  task: string | null;
  by: string;
  /** Now, in milliseconds. */
  atMs: number;
}

export interface Fork {
  journal: JournalSession;
  /** The first run of its newest turn. */
  root: string;
  from: ForkedFrom;
  entries: number;
}

/**
 * Makes a new session of the part of another one that was finished when a step ended. All ids are new, and all times are
 * moved so that the copied part ends now. Each unfinished run gets one more claim, at which its budget starts anew.
 *
 * @example
 * const { journal } = forkSession({ feed, session, run, step: 2, newSession, task: null, by: "ada", atMs: Date.now() });
 * await archive.add(journal);
 */
export function forkSession(options: ForkOptions): Fork {
  const { feed, session, run, step, newSession, atMs } = options;
  const recording = readRecording(feed, session);
  const point = findPoint(forkPointsOf(recording), options);
  const finished = finishedPart(recording.items, point);
  const ids = createForkIds(finished, { newSession });
  const lastAt = Math.max(...finished.map((item) => (item.kind === "entry" ? item.entry.at : item.item.at)));
  // A claim at the time of its opening would look like a repeated opening.
  const copier = createCopier({ ids, shiftMs: atMs - 1 - lastAt });
  const from: ForkedFrom = { session, run, step };
  for (const item of finished) {
    if (item.kind === "entry") copier.addEntry(item.entry);
    else copier.addInbox(item.item, item.item.kind === "session.requested" ? { forkedFrom: from } : {});
  }
  copier.claimOpenRuns({ from, atMs });
  const root = ids.run(newestRoot(finished));
  if (options.task !== null) {
    const { task: text, by } = options;
    copier.addInbox(
      { v: protocolVersion, kind: "run.steered", at: atMs, session: newSession, run: root, text, by },
      {},
    );
  }
  return {
    journal: copier.journal(newSession),
    root,
    from,
    entries: finished.filter(({ kind }) => kind === "entry").length,
  };
}

function findPoint(points: readonly ForkPoint[], { run, step, session }: ForkOptions): ForkPoint {
  const found = points.find((point) => point.run === run && point.step === step);
  if (found) return found;
  const ofRun = points.filter((point) => point.run === run);
  const list = (ofRun.length > 0 ? ofRun : points).slice(0, 20).map((point) => `${point.run}/${point.step}`);
  const what =
    ofRun.length > 0 ? `step ${step} of run ${run} is not settled, or is its answer` : `run ${run} has no step`;
  const possible = list.length > 0 ? `possible: ${list.join(", ")}` : "no step of this session is settled";
  const fix = `troupe sessions fork ${session} --at ${list.at(-1) ?? "RUN/STEP"}`;
  throw new TroupeError("USAGE", `cannot fork there: ${what}; ${possible}`, { fix });
}

/** The feed up to the point, and the outcomes of calls that were running then: finished calls are not repeated. */
function finishedPart(items: readonly RecordedItem[], { position }: ForkPoint): RecordedItem[] {
  const before = items.filter((item) => item.position <= position);
  const running = new Map<string, number>();
  const asked = new Set<string>();
  const known = new Set<string>();
  const keyOf = (entry: Entry): string =>
    "step" in entry && "call" in entry ? `${entry.run}/${entry.step}/${entry.call}` : "";
  for (const item of before) {
    if (item.kind !== "entry") continue;
    const { entry } = item;
    if (entry.kind === "model.replied") running.set(entry.run, entry.step);
    if (entry.kind === "approval.requested") asked.add(keyOf(entry));
    if (entry.kind === "tool.finished") known.add(keyOf(entry));
    if (isTerminal(entry)) running.delete(entry.run);
  }
  const later = items.filter(
    (item) =>
      item.kind === "entry" &&
      item.position > position &&
      item.entry.kind === "tool.finished" &&
      running.get(item.entry.run) === item.entry.step &&
      !asked.has(keyOf(item.entry)) &&
      !known.has(keyOf(item.entry)),
  );
  return [...before, ...later];
}

function newestRoot(items: readonly RecordedItem[]): string {
  const requests = items.flatMap((item): RunRequest[] =>
    item.kind === "inbox" && beginsTurn(item.item) ? [item.item.request] : [],
  );
  return requests.at(-1)?.run ?? "";
}

interface CopiedRun {
  index: number;
  hash: string | null;
  epoch: number;
  terminal: boolean;
}

/** Writes the copied items under their new ids, with a hash chain of their own. */
function createCopier({ ids, shiftMs }: { ids: ForkIds; shiftMs: number }) {
  const items: { run: string | null; index: number; text: string }[] = [];
  const runs = new Map<string, CopiedRun>();
  let seq = 0;

  const write = (run: string, body: EntryBody, head: { session: string; epoch: number; at: number }): void => {
    const before = runs.get(run) ?? { index: -1, hash: null, epoch: 1, terminal: false };
    const index = before.index + 1;
    const sealed = sealEntry(
      { v: protocolVersion, ...head, run, index, host: forkHost, prev: before.hash },
      body,
      sha256,
    );
    items.push({ run, index, text: sealed.text });
    runs.set(run, { index, hash: sealed.hash, epoch: head.epoch, terminal: isTerminal(body) });
  };

  return {
    addEntry(entry: Entry): void {
      const { v: _v, session: _s, run: _r, index: _i, epoch, host: _h, at, prev: _p, hash: _hash, ...body } = entry;
      const copied = moved(ids.replaceIn(withoutMessagesHash(body)), shiftMs) as EntryBody;
      write(ids.run(entry.run), copied, { session: ids.session, epoch, at: at + shiftMs });
    },
    addInbox(item: InboxItem, more: object): void {
      seq += 1;
      const copied = InboxItem.parse({ ...(moved(ids.replaceIn(item), shiftMs) as InboxItem), ...more });
      if (beginsTurn(copied) && !runs.has(copied.request.run)) {
        runs.set(copied.request.run, { index: -1, hash: null, epoch: 1, terminal: false });
      }
      items.push({ run: null, index: seq, text: JSON.stringify(copied) });
    },
    claimOpenRuns({ from, atMs }: { from: ForkedFrom; atMs: number }): void {
      for (const [run, { terminal, epoch, index }] of [...runs]) {
        if (terminal || index < 0) continue;
        const body: EntryBody = { kind: "run.claimed", reason: "resumed", forkedFrom: from };
        write(run, body, { session: ids.session, epoch: epoch + 1, at: atMs });
      }
    },
    journal(session: string): JournalSession {
      const heads = [...runs].map(([run, { index, terminal }]) => ({ run, lastIndex: index, terminal }));
      return { session, items, runs: heads };
    },
  };
}

/** The model had read the ids of the original in the results of children, so a replay cannot compare its messages. */
function withoutMessagesHash(body: object): object {
  if (!("messagesHash" in body)) return body;
  const { messagesHash: _, ...rest } = body;
  return rest;
}

/** Moves the time of an inbox item, also of one inside an entry. */
function moved(value: unknown, shiftMs: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if ("item" in value) return { ...value, item: moved(value.item, shiftMs) };
  return "at" in value && typeof value.at === "number" ? { ...value, at: value.at + shiftMs } : value;
}

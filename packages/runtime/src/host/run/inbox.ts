import type { Entry, EntryBody, InboxItem, RunRequest } from "@troupe/core";
import { ageMs, beginsTurn, type Moment, momentOf } from "@troupe/core/internal";
import type { HostDeps } from "../host-deps.ts";
import { retryUntilDone } from "../retry-until-done.ts";

/** An inbox read that is older than this may miss commands. */
const freshMs = 100;

/** The inbox at the moment of the claim. */
export interface InboxStart {
  /** Newest item that was read. */
  seq: number;
  /** When the read began; null if a command may have arrived since. */
  readAt: Moment | null;
}

export interface RunInboxOptions {
  deps: HostDeps;
  request: RunRequest;
  start: InboxStart;
  /** Appends an entry to the run's journal. Resolves when the entry is durable and the machine has seen it. */
  record(body: EntryBody): Promise<void>;
}

/** Copies a run's commands from the inbox of its session into the run's journal. */
export class RunInbox {
  readonly #options: RunInboxOptions;
  #readSeq: number;
  /** Resolves when the machine has seen every command that was read. No effect starts before. */
  #recorded: Promise<void> = Promise.resolve();
  #read: { readAt: Moment; done: Promise<void> } | null;

  constructor(options: RunInboxOptions) {
    const { seq, readAt } = options.start;
    this.#options = options;
    this.#readSeq = seq;
    this.#read = readAt && !options.deps.replay ? { readAt, done: Promise.resolve() } : null;
  }

  /** Reads new items and records the run's commands. Concurrent calls record each command once. */
  async read(): Promise<void> {
    const { deps, request, record } = this.#options;
    const items = await deps.journal.readInbox(request.session, this.#readSeq);
    const readSeq = this.#readSeq;
    this.#readSeq = items.reduce((newest, { seq }) => Math.max(newest, seq), readSeq);
    for (const { seq, item } of commandsFor(items, request, readSeq)) {
      this.#recorded = record({ kind: "inbox.received", seq, item });
    }
    await this.#recorded;
  }

  /**
   * Called while entries are being appended. If work starts when they are durable, the read for it begins now; earlier
   * reads no longer count.
   */
  readAhead({ isWorkAhead }: { isWorkAhead: boolean }): void {
    this.#read = null;
    // In a replay, commands come in the order of the record.
    if (!isWorkAhead || this.#options.deps.replay) return;
    const done = this.read();
    done.catch(() => {}); // `ensureRead` reads again
    this.#read = { readAt: momentOf(this.#options.deps.clock), done };
  }

  /**
   * Resolves when the machine has seen every command that was sent before the outcome that led to this effect. An inbox
   * that cannot be read is retried until the signal aborts: no effect starts before.
   */
  async ensureRead(signal: AbortSignal): Promise<void> {
    const { deps, request } = this.#options;
    const read = this.#read;
    if (read && ageMs(deps.clock, read.readAt) < freshMs && (await succeeds(read.done))) return;
    await retryUntilDone(() => this.read(), "inbox could not be read; trying again", { deps, request, signal });
  }
}

function succeeds(done: Promise<void>): Promise<boolean> {
  return done.then(
    () => true,
    () => false,
  );
}

type SequencedItem = { seq: number; item: InboxItem };

/**
 * The commands for a run that its journal does not have yet. Commands from before the run's turn belong to earlier
 * turns: a cancelled session can be continued.
 *
 * @param afterSeq the newest command in the run's journal
 */
export function commandsFor(items: readonly SequencedItem[], request: RunRequest, afterSeq: number): SequencedItem[] {
  const root = request.ancestors[0] ?? request.run;
  const turnStart = items.findLastIndex(({ item }) => beginsTurn(item) && item.request.run === root);
  return items.slice(turnStart + 1).filter(({ seq, item }) => seq > afterSeq && concernsRun(item, request));
}

/** Whether a run acts on an inbox item: on its own commands, and on a cancel, pause or resume of an ancestor. */
export function concernsRun(item: InboxItem, { run, ancestors }: Pick<RunRequest, "run" | "ancestors">): boolean {
  switch (item.kind) {
    case "session.cancelled":
      return true;
    case "run.cancelled":
    case "run.paused":
    case "run.resumed":
      return item.run === run || ancestors.includes(item.run);
    case "run.steered":
    case "approval.answered":
      return item.run === run;
    case "session.requested":
    case "session.continued":
    case "undo.planned":
    case "undo.finished":
      return false;
  }
}

/** The newest command in a run's journal; 0 if it has none. */
export function lastInboxSeq(entries: readonly Entry[]): number {
  return entries.reduce((seq, entry) => (entry.kind === "inbox.received" ? Math.max(seq, entry.seq) : seq), 0);
}

import type { EntryBody, RunRequest } from "@troupe/core";
import { ageMs, type Moment, momentOf } from "@troupe/core/internal";
import type { HostDeps } from "../host-deps.ts";
import { commandsFor } from "../inbox.ts";
import { untilDone } from "../retry-until-done.ts";

/** What was asked for longer ago says too little of what people have said by now. */
const freshMs = 100;

/** What is known of an inbox when a run is taken up. */
export interface InboxStart {
  /** Newest item that was looked at. */
  seq: number;
  /** When it was asked for; null where something may have come since. */
  askedAt: Moment | null;
}

export interface RunInboxOptions {
  deps: HostDeps;
  request: RunRequest;
  start: InboxStart;
  /** Puts a fact into the run's journal; resolves when it is there and the run has seen it. */
  record(body: EntryBody): Promise<void>;
}

/** The inbox of a session as one of its runs reads it: what concerns the run is copied into its journal. */
export class RunInbox {
  readonly #options: RunInboxOptions;
  #seenSeq: number;
  /** Resolves when the newest wish that was found has reached the run: until then nothing may begin. */
  #kept: Promise<void> = Promise.resolve();
  #look: { askedAt: Moment; done: Promise<void> } | null;

  constructor(options: RunInboxOptions) {
    const { seq, askedAt } = options.start;
    this.#options = options;
    this.#seenSeq = seq;
    this.#look = askedAt && !options.deps.replay ? { askedAt, done: Promise.resolve() } : null;
  }

  /** Takes over what is new, whoever of several at once finds it. */
  async read(): Promise<void> {
    const { deps, request, record } = this.#options;
    const items = await deps.journal.readInbox(request.session, this.#seenSeq);
    const seenSeq = this.#seenSeq;
    this.#seenSeq = items.reduce((newest, { seq }) => Math.max(newest, seq), seenSeq);
    for (const { seq, item } of commandsFor(items, request, seenSeq)) {
      this.#kept = record({ kind: "inbox.received", seq, item });
    }
    await this.#kept;
  }

  /** Facts are on their way to the journal. Begins to read for an effect that is to begin as soon as they are durable. */
  lookAhead({ isWorkAhead }: { isWorkAhead: boolean }): void {
    this.#look = null;
    // Where a session runs again, wishes come when its record has them.
    if (!isWorkAhead || this.#options.deps.replay) return;
    const done = this.read();
    done.catch(() => {}); // whoever needs it reads again
    this.#look = { askedAt: momentOf(this.#options.deps.clock), done };
  }

  /**
   * Before anything is paid for or touched: whatever people had said when the outcome was known that led to it has
   * reached the run. An inbox that cannot be read now may be readable soon: until then nothing begins.
   */
  async isRead(signal: AbortSignal): Promise<void> {
    const { deps, request } = this.#options;
    const look = this.#look;
    if (look && ageMs(deps.clock, look.askedAt) < freshMs && (await succeeds(look.done))) return;
    const scope = { deps, request, signal };
    await untilDone(() => this.read(), "inbox could not be read; trying again", scope);
  }
}

function succeeds(done: Promise<void>): Promise<boolean> {
  return done.then(
    () => true,
    () => false,
  );
}

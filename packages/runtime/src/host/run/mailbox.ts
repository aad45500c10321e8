import type { Entry, EntryBody, RunRequest } from "@troupe/core";
import { answeredEffect, isTerminal } from "@troupe/core/internal";
import type { JournalHead } from "../claim/fence.ts";
import type { HostDeps } from "../host-deps.ts";
import { createTimeSlice } from "../time-slice.ts";
import { type ChainEnd, sealEntries, type WrittenEntry } from "./seal-entries.ts";

/** A journal write that fails (a full disk) is tried again after this long, for as long as it takes. */
const appendRetryMs = 1_000;

/** Facts after which this host writes nothing more. */
const lastKinds: ReadonlySet<string> = new Set(["run.settled", "run.parked"]);

interface Mail {
  body: EntryBody;
  stored: () => void;
}

/** What a run makes of what comes through its mailbox. */
export interface MailboxOwner {
  /** What time it is for the run. */
  now(): number;
  /** Sees each entry in order, before it is durable: until `delivered` nothing may be done that follows from it. */
  feed(entry: Entry): void;
  /** A fact that follows from what was fed and needs nothing of the world: it goes into the same append. */
  nextFact(): EntryBody | null;
  /** What was fed is on its way to the journal. */
  appending(): void;
  /** Everything that was fed is durable; `last` is its newest entry. */
  delivered(last: Entry): Promise<void>;
  /** Somebody else writes this run's journal now. */
  lost(why: string): void;
  /** A bug: in a machine, or on the way here. */
  failed(error: unknown): void;
}

/**
 * The one writer of a run on this host: facts go in, become entries, are shown to the run, and stored at the end of its
 * journal, together with the facts that follow from them at once. Whatever waits is one append.
 *
 * A run is shown its entries early because it can never have to forget them: an append succeeds in the end, or the run
 * is somebody else's and this copy of it is thrown away.
 */
export class Mailbox {
  readonly #deps: HostDeps;
  readonly #request: RunRequest;
  readonly #owner: MailboxOwner;
  #mails: Mail[] = [];
  /** Whether there are mails on their way to the run. */
  #delivering = false;
  #pumping = false;
  #closed = false;
  /** Of all that is durable, and of all that the run was shown. */
  #stored: ChainEnd = { index: -1, hash: null };
  #shown: ChainEnd = this.#stored;
  #epoch = 1;

  constructor(deps: HostDeps, request: RunRequest, owner: MailboxOwner) {
    this.#deps = deps;
    this.#request = request;
    this.#owner = owner;
  }

  /** Whether everything that was put into it has been seen by the run, and stored. */
  get isEmpty(): boolean {
    return this.#mails.length === 0 && !this.#delivering;
  }

  /** Whether the run has been shown what is not durable yet. */
  get isAhead(): boolean {
    return this.#shown !== this.#stored;
  }

  /** Where the journal ends, by all that was written here. */
  get standing(): JournalHead {
    return { index: this.#stored.index, epoch: this.#epoch };
  }

  /** Takes in an entry of the journal that was there before. */
  replayed({ index, hash, epoch }: Entry): void {
    this.#stored = { index, hash };
    this.#shown = this.#stored;
    this.#epoch = epoch;
  }

  /** Resolves when the fact is durable and the run has seen it, or when nothing is written any more. */
  put(body: EntryBody): Promise<void> {
    const { replay } = this.#deps;
    return replay ? replay.admit(this.#request.run, body).then(() => this.#queue(body)) : this.#queue(body);
  }

  #queue(body: EntryBody): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#mails.push({ body, stored: resolve });
      this.#pump().catch((error: unknown) => this.#owner.failed(error));
    });
  }

  close(): void {
    this.#closed = true;
    for (const { stored } of this.#mails) stored();
    this.#mails = [];
  }

  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      await createTimeSlice(); // outcomes of the same turn go together
      while (this.#mails.length > 0 && !this.#closed) await this.#deliver(this.#take());
    } finally {
      // In the same turn as the look that found the mailbox empty: mail that came between would lie there for ever.
      this.#pumping = false;
    }
  }

  async #deliver(mails: readonly Mail[]): Promise<void> {
    const written: WrittenEntry[] = [];
    this.#delivering = true;
    const isStored = await this.#showAndStore(mails, written).finally(() => {
      this.#delivering = false;
    });
    const last = written.at(-1)?.entry;
    if (last && isStored && !this.#closed) await this.#owner.delivered(last);
    for (const { stored } of mails) stored();
  }

  async #showAndStore(mails: readonly Mail[], written: WrittenEntry[]): Promise<boolean> {
    try {
      // What a bug keeps from being shown does not keep what was shown from being stored.
      await this.#show(mails, written).catch((error: unknown) => this.#owner.failed(error));
      const isStored = written.length > 0 && !this.#closed && (await this.#append(written));
      if (isStored) this.#stored = this.#shown;
      return isStored;
    } finally {
      this.#shown = this.#stored;
    }
  }

  /** Feeds the run facts, and then what follows from them, until nothing does. */
  async #show(mails: readonly Mail[], written: WrittenEntry[]): Promise<void> {
    const feed = async (bodies: readonly EntryBody[]): Promise<void> => {
      for (const each of this.#seal(bodies)) {
        await createTimeSlice();
        if (this.#closed) return;
        this.#shown = { index: each.entry.index, hash: each.entry.hash };
        written.push(each);
        this.#owner.feed(each.entry);
      }
    };
    await feed(mails.map(({ body }) => body));
    while (!this.#closed && !lastKinds.has(written.at(-1)?.entry.kind ?? "")) {
      const body = this.#owner.nextFact();
      if (!body) return;
      await feed([body]);
    }
  }

  /** Everything that waits, up to a fact that nothing may follow. */
  #take(): Mail[] {
    const end = this.#mails.findIndex(({ body }) => lastKinds.has(body.kind));
    return this.#mails.splice(0, end === -1 ? this.#mails.length : end + 1);
  }

  #seal(bodies: readonly EntryBody[]): WrittenEntry[] {
    const { session, run } = this.#request;
    const writer = { session, run, epoch: this.#epoch, host: this.#deps.hostId, at: this.#owner.now() };
    return sealEntries(writer, this.#shown, bodies, this.#deps.redact);
  }

  async #append(written: readonly WrittenEntry[]): Promise<boolean> {
    const { journal, failpoint, clock, logger } = this.#deps;
    const { session, run } = this.#request;
    const after = this.#stored.index;
    const entries = written.map(({ sealed }) => sealed);
    const terminal = written.some(({ entry }) => isTerminal(entry));
    const probed = { run, key: written.map(({ entry }) => answeredEffect(entry) ?? entry.kind).join(" ") };
    this.#owner.appending();
    while (!this.#closed) {
      failpoint.at("append:before", probed);
      try {
        const result = await journal.append({ session, run, after, entries, terminal });
        failpoint.at("append:after", probed);
        if (!result.ok) this.#owner.lost(`another writer is at index ${result.lastIndex}`);
        return result.ok;
      } catch (error) {
        logger.error({ session, run, err: error }, "journal write failed; trying again");
        await new Promise<void>((resolve) => clock.after(appendRetryMs, resolve));
      }
    }
    return false;
  }
}

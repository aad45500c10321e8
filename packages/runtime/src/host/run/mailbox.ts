import type { Entry, EntryBody, RunRequest } from "@troupe/core";
import { answeredEffect, isTerminal } from "@troupe/core/internal";
import type { JournalHead } from "../claim/fence.ts";
import type { HostDeps } from "../host-deps.ts";
import { waitForTimeSlice } from "../time-slice.ts";
import { type ChainEnd, sealNext, type WrittenEntry } from "./seal-entries.ts";

/** A failed append (a full disk) is retried after this time, without a limit. */
const appendRetryMs = 1_000;

/** Entries after which this host appends no more. */
const lastKinds: ReadonlySet<string> = new Set(["run.settled", "run.parked"]);

interface Mail {
  body: EntryBody;
  onStored: () => void;
}

/** The run that owns a mailbox. */
export interface MailboxOwner {
  /** The current time of the run. */
  now(): number;
  /** Completes an entry with facts of the moment in which it is fed to the run. Not called in a replay. */
  complete(body: EntryBody): EntryBody;
  /** Gets each entry in order, before it is durable. No effect that follows from it may start before `delivered`. */
  feed(entry: Entry): void;
  /** The next entry that follows from the fed entries without an effect. It goes into the same append. */
  nextEntry(): EntryBody | null;
  /** The append of the fed entries begins. */
  appending(): void;
  /** Every fed entry is durable. `last` is the newest of them. */
  delivered(last: Entry, stored: readonly Entry[]): Promise<void>;
  /** Another host has written to the run's journal. */
  lost(reason: string): void;
  /** A bug in a machine or in the host. */
  failed(error: unknown): void;
}

/**
 * The only writer of a run's journal on this host. It seals bodies into entries, feeds them to the run, and appends them
 * together with the entries that follow from them. All waiting mail goes into one append.
 *
 * The run gets its entries before they are durable, because it never has to undo them: the append succeeds in the end,
 * or another host has the run and this copy is discarded.
 */
export class Mailbox {
  readonly #deps: HostDeps;
  readonly #request: RunRequest;
  readonly #owner: MailboxOwner;
  #mails: Mail[] = [];
  #delivering = false;
  #pumping = false;
  #closed = false;
  /** End of the durable entries. */
  #storedEnd: ChainEnd = { index: -1, hash: null };
  /** End of the entries that the run was fed. */
  #fedEnd: ChainEnd = this.#storedEnd;
  #epoch = 1;

  constructor(deps: HostDeps, request: RunRequest, owner: MailboxOwner) {
    this.#deps = deps;
    this.#request = request;
    this.#owner = owner;
  }

  /** Whether every mail was fed to the run and stored. */
  get isEmpty(): boolean {
    return this.#mails.length === 0 && !this.#delivering;
  }

  /** Whether the run was fed entries that are not durable yet. */
  get isAhead(): boolean {
    return this.#fedEnd !== this.#storedEnd;
  }

  /** The end of the journal, as far as this host has written it. */
  get head(): JournalHead {
    return { index: this.#storedEnd.index, epoch: this.#epoch };
  }

  /** Continues after an entry that was in the journal before the claim. */
  replayed({ index, hash, epoch }: Entry): void {
    this.#storedEnd = { index, hash };
    this.#fedEnd = this.#storedEnd;
    this.#epoch = epoch;
  }

  /** Resolves when the entry is durable and was fed to the run, or when the mailbox is closed. */
  put(body: EntryBody): Promise<void> {
    const { replay } = this.#deps;
    return replay ? replay.admit(this.#request.run, body).then((admitted) => this.#queue(admitted)) : this.#queue(body);
  }

  #queue(body: EntryBody): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#mails.push({ body, onStored: resolve });
      this.#pump().catch((error: unknown) => this.#owner.failed(error));
    });
  }

  close(): void {
    this.#closed = true;
    for (const { onStored } of this.#mails) onStored();
    this.#mails = [];
  }

  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      await waitForTimeSlice(); // outcomes of the same turn go into one append
      while (this.#mails.length > 0 && !this.#closed) await this.#deliver(this.#takeMails());
    } finally {
      // Reset in the same turn as the check that found no mail. Otherwise mail put in between would never be delivered.
      this.#pumping = false;
    }
  }

  async #deliver(mails: readonly Mail[]): Promise<void> {
    const written: WrittenEntry[] = [];
    this.#delivering = true;
    const isStored = await this.#feedAndAppend(mails, written).finally(() => {
      this.#delivering = false;
    });
    const last = written.at(-1)?.entry;
    const stored = written.map(({ entry }) => entry);
    if (last && isStored && !this.#closed) await this.#owner.delivered(last, stored);
    for (const { onStored } of mails) onStored();
  }

  async #feedAndAppend(mails: readonly Mail[], written: WrittenEntry[]): Promise<boolean> {
    try {
      // If a bug stops the feeding, the entries that were fed are stored all the same.
      await this.#feed(mails, written).catch((error: unknown) => this.#owner.failed(error));
      const isStored = written.length > 0 && !this.#closed && (await this.#append(written));
      if (isStored) this.#storedEnd = this.#fedEnd;
      return isStored;
    } finally {
      this.#fedEnd = this.#storedEnd;
    }
  }

  /** Feeds the mail to the run, then the entries that follow, until none follows. */
  async #feed(mails: readonly Mail[], written: WrittenEntry[]): Promise<void> {
    const feed = async (bodies: readonly EntryBody[]): Promise<void> => {
      for (const body of bodies) {
        await waitForTimeSlice();
        if (this.#closed) return;
        const each = this.#seal(this.#deps.replay ? body : this.#owner.complete(body));
        this.#fedEnd = { index: each.entry.index, hash: each.entry.hash };
        written.push(each);
        this.#owner.feed(each.entry);
      }
    };
    await feed(mails.map(({ body }) => body));
    while (!this.#closed && !lastKinds.has(written.at(-1)?.entry.kind ?? "")) {
      const body = this.#owner.nextEntry();
      if (!body) return;
      await feed([body]);
    }
  }

  /** Removes all waiting mail, up to an entry that nothing may follow. */
  #takeMails(): Mail[] {
    const end = this.#mails.findIndex(({ body }) => lastKinds.has(body.kind));
    return this.#mails.splice(0, end === -1 ? this.#mails.length : end + 1);
  }

  #seal(body: EntryBody): WrittenEntry {
    const { session, run } = this.#request;
    const writer = { session, run, epoch: this.#epoch, host: this.#deps.hostId, at: this.#owner.now() };
    return sealNext(writer, this.#fedEnd, body, this.#deps.redact);
  }

  async #append(written: readonly WrittenEntry[]): Promise<boolean> {
    const { journal, failpoint, clock, logger } = this.#deps;
    const { session, run } = this.#request;
    const after = this.#storedEnd.index;
    const entries = written.map(({ sealed }) => sealed);
    const terminal = written.some(({ entry }) => isTerminal(entry));
    const detail = { run, key: written.map(({ entry }) => answeredEffect(entry) ?? entry.kind).join(" ") };
    this.#owner.appending();
    while (!this.#closed) {
      failpoint.at("append:before", detail);
      try {
        const result = await journal.append({ session, run, after, entries, terminal });
        failpoint.at("append:after", detail);
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

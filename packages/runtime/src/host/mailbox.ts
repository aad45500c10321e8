import { answeredEffect, type Entry, type EntryBody, type RunRequest } from "@troupe/core";
import { sealChain, type WrittenEntry } from "./chain.ts";
import { pace } from "./pace.ts";
import type { World } from "./world.ts";

/** A journal write that fails (a full disk) is tried again after this long, for as long as it takes. */
const appendRetryMs = 1_000;

/** Facts after which this host writes nothing more. */
const lastKinds: ReadonlySet<string> = new Set(["run.settled", "run.parked"]);

interface Mail {
  body: EntryBody;
  stored: () => void;
}

/** What a run makes of what its mailbox has stored. */
export interface MailboxOwner {
  /** What time it is for the run. */
  now(): number;
  /** Sees each entry once it is durable, in order. */
  feed(entry: Entry): void;
  /** Everything of one append was fed; `last` is its newest entry. */
  delivered(last: Entry): Promise<void>;
  /** Somebody else writes this run's journal now. */
  lost(why: string): void;
  /** A bug: in a machine, or on the way here. */
  failed(error: unknown): void;
}

/**
 * The one writer of a run on this host: facts go in, become entries at the end of the run's journal, and are then shown
 * to the run. Whatever waits is one append.
 */
export class Mailbox {
  readonly #world: World;
  readonly #request: RunRequest;
  readonly #owner: MailboxOwner;
  #mails: Mail[] = [];
  /** Whether there are mails on their way to the run. */
  #delivering = false;
  #pumping = false;
  #closed = false;
  #lastIndex = -1;
  #lastHash: string | null = null;
  #epoch = 1;

  constructor(world: World, request: RunRequest, owner: MailboxOwner) {
    this.#world = world;
    this.#request = request;
    this.#owner = owner;
  }

  /** Whether everything that was put into it has been seen by the run. */
  get isEmpty(): boolean {
    return this.#mails.length === 0 && !this.#delivering;
  }

  /** Where the journal ends, by all that was written and fed here. */
  get standing(): { index: number; epoch: number } {
    return { index: this.#lastIndex, epoch: this.#epoch };
  }

  /** Keeps where the journal ends: called with every entry, replayed ones too. */
  note({ index, hash, epoch }: Entry): void {
    this.#lastIndex = index;
    this.#lastHash = hash;
    this.#epoch = epoch;
  }

  /** Resolves when the fact is durable and the run has seen it, or when nothing is written any more. */
  put(body: EntryBody): Promise<void> {
    const { replay } = this.#world;
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
      await pace(); // outcomes of the same turn go together
      while (this.#mails.length > 0 && !this.#closed) await this.#deliver(this.#take());
    } finally {
      // In the same turn as the look that found the mailbox empty: mail that came between would lie there for ever.
      this.#pumping = false;
    }
  }

  async #deliver(mails: readonly Mail[]): Promise<void> {
    const written = this.#seal(mails);
    const last = written.at(-1)?.entry;
    this.#delivering = true;
    const isSeen = last && (await this.#append(written, last.kind === "run.settled")) && (await this.#feed(written));
    this.#delivering = false;
    if (isSeen) await this.#owner.delivered(last);
    for (const { stored } of mails) stored();
  }

  /** False when the run came to an end on the way. */
  async #feed(written: readonly WrittenEntry[]): Promise<boolean> {
    for (const { entry } of written) {
      await pace();
      if (this.#closed) return false;
      this.#owner.feed(entry);
    }
    return !this.#closed;
  }

  /** Everything that waits, up to a fact that nothing may follow. */
  #take(): Mail[] {
    const end = this.#mails.findIndex(({ body }) => lastKinds.has(body.kind));
    return this.#mails.splice(0, end === -1 ? this.#mails.length : end + 1);
  }

  #seal(mails: readonly Mail[]): WrittenEntry[] {
    const { session, run } = this.#request;
    const writer = { session, run, epoch: this.#epoch, host: this.#world.hostId, at: this.#owner.now() };
    const bodies = mails.map(({ body }) => body);
    return sealChain(writer, { index: this.#lastIndex, hash: this.#lastHash }, bodies, this.#world.redact);
  }

  async #append(written: readonly WrittenEntry[], terminal: boolean): Promise<boolean> {
    const { journal, probe, clock, logger } = this.#world;
    const { session, run } = this.#request;
    const entries = written.map(({ sealed }) => sealed);
    const probed = { run, key: written.map(({ entry }) => answeredEffect(entry) ?? entry.kind).join(" ") };
    while (!this.#closed) {
      probe.at("append:before", probed);
      try {
        const result = await journal.append({ session, run, after: this.#lastIndex, entries, terminal });
        probe.at("append:after", probed);
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

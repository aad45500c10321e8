import type { Clock } from "@troupe/core";
import { ageMs, type Moment, momentOf } from "@troupe/core/internal";
import type { NatsLink } from "../connection/link.ts";
import type { Requester } from "../connection/requester.ts";
import type { Delivery } from "./pulls.ts";

export interface LeaseOptions {
  link: Pick<NatsLink, "connected">;
  asks: Pick<Requester, "askOnce">;
  clock: Clock;
  /** A confirmation is good for so long. Shorter than the time after which the task is given out again. */
  sureMs: number;
  extendMs: number;
  /** Whether the stream holds the task no more; null where nobody can say. */
  isGone(delivery: Delivery): Promise<boolean | null>;
  /** Hears when it was lost. */
  onLost(): void;
}

/**
 * How long a task that was taken is certainly nobody else's.
 *
 * The server says yes to every extension: also to one that comes too late, when somebody else has been given the task,
 * or when there is no such task any more. So it is this side that counts: an extension is asked for, and its
 * confirmation believed, only while the one before is certainly in force; time is counted from the asking. After a gap
 * only the journal can tell, and whoever has read it says so with `renew`.
 */
export class Lease {
  readonly #options: LeaseOptions;
  readonly #lost = new AbortController();
  readonly #unsureListeners = new Set<() => void>();
  #delivery: Delivery;
  #confirmedAt: Moment | null;
  #renewing: Promise<boolean> | null = null;
  #isDoubtful = false;
  #over = false;
  #stopTicking = (): void => {};

  constructor(delivery: Delivery, options: LeaseOptions) {
    this.#options = options;
    this.#delivery = delivery;
    this.#confirmedAt = delivery.askedAt;
    this.#tickLater();
  }

  get delivery(): Delivery {
    return this.#delivery;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  isSure(): boolean {
    return this.sureForMs() > 0;
  }

  /** How long it still is. */
  sureForMs(): number {
    const { clock, sureMs } = this.#options;
    return this.#over || this.#confirmedAt === null ? 0 : sureMs - ageMs(clock, this.#confirmedAt);
  }

  onUnsure(listener: () => void): () => void {
    this.#unsureListeners.add(listener);
    return () => this.#unsureListeners.delete(listener);
  }

  /**
   * The same task was given out to this process once more: what is said of it is said of the newest delivery. Where one
   * is missing in between, somebody else had it.
   */
  adopt(next: Delivery): void {
    if (this.#over) return;
    const before = this.#delivery;
    const unbroken = next.seq === before.seq && next.count === before.count + 1;
    const stillSure = this.isSure();
    this.#delivery = next;
    this.#isDoubtful = false;
    this.#confirmedAt = unbroken && stillSure ? next.askedAt : null;
    if (!this.isSure()) this.#tellUnsure();
  }

  /** Whether the server may be one that has lost the task: its number would be another's there. */
  get isDoubtful(): boolean {
    return this.#isDoubtful;
  }

  /** There was a gap: until it is known that the task is still there, no more time is asked for by itself. */
  doubt(): void {
    this.#isDoubtful = true;
  }

  /** Asks for more time, while that is certainly right. */
  async extend(): Promise<void> {
    if (this.#isDoubtful) await this.check();
    if (this.#isDoubtful || !this.isSure()) return;
    const askedAt = momentOf(this.#options.clock);
    // Confirmed too late it says nothing: it may have been asked too late as well.
    if ((await this.#isConfirmed()) && this.isSure()) this.#confirmedAt = askedAt;
  }

  renew(): Promise<boolean> {
    if (this.#over || this.isSure()) return Promise.resolve(!this.#over);
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  /** Whether the task is still there at all. To be asked when the server may be another than before. */
  async check(): Promise<void> {
    const { seq } = this.#delivery;
    const gone = await this.#options.isGone(this.#delivery);
    // In the meantime it may have come again, under another number.
    if (gone === null || this.#delivery.seq !== seq) return;
    this.#isDoubtful = false;
    if (gone) this.lose();
  }

  /** Ends it: whoever calls this may say one last word on the delivery. Null when it was over before. */
  letGo(): Delivery | null {
    if (this.#over) return null;
    this.#over = true;
    this.#stopTicking();
    this.#unsureListeners.clear();
    return this.#delivery;
  }

  lose(): void {
    if (!this.letGo()) return;
    this.#options.onLost();
    this.#lost.abort();
  }

  async #renew(): Promise<boolean> {
    const askedAt = momentOf(this.#options.clock);
    const confirmed = await this.#isConfirmed();
    await this.check();
    if (!confirmed || this.#over) return false;
    this.#confirmedAt = askedAt;
    return this.isSure();
  }

  async #isConfirmed(): Promise<boolean> {
    const { asks, extendMs } = this.#options;
    const { reply } = this.#delivery;
    return await asks.askOnce({ subject: reply, payload: "+WPI", timeoutMs: extendMs }).then(
      () => !this.#over && this.#delivery.reply === reply,
      () => false,
    );
  }

  #tickLater(): void {
    const { clock, extendMs } = this.#options;
    this.#stopTicking = clock.after(extendMs, () => {
      this.#tickLater();
      if (this.isSure()) void this.extend();
      else this.#tellUnsure();
    });
  }

  #tellUnsure(): void {
    if (!this.#options.link.connected) return;
    for (const listener of [...this.#unsureListeners]) listener();
  }
}

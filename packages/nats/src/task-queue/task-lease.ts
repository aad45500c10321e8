import type { Clock } from "@troupe/core";
import { ageMs, type Moment, momentOf } from "@troupe/core/internal";
import type { NatsLink } from "../connection/link.ts";
import type { Requester } from "../connection/requester.ts";
import type { Delivery } from "./pulls.ts";

export interface LeaseOptions {
  link: Pick<NatsLink, "connected">;
  requester: Pick<Requester, "request">;
  clock: Clock;
  /** How long one confirmation is valid. Shorter than the time after which the server delivers the task again. */
  certainMs: number;
  /** Interval between two extensions. */
  extendMs: number;
  /** True if the task is no longer in the stream. Null if that cannot be determined. */
  isGone(delivery: Delivery): Promise<boolean | null>;
  /** Called when the lease is lost. */
  onLost(): void;
}

/**
 * The lease of a task: tells how long no other process can hold the task.
 *
 * The server confirms every extension, even one that arrives after the task was delivered to another host, or after the task
 * is gone. So this class tracks the expiry itself. It extends only while the previous extension is certainly valid, and it
 * counts from the moment the request was sent. After an expiry only the journal can tell which host has the run: the caller
 * reads it, and then calls `renew`.
 */
export class Lease {
  readonly #options: LeaseOptions;
  readonly #lost = new AbortController();
  readonly #uncertainListeners = new Set<() => void>();
  #delivery: Delivery;
  /** When the last confirmed extension was requested. Null if the lease is uncertain. */
  #confirmedAt: Moment | null;
  #renewing: Promise<boolean> | null = null;
  #isDoubtful = false;
  #over = false;
  #stopTimer = (): void => {};

  constructor(delivery: Delivery, options: LeaseOptions) {
    this.#options = options;
    this.#delivery = delivery;
    this.#confirmedAt = delivery.requestedAt;
    this.#startTimer();
  }

  get delivery(): Delivery {
    return this.#delivery;
  }

  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  isCertain(): boolean {
    return this.certainForMs() > 0;
  }

  /** Remaining time in which no other process can hold the task. */
  certainForMs(): number {
    const { clock, certainMs } = this.#options;
    return this.#over || this.#confirmedAt === null ? 0 : certainMs - ageMs(clock, this.#confirmedAt);
  }

  onUncertain(listener: () => void): () => void {
    this.#uncertainListeners.add(listener);
    return () => this.#uncertainListeners.delete(listener);
  }

  /**
   * The server delivered the same task to this process again: acknowledgements now go to the newest delivery. If the
   * delivery count skips a number, another process held the task in between.
   */
  adopt(next: Delivery): void {
    if (this.#over) return;
    const before = this.#delivery;
    const isNextDelivery = next.seq === before.seq && next.count === before.count + 1;
    const isCertain = this.isCertain();
    this.#delivery = next;
    this.#isDoubtful = false;
    this.#confirmedAt = isNextDelivery && isCertain ? next.requestedAt : null;
    if (!this.isCertain()) this.#emitUncertain();
  }

  /** True if the server may have lost the task: its sequence may belong to another task there. */
  get isDoubtful(): boolean {
    return this.#isDoubtful;
  }

  /** Call it after a reconnect. The lease is not extended until `check` has found the task in the stream. */
  doubt(): void {
    this.#isDoubtful = true;
  }

  /** Extends the lease if it is still guaranteed. */
  async extend(): Promise<void> {
    if (this.#isDoubtful) await this.check();
    if (this.#isDoubtful || !this.isCertain()) return;
    const requestedAt = momentOf(this.#options.clock);
    // A confirmation that arrives after the expiry proves nothing: the request may have arrived too late as well.
    if ((await this.#isConfirmed()) && this.isCertain()) this.#confirmedAt = requestedAt;
  }

  renew(): Promise<boolean> {
    if (this.#over || this.isCertain()) return Promise.resolve(!this.#over);
    this.#renewing ??= this.#renew().finally(() => {
      this.#renewing = null;
    });
    return this.#renewing;
  }

  /** Looks for the task in the stream, and loses the lease if the task is gone. */
  async check(): Promise<void> {
    const { seq } = this.#delivery;
    const gone = await this.#options.isGone(this.#delivery);
    // The task may have been offered and delivered again meanwhile, with another sequence.
    if (gone === null || this.#delivery.seq !== seq) return;
    this.#isDoubtful = false;
    if (gone) this.lose();
  }

  /** Ends the lease. The caller may send one final acknowledgement to the returned delivery. Null if it had ended before. */
  release(): Delivery | null {
    if (this.#over) return null;
    this.#over = true;
    this.#stopTimer();
    this.#uncertainListeners.clear();
    return this.#delivery;
  }

  lose(): void {
    if (!this.release()) return;
    this.#options.onLost();
    this.#lost.abort();
  }

  async #renew(): Promise<boolean> {
    const requestedAt = momentOf(this.#options.clock);
    const confirmed = await this.#isConfirmed();
    await this.check();
    if (!confirmed || this.#over) return false;
    this.#confirmedAt = requestedAt;
    return this.isCertain();
  }

  async #isConfirmed(): Promise<boolean> {
    const { requester, extendMs } = this.#options;
    const { reply } = this.#delivery;
    return await requester.request({ subject: reply, payload: "+WPI", timeoutMs: extendMs }).then(
      () => !this.#over && this.#delivery.reply === reply,
      () => false,
    );
  }

  #startTimer(): void {
    const { clock, extendMs } = this.#options;
    this.#stopTimer = clock.after(extendMs, () => {
      this.#startTimer();
      if (this.isCertain()) void this.extend();
      else this.#emitUncertain();
    });
  }

  #emitUncertain(): void {
    if (!this.#options.link.connected) return;
    for (const listener of [...this.#uncertainListeners]) listener();
  }
}

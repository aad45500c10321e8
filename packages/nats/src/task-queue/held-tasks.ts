import type { Clock, TakenTask } from "@troupe/core";
import type { ParkOptions } from "@troupe/core/internal";
import type { NatsLink } from "../connection/link.ts";
import type { Requester } from "../connection/requester.ts";
import { Lease, type LeaseOptions } from "./lease.ts";
import type { Delivery } from "./pulls.ts";

/** The last word on a delivery is repeated so often in a lease, as long as nobody has heard it. */
const triesPerLease = 8;

/** So many tasks are looked for together after a gap. */
const checkedAtOnce = 64;

export interface HolderOptions extends Pick<LeaseOptions, "isGone"> {
  link: Pick<NatsLink, "connected">;
  asks: Pick<Requester, "askOnce">;
  clock: Clock;
  leaseMs: number;
  /** Says to all others that a task is there again. */
  leaveToOthers(subject: string): void;
}

/** Every task that this process holds. */
export interface Holder {
  /** Takes one on. Its lease is certain for `sureMs` from each confirmation on. */
  hold(task: { run: string; bytes: Uint8Array; delivery: Delivery; sureMs: number }): TakenTask;
  /** Whether it is held here already: then it goes on being held, by this delivery. */
  adopt(delivery: Delivery): boolean;
  /** The connection is back, to whatever server. */
  afterGap(): Promise<void>;
  close(): void;
}

export function createHolder({ link, asks, clock, leaseMs, isGone, leaveToOthers }: HolderOptions): Holder {
  const leases = new Map<string, Lease>();
  const tryMs = leaseMs / triesPerLease;
  let closed = false;

  const say = (reply: string, word: string): Promise<boolean> =>
    asks.askOnce({ subject: reply, payload: word, timeoutMs: Math.max(tryMs, 250) }).then(
      () => true,
      () => false,
    );
  /** Resolves after the first try: whoever says it need not wait for a server that is away. */
  const insist = async (last: Delivery, word: string, forMs: number, isDoubtful: boolean): Promise<void> => {
    if (isDoubtful && (await isGone(last))) return;
    if (await say(last.reply, word)) return;
    const untilMs = clock.monotonicMs() + forMs;
    const again = (): void => {
      clock.after(tryMs, async () => {
        // On a server that has lost all the same number may be another task's by now.
        if (closed || clock.monotonicMs() >= untilMs || (await isGone(last))) return;
        if (!(await say(last.reply, word))) again();
      });
    };
    again();
  };

  /** Nothing is said of a task whose lease is uncertain: it may be somebody else's. It comes again by itself. */
  const park = async (lease: Lease, options: ParkOptions | undefined): Promise<void> => {
    const sureForMs = lease.sureForMs();
    const last = lease.letGo();
    if (!last || sureForMs <= 0) return;
    if (!options?.again) return await insist(last, "+ACK", sureForMs, lease.isDoubtful);
    const delayMs = options.againAfterMs ?? 0;
    if (lease.isDoubtful && (await isGone(last))) return;
    // Once only: a second one might hit whoever has the task by then.
    await say(last.reply, delayMs > 0 ? `-NAK {"delay":${Math.round(delayMs * 1_000_000)}}` : "-NAK");
    if (delayMs > 0) clock.after(delayMs, () => closed || leaveToOthers(last.subject));
    else leaveToOthers(last.subject);
  };

  return {
    hold({ run, bytes, delivery, sureMs }) {
      const forget = (): void => {
        if (leases.get(delivery.subject) === lease) leases.delete(delivery.subject);
      };
      const lease = new Lease(delivery, { link, asks, clock, sureMs, extendMs: leaseMs / 4, isGone, onLost: forget });
      leases.set(delivery.subject, lease);
      return {
        run,
        bytes,
        redelivered: delivery.count > 1,
        lost: lease.lost,
        isCertain: () => lease.isSure(),
        renew: () => lease.renew(),
        onUncertain: (listener) => lease.onUnsure(listener),
        async park(options) {
          forget();
          await park(lease, options);
        },
        async finish() {
          forget();
          const last = lease.letGo();
          // The run has ended: whoever has the task by now would find that out and finish it as well.
          if (last) await insist(last, "+ACK", 2 * leaseMs, lease.isDoubtful);
        },
        drop() {
          forget();
          lease.letGo();
        },
      };
    },
    adopt(delivery) {
      const lease = leases.get(delivery.subject);
      lease?.adopt(delivery);
      return lease !== undefined;
    },
    async afterGap() {
      const held = [...leases.values()];
      for (const lease of held) lease.doubt();
      // There may be thousands, and the server has just come back.
      for (let first = 0; first < held.length && link.connected; first += checkedAtOnce) {
        const some = held.slice(first, first + checkedAtOnce);
        await Promise.all(some.map((lease) => lease.check().then(() => lease.extend())));
      }
    },
    close() {
      closed = true;
      for (const lease of [...leases.values()]) lease.lose();
    },
  };
}

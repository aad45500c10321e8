import type { Clock, TakenTask } from "@troupe/core";
import type { ParkOptions } from "@troupe/core/internal";
import type { NatsLink } from "../connection/link.ts";
import type { Requester } from "../connection/requester.ts";
import type { Delivery } from "./pulls.ts";
import { Lease, type LeaseOptions } from "./task-lease.ts";

/** A final acknowledgement without a confirmation is repeated this often within one lease. */
const attemptsPerLease = 8;

/** Tasks that are checked at the same time after a reconnect. */
const concurrentChecks = 64;

export interface HeldTasksOptions extends Pick<LeaseOptions, "isGone"> {
  link: Pick<NatsLink, "connected">;
  requester: Pick<Requester, "request">;
  clock: Clock;
  leaseMs: number;
  /** Announces to the other hosts that a task is available again. */
  leaveToOthers(subject: string): void;
}

/** The tasks that this process holds a lease of. */
export interface HeldTasks {
  /** Starts a lease. Each confirmation of the server guarantees it for `certainMs`. */
  hold(task: { run: string; bytes: Uint8Array; delivery: Delivery; certainMs: number }): TakenTask;
  /** If this process already holds the task, the lease continues with the new delivery. Returns true in that case. */
  adopt(delivery: Delivery): boolean;
  /** Call it after a reconnect: the server may be another one. */
  afterReconnect(): Promise<void>;
  close(): void;
}

export function createHeldTasks({
  link,
  requester,
  clock,
  leaseMs,
  isGone,
  leaveToOthers,
}: HeldTasksOptions): HeldTasks {
  const leases = new Map<string, Lease>();
  const attemptMs = leaseMs / attemptsPerLease;
  let closed = false;

  /** True if the server confirms it. */
  const acknowledge = (reply: string, payload: string): Promise<boolean> =>
    requester.request({ subject: reply, payload, timeoutMs: Math.max(attemptMs, 250) }).then(
      () => true,
      () => false,
    );
  /** Resolves after the first attempt: the caller does not wait for a server that is down. */
  const acknowledgeUntilConfirmed = async (last: Delivery, forMs: number, isDoubtful: boolean): Promise<void> => {
    if (isDoubtful && (await isGone(last))) return;
    if (await acknowledge(last.reply, "+ACK")) return;
    const untilMs = clock.monotonicMs() + forMs;
    const tryAgain = (): void => {
      clock.after(attemptMs, async () => {
        // A server that has lost its data may use the same sequence for another task.
        if (closed || clock.monotonicMs() >= untilMs || (await isGone(last))) return;
        if (!(await acknowledge(last.reply, "+ACK"))) tryAgain();
      });
    };
    tryAgain();
  };

  /** Sends nothing if the lease is uncertain: another host may have the task. The server delivers it again anyway. */
  const park = async (lease: Lease, options: ParkOptions | undefined): Promise<void> => {
    const certainForMs = lease.certainForMs();
    const last = lease.release();
    if (!last || certainForMs <= 0) return;
    if (!options?.again) return await acknowledgeUntilConfirmed(last, certainForMs, lease.isDoubtful);
    const delayMs = options.againAfterMs ?? 0;
    if (lease.isDoubtful && (await isGone(last))) return;
    // Only once: a repetition could hit the next holder of the task.
    await acknowledge(last.reply, delayMs > 0 ? `-NAK {"delay":${Math.round(delayMs * 1_000_000)}}` : "-NAK");
    if (delayMs > 0) clock.after(delayMs, () => closed || leaveToOthers(last.subject));
    else leaveToOthers(last.subject);
  };

  return {
    hold({ run, bytes, delivery, certainMs }) {
      const forget = (): void => {
        if (leases.get(delivery.subject) === lease) leases.delete(delivery.subject);
      };
      const extendMs = leaseMs / 4;
      const lease = new Lease(delivery, { link, requester, clock, certainMs, extendMs, isGone, onLost: forget });
      leases.set(delivery.subject, lease);
      return {
        run,
        bytes,
        redelivered: delivery.count > 1,
        lost: lease.lost,
        isCertain: () => lease.isCertain(),
        renew: () => lease.renew(),
        onUncertain: (listener) => lease.onUncertain(listener),
        async park(options) {
          forget();
          await park(lease, options);
        },
        async finish() {
          forget();
          const last = lease.release();
          // The run has settled. Another host that takes the task finds this out, and finishes the task as well.
          if (last) await acknowledgeUntilConfirmed(last, 2 * leaseMs, lease.isDoubtful);
        },
        drop() {
          forget();
          lease.release();
        },
      };
    },
    adopt(delivery) {
      const lease = leases.get(delivery.subject);
      lease?.adopt(delivery);
      return lease !== undefined;
    },
    async afterReconnect() {
      const held = [...leases.values()];
      for (const lease of held) lease.doubt();
      // In batches: there may be thousands, and the server has just come back.
      for (let first = 0; first < held.length && link.connected; first += concurrentChecks) {
        const batch = held.slice(first, first + concurrentChecks);
        await Promise.all(batch.map((lease) => lease.check().then(() => lease.extend())));
      }
    },
    close() {
      closed = true;
      for (const lease of [...leases.values()]) lease.lose();
    },
  };
}

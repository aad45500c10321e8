import { TroupeError } from "../errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { TakenTask, TakeRequest, TaskOffer, TaskQueue } from "../ports/task-queue.ts";

/**
 * The in-process queue. It needs no leases, because every holder lives in this process. At start the host offers every open
 * run of the journal again. Without a clock, a task parked with a delay is available at once.
 */
export function createMemoryTaskQueue({ clock }: { clock?: Pick<Clock, "after"> } = {}): TaskQueue {
  const queued = new Map<string, TaskOffer>();
  const held = new Map<string, AbortController>();
  const listeners = new Set<() => void>();
  let closed = false;

  const hint = (): void => {
    for (const listener of listeners) {
      queueMicrotask(() => {
        if (listeners.has(listener)) listener();
      });
    }
  };

  const hold = (offer: TaskOffer): TakenTask => {
    const lost = new AbortController();
    held.set(offer.run, lost);
    let over = false;
    /** Ends the hold. Returns false if it had ended before. */
    const release = (): boolean => {
      const wasHeld = !over && !closed;
      over = true;
      return wasHeld;
    };
    const requeue = (): void => {
      held.delete(offer.run);
      if (closed) return;
      queued.set(offer.run, offer);
      hint();
    };
    const forget = (): void => {
      if (release()) held.delete(offer.run);
    };
    return {
      run: offer.run,
      bytes: offer.bytes,
      redelivered: false,
      lost: lost.signal,
      isCertain: () => true,
      renew: async () => !over && !closed,
      onUncertain: () => () => {},
      async park(options) {
        if (!options?.again) return forget();
        if (!release()) return;
        if (options.againAfterMs && clock) clock.after(options.againAfterMs, requeue);
        else requeue();
      },
      finish: async () => forget(),
      drop: forget,
    };
  };

  return {
    async offer(task) {
      if (closed) throw new TroupeError("CLOSED", "the queue is closed");
      if (queued.has(task.run) || held.has(task.run)) return "duplicate";
      queued.set(task.run, { ...task, bytes: new Uint8Array(task.bytes) });
      hint();
      return "offered";
    },
    async take(request) {
      const taken: TakenTask[] = [];
      for (const offer of queued.values()) {
        if (closed || taken.length >= request.max) break;
        if (!serves(request, offer)) continue;
        queued.delete(offer.run);
        taken.push(hold(offer));
      }
      return taken;
    },
    onHint(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    pollFaster() {},
    async close() {
      closed = true;
      for (const lost of held.values()) lost.abort();
      listeners.clear();
    },
  };
}

function serves(request: TakeRequest, offer: TaskOffer): boolean {
  const agentServed = request.agents === "all" || request.agents.includes(offer.agent);
  const localityServed =
    offer.locality === "any" || request.localities === "all" || request.localities.includes(offer.locality);
  return agentServed && localityServed;
}

import { TroupeError } from "../errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { TakenTask, TakeRequest, TaskOffer, TaskQueue } from "../ports/task-queue.ts";

/**
 * The in-process queue. It needs no lease: whoever could hold a task lives in this process. Its contents are rebuilt
 * from the journal at start, by offering every open run again. Without a clock, what is parked for later is there at once.
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
    /** Whether it was held until now. */
    const letGo = (): boolean => {
      const mine = !over && !closed;
      over = true;
      return mine;
    };
    const putBack = (): void => {
      held.delete(offer.run);
      if (closed) return;
      queued.set(offer.run, offer);
      hint();
    };
    const forget = (): void => {
      if (letGo()) held.delete(offer.run);
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
        if (!letGo()) return;
        if (options.againAfterMs && clock) clock.after(options.againAfterMs, putBack);
        else putBack();
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
  const placeServed =
    offer.locality === "any" || request.localities === "all" || request.localities.includes(offer.locality);
  return agentServed && placeServed;
}

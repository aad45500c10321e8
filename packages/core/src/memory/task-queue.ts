import { TroupeError } from "../errors.ts";
import type { TakenTask, TakeRequest, TaskOffer, TaskQueue } from "../ports/task-queue.ts";

/**
 * The in-process queue. It needs no lease: whoever could hold a task lives in this process. Its contents are rebuilt
 * from the journal at start, by offering every open run again.
 */
export function createMemoryTaskQueue(): TaskQueue {
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
    const release = async (): Promise<void> => {
      if (held.get(offer.run) === lost) held.delete(offer.run);
    };
    return { run: offer.run, bytes: offer.bytes, lost: lost.signal, park: release, finish: release };
  };

  return {
    async offer(task) {
      if (closed) throw new TroupeError("CLOSED", "the queue is closed");
      if (queued.has(task.run) || held.has(task.run)) return "duplicate";
      queued.set(task.run, { ...task, bytes: task.bytes.slice() });
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
    async close() {
      closed = true;
      for (const lost of held.values()) lost.abort();
      listeners.clear();
    },
  };
}

function serves(request: TakeRequest, offer: TaskOffer): boolean {
  const agentServed = request.agents === "all" || request.agents.includes(offer.agent);
  const placeServed = offer.place === "any" || request.places === "all" || request.places.includes(offer.place);
  return agentServed && placeServed;
}

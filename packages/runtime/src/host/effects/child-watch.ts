import { type BusMessage, type Entry, LiveEvent, replayAgent } from "@troupe/core";
import { type EffectOf, isWaitingForPeople, openEntry } from "@troupe/core/internal";
import { decodeMessage } from "../decode-message.ts";
import { isWaitingForPerson } from "../run/park.ts";
import type { EffectScope } from "./effect.ts";

/** A run whose newest entry is its opening does not wait for a person. */
const openedIndex = 0;

/** A parent's watch on a child's progress. The response arrives another way. */
export interface ChildWatch {
  /** Reads the child's journal for events that the bus has lost. `lastIndex` is the index of its newest entry. */
  check(lastIndex: number): Promise<void>;
  close(): void;
}

/**
 * Watches whether a host has claimed a child and whether the child waits for a person. A change of the latter goes into
 * the parent's journal, because the parent's clock stands still while its child waits.
 */
export async function watchChild(effect: EffectOf<"runChild">, scope: EffectScope): Promise<ChildWatch> {
  const { request, step, call, item } = effect;
  const { deps } = scope;
  let waiting = scope.wasWaiting(effect);
  let eventCount = 0;
  /** The newest child entry that was replayed, and the newest one that shows no waiting. */
  let replayedIndex = -1;
  let notWaitingIndex = openedIndex;

  const note = async (now: boolean): Promise<void> => {
    if (now === waiting || scope.signal.aborted) return;
    waiting = now;
    await scope.record({ kind: "child.waiting", step, call, item, attempt: request.attempt, waiting: now });
  };

  const subscription = await deps.bus.subscribe(deps.subjects.live(request.session, request.run), (message) => {
    const event = mayBeAboutRun(message) ? decodeMessage(LiveEvent, message, deps) : null;
    if (event?.run !== request.run) return;
    if (event.kind === "run.claimed") scope.hint({ type: "child.claimed", step, call, item });
    if (event.kind !== "run.waiting") return;
    eventCount += 1;
    void note(event.waiting);
  });

  return {
    async check(lastIndex) {
      if (lastIndex === replayedIndex || (lastIndex === notWaitingIndex && !waiting)) return;
      const text = await deps.journal.lastOf(request.session, request.run);
      const last = text === null ? null : openEntry(text);
      if (!last) return;
      // A replay is expensive. It is done once per entry, and only if the child may have changed.
      if (!waiting && !mayBeWaiting(last)) {
        notWaitingIndex = last.index;
        return;
      }
      const eventsBefore = eventCount;
      const entries = (await deps.journal.readRun(request.session, request.run)).map(openEntry);
      replayedIndex = last.index;
      // An event that arrived during the read is newer than the read.
      if (eventCount === eventsBefore) await note(isWaitingForPeople(replayAgent(entries)));
    },
    close: () => subscription.unsubscribe(),
  };
}

/** Whether a live event may be of a `run.` kind. The others, such as each piece of text, are not parsed. */
function mayBeAboutRun({ bytes }: BusMessage): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes('"kind":"run.');
}

function mayBeWaiting(last: Entry): boolean {
  if (last.kind === "child.waiting") return last.waiting;
  return last.kind === "approval.requested" || isWaitingForPerson(last);
}

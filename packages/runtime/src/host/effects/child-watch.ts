import { type BusMessage, type Entry, LiveEvent, replayAgent, type Subscription } from "@troupe/core";
import { type EffectOf, isWaitingForPeople, openEntry } from "@troupe/core/internal";
import { decodeMessage } from "../decode-message.ts";
import { isWaitingForPerson } from "../run/park.ts";
import type { EffectScope } from "./effect.ts";

/** A run that has only been opened waits for nobody. */
const openedIndex = 0;

/** What a parent sees of a child that it waits for, besides its response. */
export interface ChildWatch {
  /** Looks into the child's journal, whose newest entry is at this index, for what the bus may have lost. */
  look(lastIndex: number): Promise<void>;
  close(): void;
}

/**
 * Listens to a child: a host has taken it up, it began or ceased to wait for a person. The second is written into the
 * parent's journal whenever it changes, because a parent's clock stands still with its child's.
 */
export async function watchChild(effect: EffectOf<"runChild">, scope: EffectScope): Promise<ChildWatch> {
  const { request, step, call, item } = effect;
  const { deps } = scope;
  let waiting = scope.wasWaiting(effect);
  let heardCount = 0;
  /** Newest entry of the child that a look has judged, and the newest that is no sign of waiting. */
  let judged = -1;
  let harmless = openedIndex;

  const note = async (now: boolean): Promise<void> => {
    if (now === waiting || scope.signal.aborted) return;
    waiting = now;
    await scope.record({ kind: "child.waiting", step, call, item, attempt: request.attempt, waiting: now });
  };

  const listen = (): Promise<Subscription> =>
    deps.bus.subscribe(deps.subjects.live(request.session, request.run), (message) => {
      const event = isAboutRun(message) ? decodeMessage(LiveEvent, message, deps) : null;
      if (event?.run !== request.run) return;
      if (event.kind === "run.claimed") scope.hint({ type: "child.claimed", step, call, item });
      if (event.kind !== "run.waiting") return;
      heardCount += 1;
      void note(event.waiting);
    });
  const subscription = await listen();

  return {
    async look(lastIndex) {
      if (lastIndex === judged || (lastIndex === harmless && !waiting)) return;
      const text = await deps.journal.lastOf(request.session, request.run);
      const last = text === null ? null : openEntry(text);
      if (!last) return;
      // Only a child that seems to have changed is worth a replay, and only once.
      if (!waiting && !seemsToWait(last)) {
        harmless = last.index;
        return;
      }
      const heardBefore = heardCount;
      const entries = (await deps.journal.readRun(request.session, request.run)).map(openEntry);
      judged = last.index;
      // What was heard meanwhile is newer than what was read.
      if (heardCount === heardBefore) await note(isWaitingForPeople(replayAgent(entries)));
    },
    close: () => subscription.unsubscribe(),
  };
}

/** Whether a live event may be one of those that matter here: the others, every piece of a text, are not parsed. */
function isAboutRun({ bytes }: BusMessage): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes('"kind":"run.');
}

/** Whether a child with this newest entry may be waiting for a person. */
function seemsToWait(last: Entry): boolean {
  if (last.kind === "child.waiting") return last.waiting;
  return last.kind === "approval.requested" || isWaitingForPerson(last);
}

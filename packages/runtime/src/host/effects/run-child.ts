import {
  type BusMessage,
  type EffectOf,
  type EntryBody,
  encode,
  openEntry,
  RunFailure,
  type RunResponse,
  SettledMessage,
  unaskedResponse,
} from "@troupe/core";
import { heard } from "../heard.ts";
import { stillWaits } from "../parked.ts";
import { watchChild } from "./child-watch.ts";
import { withContextFiles } from "./context-files.ts";
import type { EffectScope, Perform } from "./effect.ts";

/** How often a waiting parent looks into its child's journal, in case a message was lost. */
const lookAgainMs = 5_000;

/**
 * One request out, one response back, both as bytes: over the queue and the bus, in one process too.
 *
 * Listens before it offers, so that no answer is missed; offers again after a restart, which changes nothing where the
 * child is known already.
 */
export const runChild: Perform<"runChild"> = async (effect, scope) => {
  const { request } = effect;
  const { world, signal } = scope;
  const answer = Promise.withResolvers<RunResponse | null>();
  const watch = await watchChild(effect, scope);
  const lookUp = async (): Promise<void> => {
    try {
      const settled = await readSettled(effect, scope);
      if (settled) answer.resolve(settled);
      else await watch.look();
    } catch (error) {
      world.logger.warn({ session: request.session, run: request.run, err: error }, "child could not be looked up");
    }
  };
  const subscription = await world.bus.subscribe(world.subjects.settled(request.run), (message) => {
    const response = responseIn(message, effect, scope);
    if (response) answer.resolve(response);
    else void lookUp();
  });
  let stopLooking = (): void => {};
  const look = (): void => {
    stopLooking = world.clock.after(lookAgainMs, () => {
      look();
      void lookUp();
    });
  };
  signal.addEventListener("abort", () => answer.resolve(null), { once: true });
  try {
    const known = (scope.resumed ? await readSettled(effect, scope) : null) ?? (await offer(effect, scope));
    if (known) return settledBody(effect, known);
    if (scope.resumed) void lookUp();
    look();
    const response = await answer.promise;
    return response && settledBody(effect, response);
  } finally {
    stopLooking();
    subscription.unsubscribe();
    watch.close();
  }
};

type RunChild = EffectOf<"runChild">;

function settledBody({ step, call, item, request }: RunChild, response: RunResponse): EntryBody {
  return { kind: "child.settled", step, call, item, attempt: request.attempt, response };
}

/**
 * Hands the request to the queue. A child that has begun already is offered as it was begun, and not woken where it
 * waits for a person.
 *
 * @returns the response of a child that cannot be asked at all
 */
async function offer(effect: RunChild, scope: EffectScope): Promise<RunResponse | null> {
  const { session, run, agent } = effect.request;
  const { journal, queue } = scope.world;
  const begun = scope.resumed ? await journal.readRun(session, run) : [];
  if (await stillWaits(journal, begun)) return null;
  try {
    const request = begun.length > 0 ? effect.request : await withContextFiles(effect, scope);
    if (!scope.signal.aborted) await queue.offer({ run, agent, place: "any", bytes: encode(request) });
    return null;
  } catch (thrown) {
    if (!(thrown instanceof RunFailure)) throw thrown;
    return unaskedResponse(effect.request, "rejected", thrown.runError);
  }
}

/** Null where the message brings none, or not this child's: the journal knows. */
function responseIn(message: BusMessage, { request }: RunChild, { world }: EffectScope): RunResponse | null {
  const response = heard(SettledMessage, message, world)?.response;
  return response?.runId === request.run ? response : null;
}

async function readSettled({ request }: RunChild, { world }: EffectScope): Promise<RunResponse | null> {
  const text = await world.journal.lastOf(request.session, request.run);
  const entry = text === null ? null : openEntry(text);
  return entry?.kind === "run.settled" ? entry.response : null;
}

import { type EffectOf, type EntryBody, encode, RunFailure, type RunResponse, unaskedResponse } from "@troupe/core";
import { stillWaits } from "../parked.ts";
import { readSettled, watchSettled } from "../settled.ts";
import { watchChild } from "./child-watch.ts";
import { withContextFiles } from "./context-files.ts";
import type { EffectScope, Perform } from "./effect.ts";

/**
 * One request out, one response back, both as bytes: over the queue and the bus, in one process too.
 *
 * Listens before it offers, so that no answer is missed; offers again after a restart, which changes nothing where the
 * child is known already.
 */
export const runChild: Perform<"runChild"> = async (effect, scope) => {
  const { request } = effect;
  const { world, signal } = scope;
  const unwanted = Promise.withResolvers<null>();
  const watch = await watchChild(effect, scope);
  const settled = await watchSettled(world, request, watch.look);
  signal.addEventListener("abort", () => unwanted.resolve(null), { once: true });
  try {
    const known = (scope.resumed ? await readSettled(world, request) : null) ?? (await offer(effect, scope));
    if (known) return settledBody(effect, known);
    if (scope.resumed) settled.look();
    const response = await Promise.race([settled.response, unwanted.promise]);
    return response && settledBody(effect, response);
  } finally {
    settled.close();
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

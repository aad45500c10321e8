import {
  type EntryBody,
  type RunError,
  RunFailure,
  type RunRequest,
  type RunResponse,
  TroupeError,
} from "@troupe/core";
import { type EffectOf, notStartedResponse, permanentError } from "@troupe/core/internal";
import { type MissingHost, missingHost, noHostError } from "../missing-host.ts";
import { offerRun } from "../offer-run.ts";
import { createOrphanDetector, failOrphan } from "../recovery/fail-orphan.ts";
import { retryUntilDone } from "../retry-until-done.ts";
import { isParkedWithoutCommand } from "../run/park.ts";
import { readSettled, type UnsettledHooks, watchSettled } from "../run/settled.ts";
import { cancelChild } from "./cancel-child.ts";
import { childRequest } from "./child-request.ts";
import { watchChild } from "./child-watch.ts";
import type { EffectScope, Perform } from "./effect.ts";

type RunChild = EffectOf<"runChild">;

/** The request in the queue, and the time of the last offer. */
interface Offer {
  request: RunRequest | null;
  atMs: number;
}

/**
 * Runs a child: one request out over the queue, one response back over the bus, both as bytes, also within one process.
 *
 * It subscribes before it offers the child, so that no response is missed. After a restart it offers the child again,
 * which changes nothing if the child is known.
 */
export const runChild: Perform<"runChild"> = async (effect, scope) => {
  const { deps, signal } = scope;
  const aborted = Promise.withResolvers<null>();
  const offer: Offer = { request: null, atMs: deps.clock.monotonicMs() };
  signal.addEventListener("abort", () => aborted.resolve(null), { once: true });
  // The subscription is sent first, but not awaited: it and the offer are a round trip each.
  const watching = startWatching(effect, scope, createRepeatedOffer(offer, scope));
  const known = await offerUntilDone(effect, scope, offer);
  const [watch, settled] = await watching;
  try {
    if (known) return settledEntry(effect, known);
    if (scope.resumed) settled.check();
    const response = await Promise.race([settled.response, aborted.promise]);
    return response && settledEntry(effect, response);
  } finally {
    settled.close();
    watch.close();
  }
};

/** Sends its subscriptions before it returns, and resolves when the bus has confirmed them. */
async function startWatching(effect: RunChild, scope: EffectScope, offerAgain: UnsettledHooks["onUnopened"]) {
  const watching = watchChild(effect, scope);
  const failIfOrphan = createOrphanCheck(effect, scope);
  const hooks: UnsettledHooks = {
    async onOpen(lastIndex) {
      if (!(await failIfOrphan(lastIndex))) await (await watching).check(lastIndex);
    },
    async onUnopened() {
      if (!(await failIfOrphan(unopenedIndex))) await offerAgain?.();
    },
  };
  return await Promise.all([watching, watchSettled(scope.deps, effect.request, hooks)]);
}

const unopenedIndex = -1;

/** Creates the check that fails a child whose workspace has no live host. It resolves to whether the child was failed. */
function createOrphanCheck(
  { request }: RunChild,
  { deps, isHeld, signal }: EffectScope,
): (lastIndex: number) => Promise<boolean> {
  const orphans = createOrphanDetector(deps);
  return async (lastIndex) => {
    if (!orphans.isOrphan(request, lastIndex)) return false;
    if (!(await isHeld()) || signal.aborted) return false;
    await failOrphan(deps, request);
    return true;
  };
}

/**
 * Offers a child again that no host has opened for two leases. A queue on another machine may lose its tasks with its
 * disk. If the queue still has the child, the offer changes nothing.
 */
function createRepeatedOffer(offer: Offer, { deps, isHeld, signal }: EffectScope): UnsettledHooks["onUnopened"] {
  const { leaseMs, clock } = deps;
  if (leaseMs === undefined) return undefined;
  return async () => {
    if (!offer.request || clock.monotonicMs() - offer.atMs < 2 * leaseMs || !(await isHeld()) || signal.aborted) return;
    offer.atMs = clock.monotonicMs();
    await offerRun(deps, offer.request);
  };
}

/** Resolves to the response of a child that has settled already or cannot be offered; otherwise to null. */
async function offerUntilDone(effect: RunChild, scope: EffectScope, offer: Offer): Promise<RunResponse | null> {
  let known: RunResponse | null = null;
  const tryOnce = async (): Promise<void> => {
    known =
      (scope.resumed ? await readSettled(scope.deps, effect.request) : null) ?? (await offerOnce(effect, scope, offer));
  };
  await retryUntilDone(tryOnce, "child could not be offered; trying again", scope);
  return known;
}

/**
 * Offers the child to the queue. A child that has started is offered with its original request, unless it is parked for
 * a person.
 *
 * @returns the response of a child that cannot be offered
 */
async function offerOnce(effect: RunChild, scope: EffectScope, offer: Offer): Promise<RunResponse | null> {
  const { session, run } = effect.request;
  const { journal } = scope.deps;
  const entries = scope.resumed ? await journal.readRun(session, run) : [];
  if (await isParkedWithoutCommand(journal, entries)) return null;
  try {
    const isStarted = entries.length > 0;
    const request = isStarted ? effect.request : await childRequest(effect, scope);
    const noHost = isStarted ? null : await noHostResponse(effect, scope);
    if (noHost) return noHost;
    if (!(await scope.isHeld()) || scope.signal.aborted) return null;
    await offerRun(scope.deps, request);
    Object.assign(offer, { request, atMs: scope.deps.clock.monotonicMs() });
    return null;
  } catch (thrown) {
    const error = thrown instanceof RunFailure ? thrown.runError : tooLargeError(thrown);
    if (!error) throw thrown;
    return notStartedResponse(effect.request, "rejected", error);
  }
}

/** The response of a child that no live host can run; null for any other. */
async function noHostResponse(effect: RunChild, scope: EffectScope): Promise<RunResponse | null> {
  const { request } = effect;
  let missing: MissingHost | null = null;
  const query = async (): Promise<void> => {
    missing = await missingHost(scope.deps, request);
    // It may have been offered before the restart. A host that takes it later then finds it cancelled.
    if (missing && scope.resumed) await cancelChild({ ...effect, kind: "cancelChild", reason: "no host" }, scope);
  };
  await retryUntilDone(query, "hosts could not be asked; trying again", scope);
  return missing && notStartedResponse(request, "failed", noHostError(missing));
}

/** The error of a request that exceeds the payload limit. It would not fit later either. */
function tooLargeError(thrown: unknown): RunError | null {
  return TroupeError.is(thrown) && thrown.code === "TOO_LARGE" ? permanentError("params", thrown.message) : null;
}

function settledEntry({ step, call, item, request }: RunChild, response: RunResponse): EntryBody {
  return { kind: "child.settled", step, call, item, attempt: request.attempt, response };
}

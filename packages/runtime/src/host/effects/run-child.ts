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
import { failOrphan } from "../recovery/fail-orphan.ts";
import { createOrphanedWorkspaces } from "../recovery/orphaned-workspaces.ts";
import { untilDone } from "../retry-until-done.ts";
import { stillWaits } from "../run/park.ts";
import { type Meanwhile, readSettled, watchSettled } from "../run/settled.ts";
import { cancelChild } from "./cancel-child.ts";
import { withFolder } from "./child-folder.ts";
import { withContextFiles } from "./child-request.ts";
import { watchChild } from "./child-watch.ts";
import type { EffectScope, Perform } from "./effect.ts";

/**
 * One request out, one response back, both as bytes: over the queue and the bus, in one process too.
 *
 * Begins to listen before it offers, so that no answer is missed; offers again after a restart, which changes nothing where the
 * child is known already.
 */
export const runChild: Perform<"runChild"> = async (effect, scope) => {
  const { deps, signal } = scope;
  const unwanted = Promise.withResolvers<null>();
  const asked: Asked = { request: null, atMs: deps.clock.monotonicMs() };
  signal.addEventListener("abort", () => unwanted.resolve(null), { once: true });
  // In this order, but without waiting in between: each of them is a round trip.
  const listening = listen(effect, scope, offeringAgain(asked, scope));
  const known = await ask(effect, scope, asked);
  const [watch, settled] = await listening;
  try {
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

/** What was put into the queue, and when. */
interface Asked {
  request: RunRequest | null;
  atMs: number;
}

/** Has told the bus what it wants to hear before it returns, and knows that the bus has heard it once it resolves. */
async function listen(effect: RunChild, scope: EffectScope, unbegun: Meanwhile["unbegun"]) {
  const watching = watchChild(effect, scope);
  const giveUpIfLost = givingUp(effect, scope);
  const meanwhile: Meanwhile = {
    async open(lastIndex) {
      if (!(await giveUpIfLost(lastIndex))) await (await watching).look(lastIndex);
    },
    async unbegun() {
      if (!(await giveUpIfLost(unbegunIndex))) await unbegun?.();
    },
  };
  return await Promise.all([watching, watchSettled(scope.deps, effect.request, meanwhile)]);
}

const unbegunIndex = -1;

/** Whoever waits for a child where nobody lives any more, ends it in the end. Resolves to whether it was given up. */
function givingUp(
  { request }: RunChild,
  { deps, isOurs, signal }: EffectScope,
): (lastIndex: number) => Promise<boolean> {
  const places = createOrphanedWorkspaces(deps);
  return async (lastIndex) => {
    if (!places.isLost(request, lastIndex)) return false;
    if (!(await isOurs()) || signal.aborted) return false;
    await failOrphan(deps, request);
    return true;
  };
}

function settledBody({ step, call, item, request }: RunChild, response: RunResponse): EntryBody {
  return { kind: "child.settled", step, call, item, attempt: request.attempt, response };
}

/** Resolves to the response of a child that has one already, or that cannot be asked at all. */
async function ask(effect: RunChild, scope: EffectScope, asked: Asked): Promise<RunResponse | null> {
  let known: RunResponse | null = null;
  const tryOnce = async (): Promise<void> => {
    known =
      (scope.resumed ? await readSettled(scope.deps, effect.request) : null) ?? (await offer(effect, scope, asked));
  };
  await untilDone(tryOnce, "child could not be offered; trying again", scope);
  return known;
}

/**
 * Hands the request to the queue. A child that has begun already is offered as it was begun, and not woken where it
 * waits for a person.
 *
 * @returns the response of a child that cannot be asked at all
 */
async function offer(effect: RunChild, scope: EffectScope, asked: Asked): Promise<RunResponse | null> {
  const { session, run } = effect.request;
  const { journal } = scope.deps;
  const begun = scope.resumed ? await journal.readRun(session, run) : [];
  if (await stillWaits(journal, begun)) return null;
  try {
    const request = begun.length > 0 ? effect.request : await requestFor(effect, scope);
    const missing = begun.length > 0 ? null : await missingFor(effect, scope);
    if (missing) return missing;
    if (!(await scope.isOurs()) || scope.signal.aborted) return null;
    await offerRun(scope.deps, request);
    Object.assign(asked, { request, atMs: scope.deps.clock.monotonicMs() });
    return null;
  } catch (thrown) {
    const error = thrown instanceof RunFailure ? thrown.runError : tooLarge(thrown);
    if (!error) throw thrown;
    return notStartedResponse(effect.request, "rejected", error);
  }
}

/** With what only this host can give it: what its files say, and where it works. */
async function requestFor(effect: RunChild, scope: EffectScope): Promise<RunRequest> {
  return await withFolder(await withContextFiles(effect, scope), scope);
}

/** The response of a child that nobody who lives can run; null for any other. */
async function missingFor(effect: RunChild, scope: EffectScope): Promise<RunResponse | null> {
  const { request } = effect;
  let missing: MissingHost | null = null;
  const look = async (): Promise<void> => {
    missing = await missingHost(scope.deps, request);
    // Before a restart it may have been offered: whoever comes and takes it is to know that nobody waits for it.
    if (missing && scope.resumed) await cancelChild({ ...effect, kind: "cancelChild", reason: "no host" }, scope);
  };
  await untilDone(look, "hosts could not be asked; trying again", scope);
  return missing && notStartedResponse(request, "failed", noHostError(missing));
}

/** A request that no message can carry will not fit later either. */
function tooLarge(thrown: unknown): RunError | null {
  return TroupeError.is(thrown) && thrown.code === "TOO_LARGE" ? permanentError("params", thrown.message) : null;
}

/**
 * A queue on another machine may lose what it was given, with its disk. What nobody has begun after two leases is offered
 * again: where it still waits there this changes nothing.
 */
function offeringAgain(asked: Asked, { deps, isOurs, signal }: EffectScope): Meanwhile["unbegun"] {
  const { leaseMs, clock } = deps;
  if (leaseMs === undefined) return undefined;
  return async () => {
    if (!asked.request || clock.monotonicMs() - asked.atMs < 2 * leaseMs || !(await isOurs()) || signal.aborted) return;
    asked.atMs = clock.monotonicMs();
    await offerRun(deps, asked.request);
  };
}

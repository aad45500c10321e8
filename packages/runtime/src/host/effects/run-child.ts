import {
  type BusMessage,
  type EffectOf,
  type EntryBody,
  encode,
  LiveEvent,
  openEntry,
  type RunResponse,
  SettledMessage,
  type Subscription,
} from "@troupe/core";
import { heard } from "../heard.ts";
import type { EffectScope, Perform } from "./effect.ts";

/** How often a waiting parent looks into its child's journal, in case the one message was lost. */
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
  const lookUp = async (): Promise<void> => {
    try {
      const settled = await readSettled(effect, scope);
      if (settled) answer.resolve(settled);
    } catch (error) {
      world.logger.warn({ session: request.session, run: request.run, err: error }, "child could not be looked up");
    }
  };
  const subscriptions = await Promise.all([
    world.bus.subscribe(world.subjects.settled(request.run), (message) => {
      const response = responseIn(message, effect, scope);
      if (response) answer.resolve(response);
      else void lookUp();
    }),
    listenForClaim(effect, scope),
  ]);
  let stopLooking = (): void => {};
  const look = (): void => {
    stopLooking = world.clock.after(lookAgainMs, () => {
      look();
      void lookUp();
    });
  };
  signal.addEventListener("abort", () => answer.resolve(null), { once: true });
  try {
    const known = scope.resumed ? await readSettled(effect, scope) : null;
    if (known) answer.resolve(known);
    else await world.queue.offer({ run: request.run, agent: request.agent, place: "any", bytes: encode(request) });
    look();
    const response = await answer.promise;
    return response && settledBody(effect, response);
  } finally {
    stopLooking();
    for (const subscription of subscriptions) subscription.unsubscribe();
  }
};

type RunChild = EffectOf<"runChild">;

function settledBody({ step, call, request }: RunChild, response: RunResponse): EntryBody {
  return { kind: "child.settled", step, call, attempt: request.attempt, response };
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

/** The first live event of a child is its claim; after that there is nothing here to listen for. */
async function listenForClaim({ request, step, call }: RunChild, scope: EffectScope): Promise<Subscription> {
  const { bus, subjects } = scope.world;
  const subscription = await bus.subscribe(subjects.live(request.session, request.run), (message) => {
    if (heard(LiveEvent, message, scope.world)?.kind !== "run.claimed") return;
    subscription.unsubscribe();
    scope.hint({ type: "child.claimed", step, call });
  });
  return subscription;
}

import {
  decode,
  type EffectOf,
  type EntryBody,
  encode,
  LiveEvent,
  openEntry,
  type RunResponse,
  SettledMessage,
  type Subscription,
} from "@troupe/core";
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
  const subscriptions = await Promise.all([
    world.bus.subscribe(world.subjects.settled(request.run), ({ bytes }) => {
      const { response } = decode(SettledMessage, bytes, "settled message");
      if (response) answer.resolve(response);
      else void readSettled(effect, scope).then((settled) => answer.resolve(settled));
    }),
    listenForClaim(effect, scope),
  ]);
  let stopLooking = (): void => {};
  const look = (): void => {
    stopLooking = world.clock.after(lookAgainMs, () => {
      void readSettled(effect, scope).then((settled) => (settled ? answer.resolve(settled) : look()));
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

async function readSettled({ request }: RunChild, { world }: EffectScope): Promise<RunResponse | null> {
  const text = await world.journal.lastOf(request.session, request.run);
  const entry = text === null ? null : openEntry(text);
  return entry?.kind === "run.settled" ? entry.response : null;
}

/** The first live event of a child is its claim; after that there is nothing here to listen for. */
async function listenForClaim({ request, step, call }: RunChild, scope: EffectScope): Promise<Subscription> {
  const { bus, subjects } = scope.world;
  const subscription = await bus.subscribe(subjects.live(request.session, request.run), ({ bytes }) => {
    if (decode(LiveEvent, bytes, "live event").kind !== "run.claimed") return;
    subscription.unsubscribe();
    scope.hint({ type: "child.claimed", step, call });
  });
  return subscription;
}

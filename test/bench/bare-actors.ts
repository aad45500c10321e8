import { assign, createActor, fromPromise, setup } from "xstate";

/** The least that an agent's states cost: three promises, one of which takes a while. */
function bareMachine(work: () => Promise<string>) {
  return setup({
    types: { context: {} as { text: string } },
    actors: { note: fromPromise(async () => "noted"), work: fromPromise(work) },
  }).createMachine({
    context: { text: "" },
    initial: "intent",
    states: {
      intent: { invoke: { src: "note", onDone: "execute" } },
      execute: { invoke: { src: "work", onDone: { target: "respond", actions: assign({ text: "answer" }) } } },
      respond: { invoke: { src: "note", onDone: "settled" } },
      settled: { type: "final" },
    },
  });
}

/** Begins lives whose work is as given; each call resolves when its actor has ended. */
export function bareLives(work: () => Promise<string> = async () => "done"): () => Promise<void> {
  const machine = bareMachine(work);
  return () =>
    new Promise((resolve) => {
      const actor = createActor(machine);
      actor.subscribe({ complete: resolve });
      actor.start();
    });
}

/** Actors that wait for ever. */
export function waitingActors(count: number): { stop(): void }[] {
  const machine = bareMachine(() => new Promise(() => {}));
  return Array.from({ length: count }, () => createActor(machine).start());
}

/** Wall time that so many lives at once take beyond the one wait that all of them have. */
export async function addedByLivesMs(count: number, waitMs: number): Promise<number> {
  const live = bareLives(() => new Promise((resolve) => setTimeout(resolve, waitMs, "done")));
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: count }, live));
  return performance.now() - startedMs - waitMs;
}

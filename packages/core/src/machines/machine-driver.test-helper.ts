import { type AnyActorRef, createActor } from "xstate";
import type { EntryBody } from "../protocol/entry.ts";
import type { RunRequest } from "../protocol/request.ts";
import type { AgentEvent } from "./agent/events.ts";
import type { agentMachine } from "./agent/machine.ts";
import { answeredEffect, type Effect, type EffectKind, type EffectOf, effectKey } from "./effects.ts";
import type { RunFact } from "./facts.ts";
import { aRequest, aSpec, type SpecChanges } from "./fixtures.test-helper.ts";
import { provideAgent } from "./provide-agent.ts";

/** Opening time of the tests' runs. */
export const openedAt = 1_000_000;

/** The body of any entry that can follow a run's opening. */
export type FactBody = Exclude<EntryBody, { kind: "run.opened" }>;

type Begin = (effect: Effect) => () => void;

/** Tracks the effects of a machine, as a host would. */
function trackEffects() {
  const running = new Map<string, Effect>();
  const answered = new Set<string>();
  let started: string[] = [];
  let stopped: string[] = [];
  const begin: Begin = (effect) => {
    const key = effectKey(effect);
    running.set(key, effect);
    // Started again: a repeated model call, or an approved tool call.
    answered.delete(key);
    started.push(key);
    return () => {
      if (running.get(key) !== effect) return;
      running.delete(key);
      if (!answered.has(key)) stopped.push(key);
    };
  };
  return {
    begin,
    answer(body: EntryBody): void {
      const key = answeredEffect(body);
      if (key !== null && running.has(key)) answered.add(key);
    },
    /** Effects started and stopped since the last look. An effect that ends with its outcome does not count as stopped. */
    look(): { started: string[]; stopped: string[] } {
      const seen = { started, stopped };
      started = [];
      stopped = [];
      return seen;
    },
    pending: (): Effect[] => [...running].filter(([key]) => !answered.has(key)).map(([, effect]) => effect),
  };
}

export interface MachineDriver {
  /** Feeds one fact. Each comes 10 ms after the one before unless `at` says otherwise. */
  feed(body: FactBody, at?: number): void;
  /** Feeds one fact and returns the new state and the keys of started and stopped effects. */
  on(body: FactBody, at?: number): { state: string; started: string[]; stopped: string[] };
  /** Settles all dropped children, as a host does, and returns their keys. */
  settleDropped(): string[];
  /** Sends a hint, which is not a fact. */
  hint(event: Extract<AgentEvent, { type: "child.claimed" }>): void;
  /** The innermost state, as `execute.act`. */
  state(): string;
  context(): ReturnType<typeof snapshotOf>["context"];
  /** Keys of effects started and stopped since the last look. */
  look(): { started: string[]; stopped: string[] };
  /** Wanted effects without an outcome. */
  pending(): Effect[];
  pendingKeys(): string[];
  effect<K extends EffectKind>(kind: K): EffectOf<K>;
  /** Ids of active child actors. */
  children(): string[];
  response(): NonNullable<ReturnType<typeof snapshotOf>["context"]["response"]>;
  output(): unknown;
  isDone(): boolean;
  /** Every fact that was fed, in order. */
  readonly facts: readonly RunFact[];
  replay(facts: readonly RunFact[]): void;
}

function snapshotOf(actor: ReturnType<typeof createActor<typeof agentMachine>>) {
  return actor.getSnapshot();
}

/** Runs the agent machine without a host: effects are recorded, and the test feeds the facts. */
export function drive(changes: SpecChanges = {}, request: Partial<RunRequest> = {}): MachineDriver {
  const book = trackEffects();
  const facts: RunFact[] = [];
  const input = { request: aRequest(request), pin: aSpec(changes), openedAt };
  const actor = createActor(provideAgent(book.begin), { input });
  actor.subscribe({
    error: (error) => {
      throw error;
    },
  });
  actor.start();
  let clock = openedAt;

  const send = (fact: RunFact): void => {
    facts.push(fact);
    clock = Math.max(clock, fact.at);
    book.answer({ ...(fact as object), kind: fact.type } as EntryBody);
    actor.send(fact);
    const { status, error } = snapshotOf(actor) as { status: string; error: unknown };
    if (status === "error") throw error;
  };
  const pending = book.pending;
  /** Answers `planCalls` at once, because it decides nothing. */
  const answerPlan = (): void => {
    const plan = pending().find((effect) => effect.kind === "planCalls");
    if (plan?.kind !== "planCalls") return;
    const { step, children, refused } = plan;
    send({ type: "calls.planned", step, children: [...children], refused: [...refused], at: clock });
  };
  const feed = ({ kind, ...rest }: FactBody, at = clock + 10): void => {
    send({ ...rest, type: kind, at } as RunFact);
    answerPlan();
  };

  return {
    feed,
    on(body, at) {
      book.look();
      feed(body, at);
      return { state: nameOf(snapshotOf(actor).value), ...book.look() };
    },
    settleDropped() {
      const dropped = pending().filter((effect) => effect.kind === "dropChild");
      for (const { step, call, item, attempt, response } of dropped) {
        feed({ kind: "child.settled", step, call, item, attempt, response });
      }
      return dropped.map(effectKey);
    },
    hint: (event) => actor.send(event),
    state: () => nameOf(snapshotOf(actor).value),
    context: () => snapshotOf(actor).context,
    look: book.look,
    pending,
    pendingKeys: () => pending().map(effectKey).sort(),
    effect(kind) {
      const found = pending().find((effect) => effect.kind === kind);
      if (!found) throw new Error(`no ${kind} is wanted; wanted: ${pending().map(effectKey).join(", ")}`);
      return found as Extract<Effect, { kind: typeof kind }>;
    },
    children: () =>
      Object.entries<AnyActorRef | undefined>(snapshotOf(actor).children)
        .filter(([, child]) => child?.getSnapshot().status === "active")
        .map(([id]) => id)
        .sort(),
    response() {
      const { response } = snapshotOf(actor).context;
      if (!response) throw new Error(`no response yet in ${nameOf(snapshotOf(actor).value)}`);
      return response;
    },
    output: () => snapshotOf(actor).output,
    isDone: () => snapshotOf(actor).status === "done",
    facts,
    replay(others) {
      for (const fact of others) send(fact);
    },
  };
}

function nameOf(value: unknown): string {
  if (typeof value === "string") return value;
  const [[outer, inner] = ["", ""]] = Object.entries(value as Record<string, unknown>);
  return `${outer}.${nameOf(inner)}`;
}

import { nothingSpent } from "../../budget/ledger.ts";
import type { Budget } from "../../protocol/budget.ts";
import { emptyConversation, openConversation, withMessages } from "../agent/conversation.ts";
import type { EffectOf } from "../effects.ts";
import type { Random } from "./random.test-helper.ts";
import type { SimulatedRun } from "./run.test-helper.ts";

/** What the world has really taken for something. */
export interface Amounts {
  tokens: number;
  costUsd: number;
  toolCalls: number;
  spawns: number;
}

export type ModelEffect = EffectOf<"callModel" | "assessIntent" | "summarise" | "compact">;

/** Sums of floats differ in their last digits. */
const hairUsd = 1e-9;

/** What was really taken for a run and all below it, beside what its machine believes. */
export interface Account {
  subtree: Amounts;
  /** Of its own model calls alone. */
  own: Amounts;
  /** Whether something was lost on the way, so that its machine cannot know, and charges the most that it can have been. */
  isUnsure: boolean;
}

export class Spending {
  readonly #accounts = new Map<string, Account>();

  of({ request }: Pick<SimulatedRun, "request">): Account {
    const found = this.#accounts.get(request.run);
    if (found) return found;
    const account = { subtree: { ...nothingSpent, costUsd: 0 }, own: { ...nothingSpent, costUsd: 0 }, isUnsure: false };
    this.#accounts.set(request.run, account);
    return account;
  }

  pay(run: SimulatedRun, above: readonly SimulatedRun[], paid: Partial<Amounts>): void {
    const all = { tokens: 0, costUsd: 0, toolCalls: 0, spawns: 0, ...paid };
    for (const sum of [this.of(run).own, ...[run, ...above].map((each) => this.of(each).subtree)]) {
      sum.tokens += all.tokens;
      sum.costUsd += all.costUsd;
      sum.toolCalls += all.toolCalls;
      sum.spawns += all.spawns;
    }
  }

  markUnknown(run: SimulatedRun, above: readonly SimulatedRun[]): void {
    for (const each of [run, ...above]) this.of(each).isUnsure = true;
  }
}

/** Which kinds of a sum are over their limits; in words. */
export function excess(sum: { [K in keyof Amounts]: number | null }, limit: Budget): string | null {
  for (const kind of ["tokens", "costUsd", "toolCalls", "spawns"] as const) {
    const most = limit[kind];
    if (most === null) continue;
    const value = sum[kind];
    if (value === null) return `${kind}: unknown, of ${most}`;
    if (value > most + (kind === "costUsd" ? hairUsd : 0)) return `${kind}: ${value} of ${most}`;
  }
  return null;
}

/** The most that a model can read for it. */
function inputOf(effect: ModelEffect, { request, pin }: SimulatedRun): number {
  if (effect.kind === "compact") return effect.tokensBefore;
  if (effect.kind === "assessIntent") return openConversation(request, pin).contextTokens;
  return withMessages(emptyConversation(pin), effect.messages).contextTokens;
}

/** What one model call takes: any part of the most that it can. */
export function usageOf(effect: ModelEffect, run: SimulatedRun, random: Random) {
  const inputTokens = random.upTo(inputOf(effect, run));
  const outputTokens = random.upTo(effect.maxOutputTokens);
  const { price } = run.pin;
  const costUsd = price && (inputTokens * price.inputPerMillion + outputTokens * price.outputPerMillion) / 1_000_000;
  return { inputTokens, outputTokens, cachedTokens: 0, costUsd };
}

import { nothingSpent } from "../../budget/ledger.ts";
import type { Budget } from "../../protocol/budget.ts";
import { emptyConversation, openConversation, withMessages } from "../agent/conversation.ts";
import type { EffectOf } from "../effects.ts";
import type { Random } from "./random.test-helper.ts";
import type { SimulatedRun } from "./run.test-helper.ts";

/** Amounts that were really used. */
export interface Amounts {
  tokens: number;
  costUsd: number;
  toolCalls: number;
  spawns: number;
}

export type ModelEffect = EffectOf<"callModel" | "assessIntent" | "summarise" | "compact">;

/** Sums of floats differ in their last digits. */
const toleranceUsd = 1e-9;

/** The real usage of a run and all runs below it, independent of its machine. */
export interface Account {
  subtree: Amounts;
  /** Only its own model calls. */
  own: Amounts;
  /** Whether an outcome was lost, so that the machine charges the maximum instead of the real usage. */
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

  charge(run: SimulatedRun, above: readonly SimulatedRun[], paid: Partial<Amounts>): void {
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

/** The first kind that exceeds its limit, as text; null if none does. */
export function excess(sum: { [K in keyof Amounts]: number | null }, limit: Budget): string | null {
  for (const kind of ["tokens", "costUsd", "toolCalls", "spawns"] as const) {
    const most = limit[kind];
    if (most === null) continue;
    const value = sum[kind];
    if (value === null) return `${kind}: unknown, of ${most}`;
    if (value > most + (kind === "costUsd" ? toleranceUsd : 0)) return `${kind}: ${value} of ${most}`;
  }
  return null;
}

/** The most input tokens of a call. */
function inputOf(effect: ModelEffect, { request, pin }: SimulatedRun): number {
  if (effect.kind === "compact") return effect.tokensBefore;
  if (effect.kind === "assessIntent") return openConversation(request, pin).contextTokens;
  return withMessages(emptyConversation(pin), effect.messages).contextTokens;
}

/** Random usage of a model call, up to its maximum. */
export function usageOf(effect: ModelEffect, run: SimulatedRun, random: Random) {
  const inputTokens = random.upTo(inputOf(effect, run));
  const outputTokens = random.upTo(effect.maxOutputTokens);
  const { price } = run.pin;
  const costUsd = price && (inputTokens * price.inputPerMillion + outputTokens * price.outputPerMillion) / 1_000_000;
  return { inputTokens, outputTokens, cachedTokens: 0, costUsd };
}

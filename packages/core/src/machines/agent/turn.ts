import { isUnlimited, remainderOf } from "../../budget/ledger.ts";
import type { Budget } from "../../protocol/budget.ts";
import type { RunSpec } from "../../protocol/entry.ts";
import type { BailoutReason } from "../../protocol/response.ts";
import { isShortOfTime } from "./clock.ts";
import type { AgentContext, Turn } from "./context.ts";
import { withMessages } from "./conversation.ts";
import { lastTurnNotice } from "./rules.ts";

/** A call that may say less than this is not worth making. */
const outputTokensMin = 16;
/** What the last turn should have to say something with, and a turn before it. */
const finalOutputTokens = 1_024;
const workingOutputTokensMin = 256;
/** From this share of the conversation's limit on, the next turn is the last. */
const contextShareForLast = 0.8;
/** What each child's result may add to the conversation. */
const resultTokens = 512;
const million = 1_000_000;

/** What the run and all below it have left, with everything that is under way taken as used. */
export function remainder(context: AgentContext): Budget {
  if (isUnlimited(context.pin.budget)) return context.pin.budget;
  const reserves: Partial<Budget>[] = context.outstanding ? [context.outstanding] : [];
  for (const { reserve, retries } of context.children.values()) {
    reserves.push(retries);
    if (reserve) reserves.push(reserve);
  }
  return remainderOf(context.pin.budget, context.tally.charged, reserves);
}

/** Tool calls that may still be made: within the run's own cap, and within what the tree has left. */
export function toolCallsLeft(context: AgentContext): number {
  const own = context.pin.limits.maxToolCalls - context.tally.toolCalls;
  return Math.max(0, Math.min(own, remainder(context).toolCalls ?? own));
}

/** The run as a turn begins: what has come meanwhile is told to the model, and that the turn is the last where it is. */
export function openTurn(context: AgentContext, last: Turn["last"]): AgentContext {
  const isTold = context.repeatsTurn && context.turn?.last !== null;
  const texts = [...context.news, ...(last && !isTold ? [lastTurnNotice] : [])];
  const added = texts.map((text) => ({ role: "user" as const, text }));
  return added.length === 0 ? context : { ...context, ...withMessages(context, added), news: [] };
}

/**
 * How long the conversation may grow: as its own cap says, and as its model can read with room left for an answer. No
 * more than a quarter of a small window is left for that.
 */
export function contextLimit({ limits, contextTokens }: RunSpec): number {
  const own = limits.maxContextTokens ?? Number.POSITIVE_INFINITY;
  if (contextTokens === null) return own;
  return Math.min(own, contextTokens - Math.min(limits.maxOutputTokens, Math.floor(contextTokens / 4)));
}

/** The turn that is to be made next: the newest one over again, or another. */
export function nextStep({ step, repeatsTurn }: Pick<AgentContext, "step" | "repeatsTurn">): number {
  return repeatsTurn ? step : step + 1;
}

/** The cap that keeps the run from another turn; null while there is room for one. */
export function reachedCap(run: AgentContext): BailoutReason | null {
  const context = openTurn(run, lastTurnReason(run));
  if (context.contextTokens >= contextLimit(context.pin)) return "max_context";
  const left = modelCallsLeft(context);
  const wanted = Math.min(outputTokensMin, context.pin.limits.maxOutputTokens);
  if (outputWithin(context, { ...left, costUsd: Number.POSITIVE_INFINITY }) < wanted) return "max_tokens";
  return outputWithin(context, left) < wanted ? "max_cost" : null;
}

/** A turn with this conversation: what its model call may say, and what is set aside for it. */
export function planTurn(context: AgentContext, last: Turn["last"]): Turn {
  const left = modelCallsLeft(context);
  const output = last ? outputWithin(context, left) : outputBesidesFinal(context, left);
  const window = (context.pin.contextTokens ?? Number.POSITIVE_INFINITY) - context.contextTokens;
  const maxOutputTokens = Math.max(1, Math.floor(Math.min(output, window)));
  return { last, maxOutputTokens, reserve: callCost(context, maxOutputTokens) };
}

/** The cap because of which the next turn has to be the last; null when another may follow. */
export function lastTurnReason(run: AgentContext): BailoutReason | null {
  const context = openTurn(run, null);
  const { limits } = context.pin;
  if (nextStep(context) >= limits.maxIterations) return "max_iterations";
  if (toolCallsLeft(context) === 0) return "max_tool_calls";
  if (context.contextTokens >= contextLimit(context.pin) * contextShareForLast) return "max_context";
  if (isShortOfTime(context)) return "timeout";
  const left = modelCallsLeft(context);
  // An agent that may say little at a time is not short of budget because of that.
  const wanted = Math.min(workingOutputTokensMin, limits.maxOutputTokens);
  if (outputBesidesFinal(context, { ...left, costUsd: Number.POSITIVE_INFINITY }) < wanted) return "max_tokens";
  return outputBesidesFinal(context, left) < wanted ? "max_cost" : null;
}

/** What is left for children once the last turn of this run has been set aside. */
export function leftForChildren(context: AgentContext): Budget {
  const left = remainder(context);
  const final = callCost(
    { ...context, contextTokens: context.contextTokens + resultTokens * context.children.size },
    finalOutputTokens,
  );
  const without = (whole: number | null, part: number): number | null =>
    whole === null ? null : Math.max(0, whole - part);
  return { ...left, tokens: without(left.tokens, final.tokens), costUsd: without(left.costUsd, final.costUsd) };
}

/** Room for a model call beside the turns (a summary, an assessment): 0 when there is none to spare. */
export function sideCallOutput(context: AgentContext, outputTokensWanted: number): number {
  const output = Math.floor(Math.min(outputTokensWanted, outputBesidesFinal(context, modelCallsLeft(context))));
  return output < outputTokensMin ? 0 : output;
}

/** What one model call uses at most. */
export function callCost(
  { contextTokens, pin }: Pick<AgentContext, "contextTokens" | "pin">,
  outputTokens: number,
): { tokens: number; costUsd: number } {
  const { input, output } = dearestOf(pin);
  return {
    tokens: contextTokens + outputTokens,
    costUsd: (contextTokens * input + outputTokens * output) / million,
  };
}

/** What a million tokens cost at most: reading may be dearer where the provider keeps for later what it reads. */
function dearestOf({ price }: AgentContext["pin"]): { input: number; output: number } {
  if (price === null) return { input: 0, output: 0 };
  const { inputPerMillion, cacheWritePerMillion = 0, outputPerMillion } = price;
  return { input: Math.max(inputPerMillion, cacheWritePerMillion), output: outputPerMillion };
}

interface Left {
  tokens: number;
  costUsd: number;
}

/** What this run's own model calls may still use: within its own caps, and within what the tree has left. */
function modelCallsLeft(context: AgentContext): Left {
  const { tally, pin } = context;
  const tree = remainder(context);
  const own = tally.usage.inputTokens + tally.usage.outputTokens + tally.lost.tokens;
  const ownUsd = (tally.usage.costUsd ?? Number.POSITIVE_INFINITY) + tally.lost.costUsd;
  const within = (cap: number | null, used: number): number => (cap === null ? Number.POSITIVE_INFINITY : cap - used);
  return {
    tokens: Math.min(within(pin.limits.maxTokens, own), within(tree.tokens, 0)),
    costUsd: Math.min(within(pin.limits.maxCostUsd, ownUsd), within(tree.costUsd, 0)),
  };
}

/**
 * How much a call may say, if it is to fit into what is left.
 *
 * @param rereads how often all that it says will be read again at that expense
 */
function outputWithin(context: AgentContext, left: Left, rereads = 0): number {
  const reading = callCost(context, 0);
  const { input, output } = dearestOf(context.pin);
  const perToken = (output + rereads * input) / million;
  const affordable = left.costUsd - reading.costUsd;
  const byCost = affordable < 0 ? 0 : perToken === 0 ? Number.POSITIVE_INFINITY : affordable / perToken;
  return Math.min(context.pin.limits.maxOutputTokens, (left.tokens - reading.tokens) / (1 + rereads), byCost);
}

/** The same, with one more call held back that repeats all that was said and gives the answer. */
function outputBesidesFinal(context: AgentContext, left: Left): number {
  const final = callCost(context, finalOutputTokens);
  const rest = { tokens: left.tokens - final.tokens, costUsd: left.costUsd - final.costUsd };
  return outputWithin(context, rest, 1);
}

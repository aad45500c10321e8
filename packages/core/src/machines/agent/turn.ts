import { isUnlimited, remainderOf } from "../../budget/ledger.ts";
import { planModel } from "../../plan/play-plan.ts";
import type { Budget } from "../../protocol/budget.ts";
import type { RunSpec } from "../../protocol/entry.ts";
import type { BailoutReason } from "../../protocol/response.ts";
import { isShortOfTime } from "./clock.ts";
import type { AgentContext, Turn } from "./context.ts";
import { withMessages } from "./conversation.ts";
import { isSpawnTurn } from "./spawn.ts";

export const lastTurnNotice =
  "This is your last turn: no more tools can be used. Answer now with what you have, and say what is missing.";

/** A model call with fewer output tokens is not worth making. */
const outputTokensMin = 16;
/** Output tokens reserved for the last turn, and wanted for a turn before it. */
const finalOutputTokens = 1_024;
const workingOutputTokensMin = 256;
/** From this share of the conversation's limit on, the next turn is the last. */
const contextShareForLast = 0.8;
/** Tokens that each child's result may add to the conversation. */
const resultTokens = 512;
const million = 1_000_000;

/** The budget that the run and all runs below it have left. Reserves of running work count as used. */
export function remainder(context: AgentContext): Budget {
  if (isUnlimited(context.pin.budget)) return context.pin.budget;
  const reserves: Partial<Budget>[] = context.callReserve ? [context.callReserve] : [];
  for (const { reserve, retryReserve } of context.children.values()) {
    reserves.push(retryReserve);
    if (reserve) reserves.push(reserve);
  }
  return remainderOf(context.pin.budget, context.usage.charged, reserves);
}

/** Tool calls that may still be made: within the run's own cap and the tree's budget. */
export function toolCallsLeft(context: AgentContext): number {
  const own = context.pin.limits.maxToolCalls - context.usage.toolCalls;
  return Math.max(0, Math.min(own, remainder(context).toolCalls ?? own));
}

/** The run at the start of a turn, with pending messages and the notice of a last turn in its conversation. */
export function openTurn(context: AgentContext, last: Turn["last"]): AgentContext {
  const isNoticeNew = !(context.repeatTurn && context.turn?.last !== null);
  const texts = [...context.pendingMessages, ...(last && isNoticeNew ? [lastTurnNotice] : [])];
  const added = texts.map((text) => ({ role: "user" as const, text }));
  return added.length === 0 ? context : { ...context, ...withMessages(context, added), pendingMessages: [] };
}

/**
 * The longest conversation: the run's own cap, and the model's window minus space for an answer. In a small window that
 * space is at most a quarter.
 */
export function contextLimit({ limits, contextTokens }: RunSpec): number {
  const own = limits.maxContextTokens ?? Number.POSITIVE_INFINITY;
  if (contextTokens === null) return own;
  return Math.min(own, contextTokens - Math.min(limits.maxOutputTokens, Math.floor(contextTokens / 4)));
}

/** The most turns of a run. The last one has no tools; the answering turn of a domain agent is no iteration. */
export function turnsMax({ limits, answersByDomain }: RunSpec): number {
  return limits.maxIterations + (answersByDomain ? 1 : 0);
}

/** The step of the next turn: the current one again, or a new one. */
export function nextStep({ step, repeatTurn }: Pick<AgentContext, "step" | "repeatTurn">): number {
  return repeatTurn ? step : step + 1;
}

/** The cap that forbids another turn; null if one may begin. */
export function reachedCap(run: AgentContext): BailoutReason | null {
  // Without a model there is nothing to cap: at a limit the runner of a plan has its last turn.
  if (run.request.plan || run.intent.handler || isSpawnTurn(run, nextStep(run))) return null;
  const context = openTurn(run, lastTurnReason(run));
  if (context.contextTokens >= contextLimit(context.pin)) return "max_context";
  const left = modelCallsLeft(context);
  const wanted = Math.min(outputTokensMin, context.pin.limits.maxOutputTokens);
  if (outputWithin(context, { ...left, costUsd: Number.POSITIVE_INFINITY }) < wanted) return "max_tokens";
  return outputWithin(context, left) < wanted ? "max_cost" : null;
}

/** Plans a turn with this conversation: the output tokens and the reserve of its model call. */
export function planTurn(context: AgentContext, last: Turn["last"]): Turn {
  const left = modelCallsLeft(context);
  const output = last ? outputWithin(context, left) : outputBeforeFinal(context, left);
  const window = (context.pin.contextTokens ?? Number.POSITIVE_INFINITY) - context.contextTokens;
  const maxOutputTokens = Math.max(1, Math.floor(Math.min(output, window)));
  return { last, maxOutputTokens, reserve: callCost(context, maxOutputTokens) };
}

/** The cap that makes the next turn the last; null if another may follow. */
export function lastTurnReason(run: AgentContext): BailoutReason | null {
  const context = openTurn(run, null);
  const { limits } = context.pin;
  if (nextStep(context) >= turnsMax(context.pin)) return "max_iterations";
  if (toolCallsLeft(context) === 0) return "max_tool_calls";
  if (run.intent.handler || isSpawnTurn(context, nextStep(context))) return null;
  if (context.contextTokens >= contextLimit(context.pin) * contextShareForLast) return "max_context";
  if (isShortOfTime(context)) return "timeout";
  const left = modelCallsLeft(context);
  // A low cap on output tokens alone does not mean that the budget runs out.
  const wanted = Math.min(workingOutputTokensMin, limits.maxOutputTokens);
  if (outputBeforeFinal(context, { ...left, costUsd: Number.POSITIVE_INFINITY }) < wanted) return "max_tokens";
  return outputBeforeFinal(context, left) < wanted ? "max_cost" : null;
}

/** A limit of a run that is too low for its first turn. */
export interface MissingBudget {
  kind: "tokens" | "costUsd";
  given: number;
  needed: number;
  /** Whether the turn has tools. An agent without tools only answers. */
  withTools: boolean;
}

/**
 * The limit that is too low for the first turn of a run, with the lowest one that suffices; null if every limit suffices.
 * A turn with tools needs a second call that answers from their results, so that work is not paid for without an answer.
 */
export function missingBudget(context: AgentContext): MissingBudget | null {
  const { limits, tools, price } = context.pin;
  const withTools = tools.length > 0 && turnsMax(context.pin) > 1 && toolCallsLeft(context) > 0;
  const left = modelCallsLeft(context);
  const output = Math.min(withTools ? workingOutputTokensMin : outputTokensMin, limits.maxOutputTokens);
  const first = callCost(context, output);
  const last = callCost({ ...context, contextTokens: context.contextTokens + output }, finalOutputTokens);
  const needed = withTools
    ? { tokens: first.tokens + last.tokens, costUsd: first.costUsd + last.costUsd }
    : { tokens: first.tokens, costUsd: first.costUsd };
  if (left.tokens < needed.tokens) {
    return { kind: "tokens", given: left.tokens, needed: needed.tokens, withTools };
  }
  // Without a price the run is rejected with its own reason.
  if (price === null || left.costUsd >= needed.costUsd) return null;
  return { kind: "costUsd", given: left.costUsd, needed: needed.costUsd, withTools };
}

/** The budget left for children, after the reserve for the last turn of this run. */
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

/** Output tokens for a model call outside of the turns (a summary, an assessment); 0 if the budget is too small. */
export function sideCallOutput(context: AgentContext, outputTokensWanted: number): number {
  const output = Math.floor(Math.min(outputTokensWanted, outputBeforeFinal(context, modelCallsLeft(context))));
  return output < outputTokensMin ? 0 : output;
}

/** The most that one model call can use. */
export function callCost(
  { contextTokens, pin, intent }: Pick<AgentContext, "contextTokens" | "pin" | "intent">,
  outputTokens: number,
): { tokens: number; costUsd: number } {
  if (pin.model === planModel || intent.handler) return { tokens: 0, costUsd: 0 };
  const { input, output } = maxPrice(pin);
  return {
    tokens: contextTokens + outputTokens,
    costUsd: (contextTokens * input + outputTokens * output) / million,
  };
}

/** The highest price per million tokens: input that the provider writes to its cache can cost more than plain input. */
function maxPrice({ price }: AgentContext["pin"]): { input: number; output: number } {
  if (price === null) return { input: 0, output: 0 };
  const { inputPerMillion, cacheWritePerMillion = 0, outputPerMillion } = price;
  return { input: Math.max(inputPerMillion, cacheWritePerMillion), output: outputPerMillion };
}

interface Left {
  tokens: number;
  costUsd: number;
}

/** The remaining budget of this run's own model calls: within its own caps and the tree's budget. */
function modelCallsLeft(context: AgentContext): Left {
  const { usage, pin } = context;
  const tree = remainder(context);
  const own = usage.own.inputTokens + usage.own.outputTokens + usage.lost.tokens;
  const ownUsd = (usage.own.costUsd ?? Number.POSITIVE_INFINITY) + usage.lost.costUsd;
  const within = (cap: number | null, used: number): number => (cap === null ? Number.POSITIVE_INFINITY : cap - used);
  return {
    tokens: Math.min(within(pin.limits.maxTokens, own), within(tree.tokens, 0)),
    costUsd: Math.min(within(pin.limits.maxCostUsd, ownUsd), within(tree.costUsd, 0)),
  };
}

/** Sums of dollars are exact to less than this. Without it, exactly the price of a token would not pay for it. */
const tokensLostInSums = 1e-6;

/**
 * Output tokens that fit into the remaining budget.
 *
 * @param rereads how often the output will be read again at the run's expense
 */
function outputWithin(context: AgentContext, left: Left, rereads = 0): number {
  const reading = callCost(context, 0);
  const { input, output } = maxPrice(context.pin);
  const perToken = (output + rereads * input) / million;
  const affordable = left.costUsd - reading.costUsd;
  const byCost =
    affordable < 0 ? 0 : perToken === 0 ? Number.POSITIVE_INFINITY : affordable / perToken + tokensLostInSums;
  return Math.min(context.pin.limits.maxOutputTokens, (left.tokens - reading.tokens) / (1 + rereads), byCost);
}

/** The same, with a reserve for one final call, which reads this output again and gives the answer. */
function outputBeforeFinal(context: AgentContext, left: Left): number {
  const final = callCost(context, finalOutputTokens);
  const rest = { tokens: left.tokens - final.tokens, costUsd: left.costUsd - final.costUsd };
  return outputWithin(context, rest, 1);
}

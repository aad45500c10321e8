import type { Message } from "../../protocol/model.ts";
import type { Compaction, EffectOf } from "../effects.ts";
import type { AgentContext } from "./context.ts";
import { bytesPerToken, type Conversation, messageTokens, tokensOf, transcriptOf } from "./conversation.ts";
import {
  canRecall,
  type IndexedResult,
  isOfThisRun,
  placeholderFor,
  type Summary,
  summaryMessage,
  toolResultsOf,
} from "./result-placeholders.ts";
import { contextLimit, lastTurnReason, nextStep, openTurn } from "./turn.ts";

/**
 * Shortens a conversation that nears its limit, between two turns. Trimming comes first and costs nothing: placeholders
 * replace older tool results. Compaction comes next: a summary replaces older messages. From 80 % of the limit on, the
 * next turn is the last, whatever was shortened.
 *
 * I1 Each happens at most once before a turn: a conversation that cannot shrink goes on to its last turn.
 * I2 The request and the newest turn stay, and a call is never separated from its result.
 * I3 The entry lists the replaced results. Replay reads the entry, so a later version of these rules replays old journals.
 */

/** Shares of the limit from which on a conversation is trimmed, and compacted. */
const trimShare = 0.6;
const compactShare = 0.7;
/** The share of the limit that the newest turns, which stay unchanged, may take. The very newest always stays. */
const recentShare = 0.25;
/** Any change discards the provider's prompt cache from that point on, so it has to free at least this share. */
const freedShareMin = 0.1;
/** A result that frees fewer tokens stays. */
const resultTokensMin = 64;
/** Output tokens of a summary call: a fixed maximum, and a share of the limit. */
const summaryTokensMax = 2_048;
const summaryShare = 0.1;
/** Our estimate counts more tokens than a model does: a full summary has to fit by the estimate as well. */
const estimateSurplus = 1.5;

type TrimPlan = Omit<EffectOf<"trim">, "kind" | "run">;
type CompactionPlan = Compaction & { step: number };

/** Whether older results have to be replaced before the next turn, and doing so frees enough. */
export function mustTrim(context: AgentContext): boolean {
  if (context.trimmedStep === nextStep(context) || !isOverShare(context, trimShare)) return false;
  const { tokensBefore, tokensAfter } = planTrim(context);
  return tokensBefore - tokensAfter >= contextLimit(context.pin) * freedShareMin;
}

/** Selects all results except those of the newest turns and those hardly longer than their placeholders. */
export function planTrim(context: AgentContext): TrimPlan {
  const { contextTokens, pin } = context;
  const from = recentStart(context, contextLimit(pin));
  const chosen = toolResultsOf(context).flatMap((result) => {
    const tokens = result.index < from ? freedBy(result, pin) : 0;
    return tokens < resultTokensMin ? [] : [{ reference: result.reference, tokens }];
  });
  return {
    step: nextStep(context),
    results: chosen.map(({ reference }) => reference),
    tokensBefore: contextTokens,
    tokensAfter: chosen.reduce((left, { tokens }) => left - tokens, contextTokens),
  };
}

/** The conversation with placeholders for these results. */
export function trimConversation(
  context: AgentContext,
  { results }: Pick<TrimPlan, "results">,
): Pick<Conversation, "messages" | "contextTokens"> {
  const chosen = new Set(results);
  const messages = [...context.messages];
  let { contextTokens } = context;
  for (const result of toolResultsOf(context)) {
    if (!chosen.has(result.reference)) continue;
    messages[result.index] = placeholderFor(result, context.pin);
    contextTokens -= freedBy(result, context.pin);
  }
  return { messages, contextTokens };
}

/** Whether older messages have to be summarised before the next turn, and doing so helps. */
export function mustCompact(context: AgentContext): boolean {
  if (context.compacted?.step === nextStep(context) || !isOverShare(context, compactShare)) return false;
  const limit = contextLimit(context.pin);
  const freed = tokensOf(splitAt(context, recentStart(context, limit)).replaced) - textTokensMax(limit);
  // A conversation that is still too long afterwards would pay for the summary in vain.
  const fitsAfterwards = openTurn(context, null).contextTokens - freed < limit;
  return fitsAfterwards && freed >= limit * freedShareMin;
}

export function planCompaction(context: AgentContext): CompactionPlan {
  const { messages, contextTokens, pin } = context;
  const limit = contextLimit(pin);
  const from = recentStart(context, limit);
  const recallable = canRecall(pin) ? toolResultsOf(context).filter(isOfThisRun) : [];
  const references = new Map(recallable.map(({ index, reference }) => [index, reference]));
  return {
    step: nextStep(context),
    transcript: transcriptOf(messages.slice(0, from), limit * bytesPerToken, (at) => references.get(at) ?? null),
    textTokensMax: textTokensMax(limit),
    kept: messages.length - from,
    tokensBefore: contextTokens,
    tokensLeft: contextTokens - tokensOf(splitAt(context, from).replaced),
  };
}

/** Output tokens that a summary call may use. */
export function compactionTokens({ pin }: Pick<AgentContext, "pin">): number {
  return summaryTokens(contextLimit(pin));
}

/** Length of the conversation with the summary in place. */
export function tokensAfterCompaction({ tokensLeft }: Pick<Compaction, "tokensLeft">, summary: Summary): number {
  return tokensLeft + messageTokens(summaryMessage(summary));
}

/** The conversation with a summary in place of all messages but the request and the newest ones. */
export function compactConversation(
  context: AgentContext,
  fact: Summary & { kept: number },
): Pick<Conversation, "messages" | "contextTokens" | "requestIndex"> {
  const { messages, contextTokens, requestIndex } = context;
  const from = messages.length - fact.kept;
  const { replaced, request } = splitAt(context, from);
  const summary = summaryMessage(fact);
  return {
    messages: [...request, summary, ...messages.slice(from)],
    contextTokens: contextTokens - tokensOf(replaced) + messageTokens(summary),
    requestIndex: request.length > 0 ? 0 : requestIndex - from + 1,
  };
}

/** Whether the next turn begins over this share of the limit. A turn that is the last for another reason only has to fit. */
function isOverShare(context: AgentContext, share: number): boolean {
  const limit = contextLimit(context.pin);
  const { contextTokens } = openTurn(context, null);
  if (!context.pin.makesRoom || contextTokens < limit * share) return false;
  const reason = lastTurnReason(context);
  return contextTokens >= limit || reason === null || reason === "max_context";
}

/** Index of the first recent message: as many turns as fit their share, never between a call and its result. */
function recentStart({ messages, requestIndex }: Conversation, limit: number): number {
  let from = Math.max(
    requestIndex,
    messages.findLastIndex(({ role }) => role === "assistant"),
  );
  let tokens = tokensOf(messages.slice(from));
  for (let at = from - 1; at >= 0; at -= 1) {
    const message = messages[at];
    if (!message) break;
    tokens += messageTokens(message);
    if (tokens > limit * recentShare) break;
    if (message.role !== "tool") from = at;
  }
  return from;
}

/** Splits the messages before an index into the ones to replace and the request, which stays. */
function splitAt({ messages, requestIndex }: Conversation, from: number): { replaced: Message[]; request: Message[] } {
  const older = messages.slice(0, from);
  return {
    replaced: older.filter((_, at) => at !== requestIndex),
    request: older.filter((_, at) => at === requestIndex),
  };
}

function freedBy(result: IndexedResult, spec: AgentContext["pin"]): number {
  return messageTokens(result.message) - messageTokens(placeholderFor(result, spec));
}

function summaryTokens(limit: number): number {
  return Math.floor(Math.min(summaryTokensMax, limit * summaryShare));
}

function textTokensMax(limit: number): number {
  return Math.ceil(summaryTokens(limit) * estimateSurplus);
}

import type { Message } from "../../protocol/model.ts";
import type { Compaction, EffectOf } from "../effects.ts";
import type { AgentContext } from "./context.ts";
import { bytesPerToken, type Conversation, messageTokens, tokensOf, transcriptOf } from "./conversation.ts";
import {
  canRecall,
  isOwn,
  type PlacedResult,
  referenceTo,
  resultsOf,
  type Summary,
  summaryMessage,
} from "./result-placeholders.ts";
import { contextLimit, lastTurnReason, nextStep, openTurn } from "./turn.ts";

/**
 * How room is made in a conversation that nears its limit, between two turns: first older results give way to
 * references, which costs nothing; then all that is older gives way to a summary. From 80 % of the limit on the next
 * turn is the last, whatever was done.
 *
 * I1 At most one of each before a turn: a conversation that cannot shrink goes on to its last turn.
 * I2 The request stays, and so does the newest turn; a call is never parted from its result.
 * I3 What gives way is said by the entry, not found again: another version of these rules replays it all the same.
 */

/** Shares of the limit from which on room is made. */
const trimShare = 0.6;
const compactShare = 0.7;
/** How much of the limit the newest turns, which stay as they are, may take; the newest stays in any case. */
const keptShare = 0.25;
/** Changing what was said throws the provider's prompt cache away from there on: only for much, and so rarely. */
const worthShare = 0.1;
/** A result that frees less than this stays. */
const resultTokensMin = 64;
/** What the model may say to sum up; at most this share of the limit. */
const summaryTokensMax = 2_048;
const summaryShare = 0.1;
/** Our estimate is higher than what a model counts: a whole summary has to fit all the same. */
const estimateSurplus = 1.5;

type TrimPlan = Omit<EffectOf<"trim">, "kind" | "run">;
type CompactionPlan = Compaction & { step: number };

/** Whether older results have to give way to references before the next turn, and it is worth it. */
export function mustTrim(context: AgentContext): boolean {
  if (context.trimmedStep === nextStep(context) || !needsRoom(context, trimShare)) return false;
  const { tokensBefore, tokensAfter } = planTrim(context);
  return tokensBefore - tokensAfter >= contextLimit(context.pin) * worthShare;
}

/** All results but those of the newest turns, and those that are hardly longer than what would stand for them. */
export function planTrim(context: AgentContext): TrimPlan {
  const { contextTokens, pin } = context;
  const from = newestFrom(context, contextLimit(pin));
  const chosen = resultsOf(context).flatMap((result) => {
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

/** The conversation once these results have given way. */
export function trimmed(context: AgentContext, { results }: Pick<TrimPlan, "results">): Partial<Conversation> {
  const chosen = new Set(results);
  const messages = [...context.messages];
  let { contextTokens } = context;
  for (const result of resultsOf(context)) {
    if (!chosen.has(result.reference)) continue;
    messages[result.index] = referenceTo(result, context.pin);
    contextTokens -= freedBy(result, context.pin);
  }
  return { messages, contextTokens };
}

/** Whether the history has to give way to a summary before the next turn, and it is worth it. */
export function mustCompact(context: AgentContext): boolean {
  if (context.compacted?.step === nextStep(context) || !needsRoom(context, compactShare)) return false;
  const limit = contextLimit(context.pin);
  const freed = tokensOf(partAt(context, newestFrom(context, limit)).gone) - textTokensMax(limit);
  // What is too long all the same would be paid for in vain.
  const isOfUse = openTurn(context, null).contextTokens - freed < limit;
  return isOfUse && freed >= limit * worthShare;
}

export function planCompaction(context: AgentContext): CompactionPlan {
  const { messages, contextTokens, pin } = context;
  const limit = contextLimit(pin);
  const from = newestFrom(context, limit);
  const named = canRecall(pin) ? resultsOf(context).filter(isOwn) : [];
  const references = new Map(named.map(({ index, reference }) => [index, reference]));
  return {
    step: nextStep(context),
    transcript: transcriptOf(messages.slice(0, from), limit * bytesPerToken, (at) => references.get(at) ?? null),
    textTokensMax: textTokensMax(limit),
    kept: messages.length - from,
    tokensBefore: contextTokens,
    tokensLeft: contextTokens - tokensOf(partAt(context, from).gone),
  };
}

/** What the model may say to sum the conversation up. */
export function compactionTokens({ pin }: Pick<AgentContext, "pin">): number {
  return summaryTokens(contextLimit(pin));
}

/** How long the conversation is once a summary stands for what gave way. */
export function tokensAfterCompaction({ tokensLeft }: Pick<Compaction, "tokensLeft">, summary: Summary): number {
  return tokensLeft + messageTokens(summaryMessage(summary));
}

/** The conversation with a summary in place of all but the request and the newest messages. */
export function compacted(context: AgentContext, fact: Summary & { kept: number }): Partial<Conversation> {
  const { messages, contextTokens, requestAt } = context;
  const from = messages.length - fact.kept;
  const { gone, request } = partAt(context, from);
  const summary = summaryMessage(fact);
  return {
    messages: [...request, summary, ...messages.slice(from)],
    contextTokens: contextTokens - tokensOf(gone) + messageTokens(summary),
    requestAt: request.length > 0 ? 0 : requestAt - from + 1,
  };
}

/** Whether the next turn begins with that much of the limit taken. One that is the last anyway has only to fit. */
function needsRoom(context: AgentContext, share: number): boolean {
  const limit = contextLimit(context.pin);
  const { contextTokens } = openTurn(context, null);
  if (!context.pin.makesRoom || contextTokens < limit * share) return false;
  const reason = lastTurnReason(context);
  return contextTokens >= limit || reason === null || reason === "max_context";
}

/** Where the newest turns begin: as many as fit into their share, and never between a call and its result. */
function newestFrom({ messages, requestAt }: Conversation, limit: number): number {
  let from = Math.max(
    requestAt,
    messages.findLastIndex(({ role }) => role === "assistant"),
  );
  let tokens = tokensOf(messages.slice(from));
  for (let at = from - 1; at >= 0; at -= 1) {
    const message = messages[at];
    if (!message) break;
    tokens += messageTokens(message);
    if (tokens > limit * keptShare) break;
    if (message.role !== "tool") from = at;
  }
  return from;
}

/** What gives way where the newest messages begin there, and the request, where it is among them: it stays. */
function partAt({ messages, requestAt }: Conversation, from: number): { gone: Message[]; request: Message[] } {
  const older = messages.slice(0, from);
  return {
    gone: older.filter((_, at) => at !== requestAt),
    request: older.filter((_, at) => at === requestAt),
  };
}

function freedBy(result: PlacedResult, pin: AgentContext["pin"]): number {
  return messageTokens(result.message) - messageTokens(referenceTo(result, pin));
}

function summaryTokens(limit: number): number {
  return Math.floor(Math.min(summaryTokensMax, limit * summaryShare));
}

function textTokensMax(limit: number): number {
  return Math.ceil(summaryTokens(limit) * estimateSurplus);
}

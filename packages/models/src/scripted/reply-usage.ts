import type { Message, ModelReply, ToolCall, Usage } from "@troupe/core";
import type { ModelPrice } from "@troupe/core/internal";

const charactersPerToken = 4;

/** A scripted model's own estimate: four characters a token. */
export function tokensOf(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}

export function callsLength(message: Message): number {
  return message.role === "assistant" ? lengthOf(message.calls) : 0;
}

function lengthOf(calls: readonly ToolCall[]): number {
  return calls.length > 0 ? JSON.stringify(calls).length : 0;
}

interface Said {
  text: string;
  calls: ToolCall[];
}

/** What cutting between the two halves of a character leaves behind. */
const halfCharacter = /[\uD800-\uDBFF]$/;

/**
 * What is really said of what was to be said. Like a real model it is cut off at its limit, and a call that was not
 * said to its end is none.
 *
 * @param scriptedTokens how much it is to count as, where the script says so
 */
export function boundReply(
  { text, calls }: Said,
  scriptedTokens: number | undefined,
  maxOutputTokens: number,
): Said & { stopReason: ModelReply["stopReason"]; outputTokens: number } {
  const outputTokens = scriptedTokens ?? tokensOf(text.length + lengthOf(calls));
  if (outputTokens <= maxOutputTokens) {
    return { text, calls, outputTokens, stopReason: calls.length > 0 ? "tool_calls" : "end" };
  }
  const cut = text.slice(0, maxOutputTokens * charactersPerToken).replace(halfCharacter, "");
  return { text: cut, calls: [], outputTokens: maxOutputTokens, stopReason: "max_tokens" };
}

/** A cost that the script gives wins over the one that follows from the price; an unknown price gives none. */
export function usageOf(
  used: Omit<Usage, "costUsd"> & { costUsd?: number | null | undefined },
  price: ModelPrice | null,
): Usage {
  const { inputTokens, outputTokens } = used;
  const costUsd = price && (inputTokens * price.inputPerMillion + outputTokens * price.outputPerMillion) / 1_000_000;
  return { ...used, costUsd: used.costUsd === undefined ? costUsd : used.costUsd };
}

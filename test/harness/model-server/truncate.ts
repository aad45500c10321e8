import type { WireAnswer, WireRequest } from "./wire.ts";

const charactersPerToken = 4;

/** The answer of a server with a small window that truncates silently: it reads and writes no more than fits. */
export function truncated(answer: WireAnswer, { promptTokens }: WireRequest, windowTokens: number | null): WireAnswer {
  const { usage, pieces } = answer;
  if (windowTokens === null || promptTokens + usage.outputTokens <= windowTokens) return answer;
  const inputTokens = Math.min(promptTokens, windowTokens - 1);
  const outputTokens = windowTokens - inputTokens;
  const text = pieces.join("").slice(0, outputTokens * charactersPerToken);
  return {
    ...answer,
    pieces: text === "" ? [] : [text],
    calls: [],
    usage: { ...usage, inputTokens, outputTokens, cachedTokens: 0 },
    stopReason: "max_tokens",
  };
}

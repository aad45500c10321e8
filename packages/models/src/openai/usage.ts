import type { ModelRequest, Usage } from "@troupe/core";
import { estimateTokens } from "@troupe/core/internal";
import { z } from "zod";

/** Usage without its price. */
export type Tokens = Omit<Usage, "costUsd">;

/** More than any call uses. A sum of a thousand such figures is still exact. */
const figureMax = 1e12;

/** An invalid figure counts as missing. */
const Count = z.number().nonnegative().max(figureMax).transform(Math.floor).nullish().catch(null);
const Details = z.object({ cached_tokens: Count, cache_write_tokens: Count }).nullish().catch(null);
const OutputDetails = z.object({ reasoning_tokens: Count }).nullish().catch(null);

/** Usage of chat completions, with DeepSeek's own field for the cache. */
export const ChatUsage = z.object({
  prompt_tokens: Count,
  completion_tokens: Count,
  total_tokens: Count,
  prompt_cache_hit_tokens: Count,
  prompt_tokens_details: Details,
  completion_tokens_details: OutputDetails,
});

export const ResponsesUsage = z.object({
  input_tokens: Count,
  output_tokens: Count,
  total_tokens: Count,
  input_tokens_details: Details,
  output_tokens_details: OutputDetails,
});

/** Null when the server gave no usable figures. */
export function chatTokens(usage: z.infer<typeof ChatUsage>): Tokens | null {
  const { prompt_tokens_details: input, completion_tokens_details: output } = usage;
  return tokensOf({
    input: usage.prompt_tokens,
    output: usage.completion_tokens,
    total: usage.total_tokens,
    cached: input?.cached_tokens ?? usage.prompt_cache_hit_tokens,
    written: input?.cache_write_tokens,
    reasoning: output?.reasoning_tokens,
  });
}

export function responsesTokens(usage: z.infer<typeof ResponsesUsage>): Tokens | null {
  const { input_tokens_details: input, output_tokens_details: output } = usage;
  return tokensOf({
    input: usage.input_tokens,
    output: usage.output_tokens,
    total: usage.total_tokens,
    cached: input?.cached_tokens,
    written: input?.cache_write_tokens,
    reasoning: output?.reasoning_tokens,
  });
}

type Figure = number | null | undefined;

function tokensOf(
  figures: Record<"input" | "output" | "total" | "cached" | "written" | "reasoning", Figure>,
): Tokens | null {
  const input = figures.input ?? 0;
  // Some servers leave reasoning out of the output, but not out of the total: it counts once either way.
  const output = Math.max(figures.output ?? 0, (figures.total ?? 0) - input);
  if (input + output === 0) return null;
  return {
    inputTokens: input,
    outputTokens: output,
    cachedTokens: Math.min(figures.cached ?? 0, input),
    ...(figures.written ? { cacheWriteTokens: Math.min(figures.written, input) } : {}),
    ...(figures.reasoning ? { reasoningTokens: Math.min(figures.reasoning, output) } : {}),
  };
}

/** Estimated usage, for a server that sends none. Never too low. */
export function estimatedTokens(request: ModelRequest, output: string): Tokens {
  return { inputTokens: estimatedInputTokens(request), outputTokens: estimateTokens(output), cachedTokens: 0 };
}

export function estimatedInputTokens({ system, messages, tools }: ModelRequest): number {
  const sentTools = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  const texts = messages.map((message) =>
    message.role === "assistant" && message.calls.length > 0
      ? message.text + JSON.stringify(message.calls)
      : message.text,
  );
  const toolsText = sentTools.length > 0 ? JSON.stringify(sentTools) : "";
  return [system, toolsText, ...texts].reduce((sum, text) => sum + estimateTokens(text), 0);
}

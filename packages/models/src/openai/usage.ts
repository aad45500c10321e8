import type { ModelRequest, Usage } from "@troupe/core";
import { estimateTokens } from "@troupe/core/internal";
import { z } from "zod";

/** Usage without its price. */
export type Tokens = Omit<Usage, "costUsd">;

/** More than any call uses: sums of a thousand such figures are exact. */
const figureMax = 1e12;

/** A figure that is none counts as missing. */
const Count = z.number().nonnegative().max(figureMax).transform(Math.floor).nullish().catch(null);
const Details = z.object({ cached_tokens: Count, cache_write_tokens: Count }).nullish().catch(null);
const OutputDetails = z.object({ reasoning_tokens: Count }).nullish().catch(null);

/** What chat completions say at their end, DeepSeek's own words for the cache among it. */
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

/** Null where the server said nothing of use. */
export function chatTokens(usage: z.infer<typeof ChatUsage>): Tokens | null {
  const { prompt_tokens_details: input, completion_tokens_details: output } = usage;
  return tokensOf({
    input: usage.prompt_tokens,
    output: usage.completion_tokens,
    total: usage.total_tokens,
    cached: input?.cached_tokens ?? usage.prompt_cache_hit_tokens,
    written: input?.cache_write_tokens,
    thought: output?.reasoning_tokens,
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
    thought: output?.reasoning_tokens,
  });
}

type Figure = number | null | undefined;

function tokensOf(
  said: Record<"input" | "output" | "total" | "cached" | "written" | "thought", Figure>,
): Tokens | null {
  const input = said.input ?? 0;
  // Some leave what was thought out of the output, but never out of the total: it is counted once, either way.
  const output = Math.max(said.output ?? 0, (said.total ?? 0) - input);
  if (input + output === 0) return null;
  return {
    inputTokens: input,
    outputTokens: output,
    cachedTokens: Math.min(said.cached ?? 0, input),
    ...(said.written ? { cacheWriteTokens: Math.min(said.written, input) } : {}),
    ...(said.thought ? { reasoningTokens: Math.min(said.thought, output) } : {}),
  };
}

/** For a server that does not say: what it used is not nothing. Errs upwards. */
export function estimatedTokens(request: ModelRequest, said: string): Tokens {
  return { inputTokens: estimatedInputTokens(request), outputTokens: estimateTokens(said), cachedTokens: 0 };
}

export function estimatedInputTokens({ system, messages, tools }: ModelRequest): number {
  const told = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  const texts = messages.map((message) =>
    message.role === "assistant" && message.calls.length > 0
      ? message.text + JSON.stringify(message.calls)
      : message.text,
  );
  const toolsText = told.length > 0 ? JSON.stringify(told) : "";
  return [system, toolsText, ...texts].reduce((sum, text) => sum + estimateTokens(text), 0);
}

import type { MessageCreateParams, OutputConfig } from "@anthropic-ai/sdk/resources/messages";
import type { Effort } from "@troupe/core/internal";
import type { ModelTraits } from "./model-traits.ts";

/** What a request says of thinking, in this wire's words. */
export interface ThinkingSettings {
  thinking?: NonNullable<MessageCreateParams["thinking"]>;
  effort?: NonNullable<OutputConfig["effort"]>;
}

/** The least that the API takes. */
const budgetTokensMin = 1_024;

const budgetTokens: Record<Exclude<Effort, "none">, number> = { low: 2_048, medium: 8_192, high: 16_384, max: 32_768 };

export interface ThinkingOptions {
  effort: Effort | null;
  /** All that it may say, thoughts included. */
  maxTokens: number;
  /** Whether the conversation stands where thinking may be asked for. */
  mayAsk: boolean;
}

/** An effort as the model knows it. Null says nothing, which leaves the model at its own default. */
export function thinkingOf({ effort, ...wish }: ThinkingOptions, traits: ModelTraits): ThinkingSettings {
  if (effort === null || traits.thinking === "none") return {};
  if (effort === "none") return withoutThinking(traits);
  const settings: ThinkingSettings = {};
  const thinking = thinkingFor(effort, wish, traits);
  if (thinking) settings.thinking = thinking;
  if (traits.effortMax) settings.effort = effort === "max" ? traits.effortMax : effort;
  return settings;
}

/** What cannot be turned off is at least turned down. */
function withoutThinking({ off, effortMax }: ModelTraits): ThinkingSettings {
  if (off) return { thinking: off };
  return off === undefined && effortMax ? { effort: "low" } : {};
}

function thinkingFor(
  effort: Exclude<Effort, "none">,
  { maxTokens, mayAsk }: Omit<ThinkingOptions, "effort">,
  traits: ModelTraits,
): ThinkingSettings["thinking"] | null {
  if (!mayAsk) return null;
  if (traits.thinking === "adaptive") return { type: "adaptive" };
  // Thoughts are part of what may be said, and half of it is left for the answer.
  const most = Math.floor(maxTokens / 2);
  if (most < budgetTokensMin) return null;
  return { type: "enabled", budget_tokens: Math.min(budgetTokens[effort], most) };
}

import type { Tiers } from "./model-names.ts";

/**
 * What a size means with the providers that are known by name. Each is the newest model of its size whose price the
 * bundled table knows by that very name: under a cost cap an unpriced model is refused. Where a provider has no smaller
 * or larger one of today, its next one stands in.
 */
export const knownTiers = {
  anthropic: {
    fable: "claude-fable-5-1",
    opus: "claude-opus-5-5",
    sonnet: "claude-sonnet-5",
    haiku: "claude-haiku-4-5",
  },
  openai: { fable: "gpt-6-astra", opus: "gpt-6-sol", sonnet: "gpt-6-sol", haiku: "gpt-6-luna" },
  openrouter: {
    fable: "anthropic/claude-fable-5.1",
    opus: "anthropic/claude-opus-5.5",
    sonnet: "anthropic/claude-sonnet-5",
    haiku: "anthropic/claude-haiku-4.5",
  },
  deepseek: {
    fable: "deepseek-v4-pro",
    opus: "deepseek-v4-pro",
    sonnet: "deepseek-v4-pro",
    haiku: "deepseek-v4-flash",
  },
} as const satisfies Record<string, Tiers>;

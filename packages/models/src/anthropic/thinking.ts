import { createHash, type Hash } from "node:crypto";
import type { MessageCreateParams, OutputConfig } from "@anthropic-ai/sdk/resources/messages";
import type { Effort } from "@troupe/core/internal";
import type { ModelTraits } from "./model-traits.ts";

/** The thinking and effort fields of a request. */
export interface ThinkingSettings {
  thinking?: NonNullable<MessageCreateParams["thinking"]>;
  effort?: NonNullable<OutputConfig["effort"]>;
}

/** The API's minimum. */
const budgetTokensMin = 1_024;

const budgetTokens: Record<Exclude<Effort, "none">, number> = { low: 2_048, medium: 8_192, high: 16_384, max: 32_768 };

export interface ThinkingOptions {
  effort: Effort | null;
  /** Output limit, thinking included. */
  maxTokens: number;
  /** Whether the conversation is at a point where the API accepts thinking. */
  isAllowed: boolean;
}

/** Converts an effort to the fields that the model knows. Null sets none, which leaves the model at its default. */
export function thinkingSettings({ effort, ...options }: ThinkingOptions, traits: ModelTraits): ThinkingSettings {
  if (effort === null || traits.thinking === "none") return {};
  if (effort === "none") return withoutThinking(traits);
  const settings: ThinkingSettings = {};
  const thinking = thinkingField(effort, options, traits);
  if (thinking) settings.thinking = thinking;
  if (traits.effortMax) settings.effort = effort === "max" ? traits.effortMax : effort;
  return settings;
}

/** Thinking that cannot be turned off gets the lowest effort. */
function withoutThinking({ off, effortMax }: ModelTraits): ThinkingSettings {
  if (off) return { thinking: off };
  return off === undefined && effortMax ? { effort: "low" } : {};
}

function thinkingField(
  effort: Exclude<Effort, "none">,
  { maxTokens, isAllowed }: Omit<ThinkingOptions, "effort">,
  traits: ModelTraits,
): ThinkingSettings["thinking"] | null {
  if (!isAllowed) return null;
  if (traits.thinking === "adaptive") return { type: "adaptive" };
  // Thinking counts against the output limit: half of it stays for the answer.
  const most = Math.floor(maxTokens / 2);
  if (most < budgetTokensMin) return null;
  return { type: "enabled", budget_tokens: Math.min(budgetTokens[effort], most) };
}

/**
 * Signatures of thinking blocks. They detect a change in a block, or in the conversation before it, for which the API
 * would refuse the request.
 */
export interface ThinkingSignatures {
  /** Adds a part of the conversation. Call it for every part, in order. */
  add(part: unknown): void;
  /** The signature of a thinking block at this point of the conversation. */
  of(block: unknown): string;
}

/** For a model that accepts its thinking only after exactly the same conversation. */
export function conversationSignatures(): ThinkingSignatures {
  const hash = createHash("sha256");
  return {
    add: (part) => void hash.update(lineOf(part)),
    of: (block) => signatureOf(hash.copy(), block),
  };
}

/** For a model that accepts its thinking after any conversation: only the block itself counts. */
export function blockSignatures(): ThinkingSignatures {
  return { add: () => {}, of: (block) => signatureOf(createHash("sha256"), block) };
}

function signatureOf(hash: Hash, block: unknown): string {
  return hash.update(lineOf(block)).digest("base64url").slice(0, 22);
}

function lineOf(part: unknown): string {
  return `${JSON.stringify(part)}\n`;
}

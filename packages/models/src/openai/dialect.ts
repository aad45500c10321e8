import type { Effort } from "@troupe/core/internal";
import { baseUrlOf, type ProviderSettings } from "../settings.ts";

/** Variant of the API, where servers differ. */
export type Dialect = "openai" | "deepseek" | "openrouter" | "compatible";

export function dialectOf(settings: Pick<ProviderSettings, "id" | "wire" | "baseUrl">): Dialect {
  const host = URL.parse(baseUrlOf(settings))?.hostname ?? "";
  if (belongsTo(host, "openai.com") || belongsTo(host, "openai.azure.com")) return "openai";
  if (settings.id === "deepseek" || belongsTo(host, "deepseek.com")) return "deepseek";
  if (settings.id === "openrouter" || belongsTo(host, "openrouter.ai")) return "openrouter";
  return "compatible";
}

function belongsTo(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

/** The model that a request is for. */
export interface RequestTarget {
  /** Id of the provider. */
  provider: string;
  /** The model's name, without the provider's id. */
  model: string;
  dialect: Dialect;
}

/** Names of OpenAI's models. Its open-weight models behave like those of other vendors. */
const openAiModel = /^(ft:)?(gpt-(?!oss)|chatgpt-|o\d|davinci|babbage)/;
/** OpenAI's models without reasoning. Unknown models count as reasoning models, as all newer ones are. */
const modelWithoutReasoning = /^(ft:)?(gpt-3|gpt-4|chatgpt-|davinci|babbage)|^gpt-5(\.\d+)?-chat/;

type ModelAtServer = Pick<RequestTarget, "model" | "dialect">;

/** Whether this is one of OpenAI's models, on any server. Other servers may prefix its name with the vendor. */
export function isOpenAiModel({ model, dialect }: ModelAtServer): boolean {
  return dialect === "openai" || openAiModel.test(model.replace(/^openai\//, ""));
}

/** Whether this is a reasoning model of OpenAI: it accepts an effort, no temperature, and its output limit by a new name. */
export function isReasoningModel(target: ModelAtServer): boolean {
  return isOpenAiModel(target) && !modelWithoutReasoning.test(target.model.replace(/^openai\//, ""));
}

/** OpenAI's words for an effort. */
export type EffortWord = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** An effort in the words that this model accepts: the lowest and the highest differ by generation. */
export function effortOf(model: string, effort: Effort): EffortWord {
  if (effort === "none") return lowestEffort(model);
  return effort === "max" ? highestEffort(model) : effort;
}

function lowestEffort(model: string): EffortWord {
  if (isOSeries(model) || /codex|-pro/.test(model)) return "low";
  return isSince(model, 5, 1) ? "none" : "minimal";
}

function highestEffort(model: string): EffortWord {
  if (isOSeries(model)) return "high";
  if (isSince(model, 5, 6)) return "max";
  return isSince(model, 5, 2) || model.includes("codex-max") ? "xhigh" : "high";
}

function isOSeries(model: string): boolean {
  return /^(ft:|openai\/)?o\d/.test(model);
}

/** A name without a version counts as newer than any version. */
function isSince(model: string, major: number, minor: number): boolean {
  const [, itsMajor = "99", itsMinor = "0"] = /gpt-(\d+)(?:\.(\d+))?/.exec(model) ?? [];
  return Number(itsMajor) > major || (Number(itsMajor) === major && Number(itsMinor) >= minor);
}

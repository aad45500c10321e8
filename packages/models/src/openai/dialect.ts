import type { Effort } from "@troupe/core/internal";
import type { ProviderSettings } from "../settings.ts";

/** Whose habits a server has, where the wire leaves a choice. */
export type Dialect = "openai" | "deepseek" | "openrouter" | "compatible";

export function dialectOf({ id, baseUrl }: Pick<ProviderSettings, "id" | "baseUrl">): Dialect {
  const host = baseUrl === null ? "api.openai.com" : (URL.parse(baseUrl)?.hostname ?? "");
  if (belongsTo(host, "openai.com") || belongsTo(host, "openai.azure.com")) return "openai";
  if (id === "deepseek" || belongsTo(host, "deepseek.com")) return "deepseek";
  if (id === "openrouter" || belongsTo(host, "openrouter.ai")) return "openrouter";
  return "compatible";
}

function belongsTo(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

/** Models of OpenAI by their names; their open ones are like everybody else's. */
const openAis = /^(ft:)?(gpt-(?!oss)|chatgpt-|o\d|davinci|babbage)/;
/** Those of them that only speak. Whatever is not known yet is taken to think, as all newer ones do. */
const speaksOnly = /^(ft:)?(gpt-3|gpt-4|chatgpt-|davinci|babbage)|^gpt-5(\.\d+)?-chat/;

interface Spoken {
  model: string;
  dialect: Dialect;
}

/** Whether it is one of OpenAI's own models, behind whatever server: there it may have its vendor's name before it. */
export function isOpenAis({ model, dialect }: Spoken): boolean {
  return dialect === "openai" || openAis.test(model.replace(/^openai\//, ""));
}

/**
 * Whether it is one of those that think before they speak: such a model takes an effort, no temperature, and its limit
 * under a newer name.
 */
export function thinks(spoken: Spoken): boolean {
  return isOpenAis(spoken) && !speaksOnly.test(spoken.model.replace(/^openai\//, ""));
}

/** The words of OpenAI for an effort. */
export type EffortWord = "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";

/** An effort in the words that one of OpenAI's models takes: the least and the most have changed with the generations. */
export function effortOf(model: string, effort: Effort): EffortWord {
  if (effort === "none") return leastOf(model);
  return effort === "max" ? mostOf(model) : effort;
}

function leastOf(model: string): EffortWord {
  if (isOfSeriesO(model) || /codex|-pro/.test(model)) return "low";
  return isSince(model, 5, 1) ? "none" : "minimal";
}

function mostOf(model: string): EffortWord {
  if (isOfSeriesO(model)) return "high";
  if (isSince(model, 5, 6)) return "max";
  return isSince(model, 5, 2) || model.includes("codex-max") ? "xhigh" : "high";
}

function isOfSeriesO(model: string): boolean {
  return /^(ft:|openai\/)?o\d/.test(model);
}

/** A name without a number is taken to be newer than any with one. */
function isSince(model: string, major: number, minor: number): boolean {
  const [, itsMajor = "99", itsMinor = "0"] = /gpt-(\d+)(?:\.(\d+))?/.exec(model) ?? [];
  return Number(itsMajor) > major || (Number(itsMajor) === major && Number(itsMinor) >= minor);
}

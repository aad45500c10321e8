import { TroupeError } from "@troupe/core";
import { z } from "zod";
import type { Tiers } from "./model-names.ts";
import { KnownModel, ProviderLimits, type ProviderSettings, Wire } from "./settings.ts";

/** Settings of a well-known provider. The user adds at most a key. */
export interface ProviderPreset {
  wire: Wire;
  /** Null: the vendor's own URL. */
  baseUrl: string | null;
  /** Environment variables of its key; the first that is set wins. */
  keyVariables: readonly string[];
  /** Environment variables of a bearer token in place of a key. */
  authTokenVariables: readonly string[];
  /** Environment variable that the ecosystem uses for its URL; null when there is none. */
  baseUrlVariable: string | null;
  needsKey: boolean;
  isLocal: boolean;
  limits: Partial<ProviderLimits>;
  /** Its name in the spelling of its own pages. */
  title: string;
}

/** A local server may load a model before it answers. Node aborts a request after 300 s without a response header. */
const loadingMs = 290_000;

const hosted = { authTokenVariables: [], baseUrlVariable: null, needsKey: true, isLocal: false, limits: {} };
const local = { ...hosted, wire: "openai-chat", needsKey: false, isLocal: true } as const;

/**
 * The well-known providers.
 *
 * @example
 * presets.ollama.baseUrl; // "http://127.0.0.1:11434/v1"
 */
export const presets = {
  anthropic: {
    ...hosted,
    title: "Anthropic",
    wire: "anthropic",
    baseUrl: null,
    keyVariables: ["ANTHROPIC_API_KEY"],
    authTokenVariables: ["ANTHROPIC_AUTH_TOKEN"],
    baseUrlVariable: "ANTHROPIC_BASE_URL",
  },
  openai: {
    ...hosted,
    title: "OpenAI",
    wire: "openai-responses",
    baseUrl: null,
    keyVariables: ["OPENAI_API_KEY"],
    baseUrlVariable: "OPENAI_BASE_URL",
  },
  ollama: {
    ...local,
    title: "Ollama",
    baseUrl: "http://127.0.0.1:11434/v1",
    keyVariables: ["OLLAMA_API_KEY"],
    baseUrlVariable: "OLLAMA_HOST",
    limits: { concurrency: 1, idleTimeoutMs: loadingMs },
  },
  lmstudio: {
    ...local,
    title: "LM Studio",
    baseUrl: "http://127.0.0.1:1234/v1",
    keyVariables: ["LM_API_TOKEN"],
    limits: { concurrency: 1, idleTimeoutMs: loadingMs },
  },
  vllm: {
    ...local,
    title: "vLLM",
    baseUrl: "http://127.0.0.1:8000/v1",
    keyVariables: ["VLLM_API_KEY"],
    limits: { idleTimeoutMs: loadingMs },
  },
  openrouter: {
    ...hosted,
    title: "OpenRouter",
    wire: "openai-chat",
    baseUrl: "https://openrouter.ai/api/v1",
    keyVariables: ["OPENROUTER_API_KEY"],
  },
  deepseek: {
    ...hosted,
    title: "DeepSeek",
    wire: "openai-chat",
    baseUrl: "https://api.deepseek.com/v1",
    keyVariables: ["DEEPSEEK_API_KEY"],
  },
} as const satisfies Record<string, ProviderPreset>;

export type PresetId = keyof typeof presets;

/**
 * The models by size of the well-known providers. Each is the newest model of its size that the bundled price list knows
 * by this exact name: under a cost limit a model without a price is refused. A missing size is the provider's next one.
 *
 * @example
 * knownTiers.anthropic.sonnet; // "claude-sonnet-5"
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

/**
 * @example
 * isPresetId("ollama"); // true
 */
export function isPresetId(id: string): id is PresetId {
  return Object.hasOwn(presets, id);
}

const HttpUrl = z
  .string()
  .refine((url) => /^https?:$/.test(URL.parse(url)?.protocol ?? ""), "must be an http:// or https:// URL")
  .transform((url) => url.replace(/\/+$/, ""));

/** Settings that a caller can add to a preset. */
const Overrides = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z][a-z0-9-]*$/, "must be lower-case letters, digits and dashes")
    .exactOptional(),
  wire: Wire.exactOptional(),
  baseUrl: HttpUrl.nullable().exactOptional(),
  key: z.string().min(1).nullable().exactOptional(),
  authToken: z.string().min(1).nullable().exactOptional(),
  keyVariable: z.string().nullable().exactOptional(),
  headers: z.record(z.string(), z.string()).exactOptional(),
  // Parsed later, together with the preset's own limits, whose values its defaults would override.
  limits: z.custom<Partial<ProviderLimits>>().exactOptional(),
  models: z.record(z.string(), KnownModel).exactOptional(),
  isLocal: z.boolean().exactOptional(),
});
/** Overrides of a preset. `id` names a second provider of the same kind. */
export type PresetOverrides = z.input<typeof Overrides>;

/**
 * The settings of a well-known provider. With a base URL of another server, `openai` uses chat completions, which
 * compatible servers speak, in place of Responses.
 *
 * @example
 * presetSettings("deepseek", { key: process.env.DEEPSEEK_API_KEY ?? null });
 * presetSettings("ollama", { baseUrl: baseUrlFrom("ollama", process.env.OLLAMA_HOST ?? "") });
 */
export function presetSettings(preset: PresetId, overrides: PresetOverrides = {}): ProviderSettings {
  const known: ProviderPreset = presets[preset];
  const parsed = Overrides.safeParse(overrides);
  if (!parsed.success) throw invalidSettings(preset, parsed.error);
  const { limits: ownLimits, ...own } = parsed.data;
  const limits = ProviderLimits.safeParse({ ...known.limits, ...ownLimits });
  if (!limits.success) throw invalidSettings(`${preset}.limits`, limits.error);
  const baseUrl = own.baseUrl ?? known.baseUrl;
  return {
    id: preset,
    wire: known.wire === "openai-responses" && !isOpenAiUrl(baseUrl) ? "openai-chat" : known.wire,
    key: null,
    authToken: null,
    keyVariable: known.keyVariables[0] ?? null,
    headers: {},
    models: {},
    isLocal: known.isLocal,
    ...own,
    baseUrl,
    limits: limits.data,
  };
}

function isOpenAiUrl(baseUrl: string | null): boolean {
  return baseUrl === null || /(^|\.)openai\.com$/.test(URL.parse(baseUrl)?.hostname ?? "");
}

function invalidSettings(preset: string, error: z.ZodError): TroupeError {
  const [issue] = error.issues;
  const where = [preset, ...(issue?.path ?? [])].join(".");
  return new TroupeError(
    "NO_PROVIDER",
    `invalid settings of a provider: ${where}: ${issue?.message ?? "unknown reason"}`,
  );
}

/**
 * The base URL in the value of a provider's environment variable. `OLLAMA_HOST` is the address that Ollama listens on:
 * scheme and port are optional, it may stand for all addresses of the machine, and it has no API path.
 *
 * @example
 * baseUrlFrom("ollama", "0.0.0.0"); // "http://127.0.0.1:11434/v1"
 */
export function baseUrlFrom(preset: PresetId, value: string): string {
  const trimmed = value.trim();
  if (preset !== "ollama" || trimmed === "") return trimmed;
  const url = URL.parse(trimmed.includes("://") ? trimmed : `http://${withPort(trimmed)}`);
  if (!url) return trimmed;
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "127.0.0.1";
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path.endsWith("/v1") ? path : `${path}/v1`}`;
}

/** Ollama's default port applies only to an address without a scheme. */
function withPort(address: string): string {
  const [, host = "", port = ":11434", path = ""] = /^(.*?)(:\d+)?(\/.*)?$/.exec(address) ?? [];
  return `${host || "127.0.0.1"}${port}${path}`;
}

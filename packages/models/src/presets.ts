import { TroupeError } from "@troupe/core";
import { z } from "zod";
import { KnownModel, ProviderLimits, type ProviderSettings, Wire } from "./settings.ts";

/** A provider that is known by name: all that has to be said besides is its key, and often not even that. */
export interface ProviderPreset {
  wire: Wire;
  /** Null: the address that the vendor's SDK knows. */
  baseUrl: string | null;
  /** Variables that its key is read from, the first that is set. */
  keyVariables: readonly string[];
  /** The same for a bearer token in place of a key. */
  authTokenVariables: readonly string[];
  /** The variable that its users set for its address; null where there is no such custom. */
  baseUrlVariable: string | null;
  /** Whether it cannot be used without a key. */
  needsKey: boolean;
  isLocal: boolean;
  limits: Partial<ProviderLimits>;
  /** How its own page writes it. */
  title: string;
}

/**
 * A local server may have to load a model before its first word. Longer than this cannot be waited for: Node's own
 * requests end after 300 s without a header.
 */
const loadingMs = 290_000;

const hosted = { authTokenVariables: [], baseUrlVariable: null, needsKey: true, isLocal: false, limits: {} };
const local = { ...hosted, wire: "openai-chat", needsKey: false, isLocal: true } as const;

/** The providers that are known by name. */
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

export function isPresetId(id: string): id is PresetId {
  return Object.hasOwn(presets, id);
}

const HttpUrl = z
  .string()
  .refine((url) => /^https?:$/.test(URL.parse(url)?.protocol ?? ""), "is no http:// or https:// address")
  .transform((url) => url.replace(/\/+$/, ""));

/** What can be said of a provider besides what its preset says. */
const Overrides = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z][a-z0-9-]*$/, "has to be lower-case letters, digits and dashes")
    .exactOptional(),
  wire: Wire.exactOptional(),
  baseUrl: HttpUrl.nullable().exactOptional(),
  key: z.string().min(1).nullable().exactOptional(),
  authToken: z.string().min(1).nullable().exactOptional(),
  keyVariable: z.string().nullable().exactOptional(),
  headers: z.record(z.string(), z.string()).exactOptional(),
  // Parsed with the preset's own: alone it would have its defaults in place of what the preset says.
  limits: z.custom<Partial<ProviderLimits>>().exactOptional(),
  models: z.record(z.string(), KnownModel).exactOptional(),
  isLocal: z.boolean().exactOptional(),
});
/** `id` is for a second provider of one kind, beside the one that has the preset's own. */
export type PresetOverrides = z.input<typeof Overrides>;

/**
 * How a provider that is known by name is reached. An address of its own that is not OpenAI's turns `openai` into what
 * everybody else speaks: chat completions.
 *
 * @example
 * presetSettings("deepseek", { key: process.env.DEEPSEEK_API_KEY ?? null });
 * presetSettings("ollama", { baseUrl: baseUrlFrom("ollama", process.env.OLLAMA_HOST ?? "") });
 */
export function presetSettings(preset: PresetId, overrides: PresetOverrides = {}): ProviderSettings {
  const known: ProviderPreset = presets[preset];
  const parsed = Overrides.safeParse(overrides);
  if (!parsed.success) throw unusable(preset, parsed.error);
  const { limits: ownLimits, ...own } = parsed.data;
  const limits = ProviderLimits.safeParse({ ...known.limits, ...ownLimits });
  if (!limits.success) throw unusable(`${preset}.limits`, limits.error);
  const baseUrl = own.baseUrl ?? known.baseUrl;
  return {
    id: preset,
    wire: known.wire === "openai-responses" && !isOpenAis(baseUrl) ? "openai-chat" : known.wire,
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

function isOpenAis(baseUrl: string | null): boolean {
  return baseUrl === null || /(^|\.)openai\.com$/.test(URL.parse(baseUrl)?.hostname ?? "");
}

function unusable(preset: string, error: z.ZodError): TroupeError {
  const [issue] = error.issues;
  const where = [preset, ...(issue?.path ?? [])].join(".");
  return new TroupeError("NO_PROVIDER", `the provider ${where} ${issue?.message ?? "cannot be used"}`);
}

/**
 * An address as the ecosystem's variable says it. Ollama's is the one that its server listens on: it needs neither scheme
 * nor port, may mean all addresses of the machine, and does not have the path of the API.
 *
 * @example
 * baseUrlFrom("ollama", "0.0.0.0"); // "http://127.0.0.1:11434/v1"
 */
export function baseUrlFrom(preset: PresetId, said: string): string {
  const trimmed = said.trim();
  if (preset !== "ollama" || trimmed === "") return trimmed;
  const url = URL.parse(trimmed.includes("://") ? trimmed : `http://${withPort(trimmed)}`);
  if (!url) return trimmed;
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "127.0.0.1";
  const path = url.pathname.replace(/\/+$/, "");
  return `${url.origin}${path.endsWith("/v1") ? path : `${path}/v1`}`;
}

/** Only an address without a scheme has Ollama's own port. */
function withPort(address: string): string {
  const [, host = "", port = ":11434", path = ""] = /^(.*?)(:\d+)?(\/.*)?$/.exec(address) ?? [];
  return `${host || "127.0.0.1"}${port}${path}`;
}

import { looksLikeKey, ProviderLimits, type ProviderSettings } from "@troupe/runtime";
import { type ConfigFile, type ProviderConfig, withoutPassword } from "./config-file.ts";
import type { Origin } from "./origin.ts";
import { type Preset, type PresetName, presetNames, presets, variablesOf } from "./presets.ts";

/** A provider that can be named, as far as it is set up. */
export interface Provider {
  settings: ProviderSettings;
  preset: PresetName | null;
  /** What has set it up. */
  origin: Origin;
  /** Nobody has set it up: it is a server of this machine, for whoever names it. */
  isImplied: boolean;
  /** The variable that its key was found in. */
  keyFrom: string | null;
  /** Why it cannot be asked, and what to do. */
  problem: Problem | null;
  warnings: string[];
}

export interface Problem {
  message: string;
  fix: string;
}

/** What the user's own file says; a project's file has no say in it. */
export interface ProvidersSaid {
  providers: ConfigFile["providers"];
  originOf(path: readonly string[]): Origin;
}

/**
 * Every provider that can be asked here: those of the user's file, those that a variable sets up, and the servers of
 * this machine. In the order in which one of them is preferred where nobody names a model.
 */
export function readProviders(env: NodeJS.ProcessEnv, { providers: said, originOf }: ProvidersSaid): Provider[] {
  const own = Object.keys(said).filter((id) => !isPreset(id));
  return [...presetNames, ...own].flatMap((id) => {
    const config = Object.hasOwn(said, id) ? said[id] : undefined;
    const origin = config ? originOf(["providers", id]) : originInEnvironment(id, env);
    if (!config && !origin && !(isPreset(id) && presets[id].isLocal)) return [];
    return [providerOf(id, config ?? null, origin, env)];
  });
}

function isPreset(id: string): id is PresetName {
  return Object.hasOwn(presets, id);
}

function originInEnvironment(id: string, env: NodeJS.ProcessEnv): Origin | null {
  const variable = isPreset(id) ? variablesOf(presets[id]).find((name) => env[name]?.trim()) : undefined;
  return variable === undefined ? null : { from: "environment", where: variable };
}

/** What a provider is like of which nothing is said but its address. */
const compatible: Preset = {
  wire: "openai-chat",
  baseUrl: null,
  baseUrlVariable: null,
  keyVariable: null,
  tokenVariable: null,
  needsKey: false,
  isLocal: false,
  concurrency: null,
};

function providerOf(
  id: string,
  config: ProviderConfig | null,
  origin: Origin | null,
  env: NodeJS.ProcessEnv,
): Provider {
  const name = config?.preset ?? (isPreset(id) ? id : null);
  const preset: Preset = name === null ? compatible : presets[name];
  // Variables speak of the provider that bears the preset's own name, not of others like it.
  const baseUrlVariable = id === name ? preset.baseUrlVariable : null;
  const address = addressOf(baseUrlVariable, env) ?? config?.baseUrl ?? preset.baseUrl;
  const keyVariable = config?.keyVariable ?? preset.keyVariable;
  const tokenVariable = config?.keyVariable === undefined ? preset.tokenVariable : null;
  const key = valueIn(keyVariable, env);
  const token = key === null ? valueIn(tokenVariable, env) : null;
  const settings: ProviderSettings = {
    id,
    wire: config?.wire ?? wireAt(preset, address),
    baseUrl: address,
    key,
    authToken: token,
    keyVariable,
    headers: config?.headers ?? {},
    limits: ProviderLimits.parse({ concurrency: preset.concurrency, ...config?.limits }),
    models: config?.models ?? {},
    isLocal: preset.isLocal,
  };
  const keyFrom = key !== null ? keyVariable : token !== null ? tokenVariable : null;
  return {
    settings,
    preset: name,
    origin: origin ?? { from: "default", where: "a server of this machine" },
    isImplied: origin === null,
    keyFrom,
    problem: problemOf(settings, { preset, keyFrom, baseUrlVariable, isKnown: name !== null }),
    warnings: warningsOf(settings, keyFrom),
  };
}

/** A variable that is set to nothing is not set. */
function valueIn(variable: string | null, env: NodeJS.ProcessEnv): string | null {
  return (variable !== null && env[variable]?.trim()) || null;
}

function addressOf(variable: string | null, env: NodeJS.ProcessEnv): string | null {
  const value = valueIn(variable, env);
  if (value === null || variable !== "OLLAMA_HOST") return value?.replace(/\/+$/, "") ?? null;
  return ollamaAddress(value);
}

/** `OLLAMA_HOST` is what the server listens at: a bare host, a port, or all addresses of the machine. */
function ollamaAddress(host: string): string {
  const hasScheme = /^https?:\/\//.test(host);
  const url = URL.parse(hasScheme ? host : `http://${host.startsWith(":") ? `127.0.0.1${host}` : host}`);
  if (!url) return host;
  if (url.hostname === "0.0.0.0" || url.hostname === "[::]") url.hostname = "127.0.0.1";
  // A scheme brings its own port, as it does for Ollama.
  if (!hasScheme && url.port === "") url.port = "11434";
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}/v1`;
}

/** Only OpenAI itself is sure to have the newer of its two wires. */
function wireAt({ wire }: Preset, address: string | null): ProviderSettings["wire"] {
  if (wire !== "openai-responses" || address === null) return wire;
  return URL.parse(address)?.hostname === "api.openai.com" ? wire : "openai-chat";
}

interface Facts {
  preset: Preset;
  keyFrom: string | null;
  baseUrlVariable: string | null;
  isKnown: boolean;
}

function problemOf(settings: ProviderSettings, { preset, keyFrom, baseUrlVariable, isKnown }: Facts): Problem | null {
  const { id, baseUrl, key, authToken, keyVariable } = settings;
  if ((key ?? authToken)?.startsWith("sk-ant-oat")) {
    return {
      message: `${keyFrom} holds the token of a subscription (sk-ant-oat…), which is for Anthropic's own programs only`,
      fix: `unset ${keyFrom}; export ANTHROPIC_API_KEY=<a key from https://console.anthropic.com>`,
    };
  }
  if (baseUrl !== null && !isHttp(baseUrl)) {
    const where = baseUrlVariable ?? `the baseUrl of ${id}`;
    const shown = looksLikeKey(baseUrl) ? "" : ` ${JSON.stringify(withoutPassword(baseUrl))}`;
    return { message: `${where}${shown} is not an address`, fix: `export ${baseUrlVariable ?? "…"}=https://host/v1` };
  }
  if (baseUrl === null && !isKnown) {
    return {
      message: `the provider ${id} has no address`,
      fix: `write into the configuration: providers: {${id}: {baseUrl: https://host/v1}}`,
    };
  }
  const isTheirs = baseUrl === null || baseUrl === preset.baseUrl;
  if (preset.needsKey && isTheirs && key === null && authToken === null) {
    return { message: `${id} wants a key, and ${keyVariable} is not set`, fix: `export ${keyVariable}=…` };
  }
  return null;
}

function isHttp(address: string): boolean {
  return /^https?:$/.test(URL.parse(address)?.protocol ?? "");
}

function warningsOf({ id, baseUrl, key, authToken }: ProviderSettings, keyFrom: string | null): string[] {
  const url = baseUrl === null ? null : URL.parse(baseUrl);
  if (url?.protocol !== "http:" || isLoopback(url.hostname) || (key ?? authToken) === null) return [];
  return [`${id}: ${keyFrom} is sent to ${withoutPassword(url.origin)} unencrypted: use https://`];
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127\./.test(host);
}

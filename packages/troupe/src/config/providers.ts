import {
  baseUrlFrom,
  isPresetId,
  knownTiers,
  type PresetId,
  type PresetOverrides,
  ProviderLimits,
  type ProviderSettings,
  presetSettings,
  presets,
  quoted,
} from "@troupe/models";
import { type ConfigFile, hasPassword, type ProviderConfig, presetNames, withoutPassword } from "./config-file.ts";
import type { Origin } from "./origin.ts";

/** A provider that a model id can name, with the state of its setup. */
export interface Provider {
  settings: ProviderSettings;
  preset: PresetId | null;
  /** The file line or variable that configures it. */
  origin: Origin;
  /** True for a local server without configuration: it answers only if a model id names it. */
  isImplied: boolean;
  /** The variable that holds its key. */
  keyFrom: string | null;
  /** Why it cannot answer, with the fix. */
  problem: ProviderProblem | null;
  warnings: string[];
}

export interface ProviderProblem {
  message: string;
  fix: string;
}

/** Providers of the user's file. A project's file cannot add providers. */
export interface ProviderSettingsByOrigin {
  providers: ConfigFile["providers"];
  originOf(path: readonly string[]): Origin;
}

/**
 * All providers: the providers in the user's file, the ones with a variable, and the local servers. Without a configured
 * model, an earlier one is preferred.
 */
export function readProviders(
  env: NodeJS.ProcessEnv,
  { providers: configured, originOf }: ProviderSettingsByOrigin,
): Provider[] {
  const own = Object.keys(configured).filter((id) => !isPresetId(id));
  return [...presetNames, ...own].flatMap((id) => {
    const config = Object.hasOwn(configured, id) ? configured[id] : undefined;
    const origin = config ? originOf(["providers", id]) : originInEnvironment(id, env);
    if (!config && !origin && !(isPresetId(id) && presets[id].isLocal)) return [];
    return [providerOf(id, config ?? null, origin, env)];
  });
}

/** The first variable that configures a provider without a file. */
function originInEnvironment(id: string, env: NodeJS.ProcessEnv): Origin | null {
  if (!isPresetId(id)) return null;
  const { keyVariables, authTokenVariables, baseUrlVariable } = presets[id];
  const variables = [...keyVariables, ...authTokenVariables, ...(baseUrlVariable ? [baseUrlVariable] : [])];
  const variable = variables.find((name) => readVariable(name, env) !== null);
  return variable === undefined ? null : { from: "environment", where: variable };
}

function providerOf(
  id: string,
  config: ProviderConfig | null,
  origin: Origin | null,
  env: NodeJS.ProcessEnv,
): Provider {
  const preset = config?.preset ?? (isPresetId(id) ? id : null);
  // A variable such as OPENAI_BASE_URL applies to the provider `openai` only, not to others with that preset.
  const baseUrlVariable = preset === id ? presets[preset].baseUrlVariable : null;
  const address = readAddress(preset, baseUrlVariable, env) ?? config?.baseUrl ?? null;
  const found = findKey(preset, config, env);
  const settings = settingsOf(preset, {
    id,
    ...(config?.wire === undefined ? {} : { wire: config.wire }),
    // `problemOf` reports an invalid address.
    baseUrl: address !== null && isHttp(address) ? address : null,
    key: found.key,
    authToken: found.authToken,
    ...(config?.keyVariable === undefined ? {} : { keyVariable: config.keyVariable }),
    headers: config?.headers ?? {},
    limits: config?.limits ?? {},
    models: config?.models ?? {},
  });
  return {
    settings,
    preset,
    origin: origin ?? { from: "default", where: "a server of this machine" },
    isImplied: origin === null,
    keyFrom: found.variable,
    problem: problemOf(settings, { preset, keyFrom: found.variable, address, baseUrlVariable }),
    warnings: warningsOf(settings, found.variable),
  };
}

/** Models for the names of sizes. Null for a custom address, which can serve other models. */
export function sizesOf({ preset, settings }: Provider): (typeof knownTiers)[keyof typeof knownTiers] | null {
  if (preset === null || !Object.hasOwn(knownTiers, preset)) return null;
  if (settings.wire === "openai-chat" && preset === "openai") return null;
  return knownTiers[preset as keyof typeof knownTiers];
}

/** An unknown server is assumed to speak OpenAI chat completions. */
function settingsOf(preset: PresetId | null, configured: PresetOverrides & { id: string }): ProviderSettings {
  if (preset !== null) return presetSettings(preset, configured);
  const limits = { ...ProviderLimits.parse({}), ...configured.limits };
  return presetSettings("vllm", { isLocal: false, keyVariable: null, ...configured, limits });
}

interface FoundKey {
  key: string | null;
  authToken: string | null;
  variable: string | null;
}

/** Reads the variable that the file names, else the usual ones. A key wins over a token. */
function findKey(preset: PresetId | null, config: ProviderConfig | null, env: NodeJS.ProcessEnv): FoundKey {
  const known = preset === null ? null : presets[preset];
  const keyVariables = config?.keyVariable === undefined ? (known?.keyVariables ?? []) : [config.keyVariable];
  const tokenVariables = config?.keyVariable === undefined ? (known?.authTokenVariables ?? []) : [];
  const variable = [...keyVariables, ...tokenVariables].find((name) => readVariable(name, env) !== null) ?? null;
  const value = variable === null ? null : readVariable(variable, env);
  const isToken = tokenVariables.some((name) => name === variable);
  return { key: isToken ? null : value, authToken: isToken ? value : null, variable };
}

/** Null for an empty variable. */
function readVariable(variable: string, env: NodeJS.ProcessEnv): string | null {
  return env[variable]?.trim() || null;
}

function readAddress(preset: PresetId | null, variable: string | null, env: NodeJS.ProcessEnv): string | null {
  const configured = variable === null ? null : readVariable(variable, env);
  return configured === null || preset === null ? configured : baseUrlFrom(preset, configured);
}

interface ProviderFacts {
  preset: PresetId | null;
  keyFrom: string | null;
  /** As configured; can be invalid. */
  address: string | null;
  baseUrlVariable: string | null;
}

function problemOf(
  settings: ProviderSettings,
  { preset, keyFrom, address, baseUrlVariable }: ProviderFacts,
): ProviderProblem | null {
  const { id, baseUrl, key, authToken, keyVariable } = settings;
  if ((key ?? authToken)?.startsWith("sk-ant-oat")) {
    return {
      message: `${keyFrom} holds a subscription token (sk-ant-oat…), which only Anthropic's own programs may use`,
      fix: `unset ${keyFrom}; export ANTHROPIC_API_KEY=<a key from https://console.anthropic.com>`,
    };
  }
  const defect = describeBadKey(key ?? authToken ?? "");
  if (defect !== null) {
    return { message: `${keyFrom} holds ${defect}, which no key contains`, fix: `export ${keyFrom}=<only the key>` };
  }
  if (address !== null && !isHttp(address)) {
    const where = baseUrlVariable ?? `the baseUrl of ${id}`;
    const message = `${where} ${quoted(withoutPassword(address))} is not an http:// or https:// address`;
    return { message, fix: `export ${where}=https://host/v1` };
  }
  if (address !== null && hasPassword(address)) {
    const message = `${baseUrlVariable ?? `the baseUrl of ${id}`} contains a password; troupe does not send it`;
    return { message, fix: `remove it, and set the key in a variable: export ${keyVariable ?? "MY_KEY"}=…` };
  }
  if (preset === null && address === null) {
    return {
      message: `the provider ${id} has no address`,
      fix: `add to your configuration: providers: {${id}: {baseUrl: https://host/v1}}`,
    };
  }
  const isVendor = preset !== null && presets[preset].needsKey && isAtVendor(preset, baseUrl);
  if (isVendor && key === null && authToken === null) {
    return { message: `${id} needs a key, and ${keyVariable} is not set`, fix: `export ${keyVariable}=…` };
  }
  return null;
}

/** The sign of a copy mistake in a key: a character that a header cannot carry, or quotes. */
function describeBadKey(key: string): string | null {
  if (/[\r\n]/.test(key)) return "a line break";
  if (/\s/.test(key)) return "a space";
  if (/[^\x21-\x7e]/.test(key)) return "a character that is not ASCII";
  return /^(["'`]).*\1$/.test(key) ? "quotes" : null;
}

/** False for a custom server, which may need no key. */
function isAtVendor(preset: PresetId, baseUrl: string | null): boolean {
  if (baseUrl === null || baseUrl === presets[preset].baseUrl) return true;
  return /(^|\.)(anthropic|openai)\.com$/.test(URL.parse(baseUrl)?.hostname ?? "");
}

function isHttp(address: string): boolean {
  return /^https?:$/.test(URL.parse(address)?.protocol ?? "");
}

function warningsOf({ id, baseUrl, key, authToken }: ProviderSettings, keyFrom: string | null): string[] {
  const url = baseUrl === null ? null : URL.parse(baseUrl);
  if (url?.protocol !== "http:" || isLoopback(url.hostname) || (key ?? authToken) === null) return [];
  return [`${id}: ${keyFrom} is sent to ${withoutPassword(url.origin)} without encryption; use https://`];
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127\./.test(host);
}

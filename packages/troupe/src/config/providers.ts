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

/** A provider that can be named, as far as it is set up. */
export interface Provider {
  settings: ProviderSettings;
  preset: PresetId | null;
  /** What has set it up. */
  origin: Origin;
  /** Nobody has set it up: it is a server of this machine, for whoever names it. */
  isImplied: boolean;
  /** The variable that its key was found in. */
  keyFrom: string | null;
  /** Why it cannot be asked, and what to do. */
  problem: ProviderProblem | null;
  warnings: string[];
}

export interface ProviderProblem {
  message: string;
  fix: string;
}

/** What the user's own file says; a project's file has no say in it. */
export interface ProviderSettingsByOrigin {
  providers: ConfigFile["providers"];
  originOf(path: readonly string[]): Origin;
}

/**
 * Every provider that can be asked here: those of the user's file, those that a variable sets up, and the servers of
 * this machine. In the order in which one of them is preferred where nobody names a model.
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

/** The first variable that sets a provider up without a file. */
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
  // Variables speak of the provider that bears the preset's own name, not of others like it.
  const baseUrlVariable = preset === id ? presets[preset].baseUrlVariable : null;
  const address = readAddress(preset, baseUrlVariable, env) ?? config?.baseUrl ?? null;
  const found = findKey(preset, config, env);
  const settings = settingsOf(preset, {
    id,
    ...(config?.wire === undefined ? {} : { wire: config.wire }),
    // What is no address is told below, and never asked.
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

/** What sizes mean with a provider that is known by name: at an address of one's own it may have quite other models. */
export function sizesOf({ preset, settings }: Provider): (typeof knownTiers)[keyof typeof knownTiers] | null {
  if (preset === null || !Object.hasOwn(knownTiers, preset)) return null;
  if (settings.wire === "openai-chat" && preset === "openai") return null;
  return knownTiers[preset as keyof typeof knownTiers];
}

/** A server that nothing is known of speaks what everybody speaks. */
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

/** From the variable that the file names, else from those that the ecosystem knows; a key before a token. */
function findKey(preset: PresetId | null, config: ProviderConfig | null, env: NodeJS.ProcessEnv): FoundKey {
  const known = preset === null ? null : presets[preset];
  const keyVariables = config?.keyVariable === undefined ? (known?.keyVariables ?? []) : [config.keyVariable];
  const tokenVariables = config?.keyVariable === undefined ? (known?.authTokenVariables ?? []) : [];
  const variable = [...keyVariables, ...tokenVariables].find((name) => readVariable(name, env) !== null) ?? null;
  const value = variable === null ? null : readVariable(variable, env);
  const isToken = tokenVariables.some((name) => name === variable);
  return { key: isToken ? null : value, authToken: isToken ? value : null, variable };
}

/** A variable that is set to nothing is not set. */
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
  /** As it was said, whether it is one or not. */
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
      message: `${keyFrom} holds the token of a subscription (sk-ant-oat…), which is for Anthropic's own programs only`,
      fix: `unset ${keyFrom}; export ANTHROPIC_API_KEY=<a key from https://console.anthropic.com>`,
    };
  }
  const defect = describeBadKey(key ?? authToken ?? "");
  if (defect !== null) {
    return { message: `${keyFrom} holds ${defect}, which no key has`, fix: `export ${keyFrom}=<the key alone>` };
  }
  if (address !== null && !isHttp(address)) {
    const where = baseUrlVariable ?? `the baseUrl of ${id}`;
    const message = `${where} ${quoted(withoutPassword(address))} is not an http:// or https:// address`;
    return { message, fix: `export ${where}=https://host/v1` };
  }
  if (address !== null && hasPassword(address)) {
    const message = `${baseUrlVariable ?? `the baseUrl of ${id}`} has a password in it, which no request is sent with`;
    return { message, fix: `take it out, and put a key into a variable: export ${keyVariable ?? "MY_KEY"}=…` };
  }
  if (preset === null && address === null) {
    return {
      message: `the provider ${id} has no address`,
      fix: `write into the configuration: providers: {${id}: {baseUrl: https://host/v1}}`,
    };
  }
  const isVendor = preset !== null && presets[preset].needsKey && isAtVendor(preset, baseUrl);
  if (isVendor && key === null && authToken === null) {
    return { message: `${id} wants a key, and ${keyVariable} is not set`, fix: `export ${keyVariable}=…` };
  }
  return null;
}

/** What shows that a key was not copied as it is: no header could carry it, or nobody would know it. */
function describeBadKey(key: string): string | null {
  if (/[\r\n]/.test(key)) return "a line break";
  if (/\s/.test(key)) return "a space";
  if (/[^\x21-\x7e]/.test(key)) return "a character that is not ASCII";
  return /^(["'`]).*\1$/.test(key) ? "quotes" : null;
}

/** A server of one's own may want no key. */
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
  return [`${id}: ${keyFrom} is sent to ${withoutPassword(url.origin)} unencrypted: use https://`];
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127\./.test(host);
}

import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import {
  agentListTokensDefault,
  durationSchema,
  ModelPrice,
  TeamName,
  Token,
  WebhookEvent,
  WebhookUrl,
} from "@troupe/core/internal";
import { parseStrictYaml, type StrictYaml, type YamlForm } from "@troupe/core/yaml";
import { looksLikeKey, type PresetId, ProviderLimits, presets, quoted, Wire } from "@troupe/models";
import { z } from "zod";
import { DisplayText, NatsConfig, natsKeyFix, natsValueFix } from "./nats-settings.ts";
import { OfficeConfig, officeValueFix } from "./office-settings.ts";

/** Preset ids. Without a configured model, the first preset that is set up answers. */
export const presetNames = Object.keys(presets) as [PresetId, ...PresetId[]];

const keyFix = "troupe reads keys from variables only: export MY_KEY=…, and write keyVariable: MY_KEY";

const headersOfKeys = /^(authorization|proxy-authorization|cookie|x-api-key|api-key)$/i;

/** An empty section (`models:`) counts as absent. */
const orAbsent = <S extends z.ZodType>(schema: S) => z.preprocess((value) => value ?? undefined, schema);

const ModelName = DisplayText.regex(/^\S+$/, "a model's name has no spaces");
const Address = DisplayText.refine(isAddress, "is not an http:// or https:// address");
const Variable = DisplayText.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "is not the name of a variable");
const HeaderName = z
  .string()
  .regex(/^[A-Za-z0-9-]+$/, "is not the name of a header")
  .refine((name) => !headersOfKeys.test(name), "is a header that holds a key");

/** Limits without defaults: the preset fills in every limit that the file leaves out. */
const { concurrency, requestsPerMinute, tokensPerMinute, idleTimeoutMs } = ProviderLimits.shape;
const Limits = z.strictObject({
  concurrency: concurrency.removeDefault().exactOptional(),
  requestsPerMinute: requestsPerMinute.removeDefault().exactOptional(),
  tokensPerMinute: tokensPerMinute.removeDefault().exactOptional(),
  idleTimeoutMs: durationSchema(idleTimeoutMs.removeDefault()).exactOptional(),
});

/** One provider in `config.yaml`. */
export const ProviderConfig = z.strictObject({
  /** Takes defaults from a provider that troupe knows by name. */
  preset: z.enum(presetNames).exactOptional(),
  wire: Wire.exactOptional(),
  baseUrl: Address.exactOptional(),
  keyVariable: Variable.exactOptional(),
  headers: orAbsent(z.record(HeaderName, DisplayText).default({})),
  limits: orAbsent(Limits.default({})),
  models: orAbsent(
    z
      .record(
        ModelName,
        z.strictObject({
          price: z.strictObject(ModelPrice.shape).exactOptional(),
          contextTokens: z.int().positive().exactOptional(),
        }),
      )
      .default({}),
  ),
});
export type ProviderConfig = z.infer<typeof ProviderConfig>;

const ids = (key: z.ZodType<string, string>) => orAbsent(z.record(key, ModelName).default({}));
const Name = Token.refine((name) => !looksLikeKey(name), "looks like a key");
const Alias = Name.refine((name) => name !== "inherit", "inherit always means the model above");
const ProviderId = Name.regex(/^[a-z][a-z0-9-]*$/, "has to be lower-case letters, digits and dashes").refine(
  (id) => !["scripted", "replay", "none"].includes(id),
  "this name is taken",
);

/** The list of agents in the prompt of a delegating agent. */
export const DelegationConfig = z.strictObject({
  /** Tokens of the list of agents. */
  listTokens: z.int().min(0).max(100_000).exactOptional(),
  /** Whether the list says how earlier runs of each agent went. */
  hints: z.enum(["on", "off"]).exactOptional(),
});

/** Which settled sessions a daemon deletes. */
export const RetentionConfig = z.strictObject({
  /** Sessions that settled longer ago are deleted. */
  maxAge: durationSchema(z.int().min(60_000)).exactOptional(),
  /** The oldest sessions are deleted until the stores are smaller. */
  maxBytes: z.int().positive().exactOptional(),
});

/** A receiver of events. Its secret is in a variable, as every key is. */
export const WebhookConfig = z.strictObject({
  url: WebhookUrl,
  events: z
    .array(WebhookEvent)
    .min(1)
    .default([...WebhookEvent.options]),
  secretVariable: Variable,
});

/** `config.yaml`. Every key is optional; an unknown key is an error. */
export const ConfigFile = z.strictObject({
  model: orAbsent(ModelName.optional()),
  team: orAbsent(TeamName.optional()),
  models: ids(ModelName),
  aliases: ids(Alias),
  roles: ids(Name),
  providers: orAbsent(z.record(ProviderId, orAbsent(ProviderConfig.prefault({}))).default({})),
  fallbacks: ids(ModelName),
  nats: orAbsent(NatsConfig.prefault({})),
  delegation: orAbsent(DelegationConfig.prefault({})),
  office: orAbsent(OfficeConfig.prefault({})),
  retention: orAbsent(RetentionConfig.prefault({})),
  webhooks: orAbsent(z.array(WebhookConfig).max(100).default([])),
});
export type ConfigFile = z.infer<typeof ConfigFile>;

const form: YamlForm<typeof ConfigFile> = {
  schema: ConfigFile,
  code: "INVALID_CONFIG",
  what: "a configuration",
  fixFor,
  fixForKey: (path) => {
    if (path[0] === "nats") return natsKeyFix(String(path.at(-1)));
    if (path[0] === "webhooks" && path.at(-1) === "secret") return webhookFix;
    return isProviderKey(path) && wordsOfKeys.test(String(path.at(-1))) ? keyFix : null;
  },
  show: (value, path) => {
    // A header can hold a secret of its server.
    if (path.includes("headers") || (typeof value === "object" && value !== null) || value === undefined) return null;
    return quoted(withoutPassword(String(value)));
  },
  showKey: (key) => (looksLikeKey(key) ? "…" : key),
};

/** Error code and file description, used in every error about a configuration file. */
export const configForm: Pick<typeof form, "code" | "what"> = form;

/**
 * Parses the YAML of a configuration. Throws `INVALID_CONFIG` with the line, the value and the fix of each mistake. The
 * error never repeats a value that could be a key.
 *
 * @example
 * parseConfig("model: openai/gpt-6-sol", "config.yaml").value.model; // "openai/gpt-6-sol"
 */
export function parseConfig(text: string, file: string): StrictYaml<ConfigFile> {
  return parseStrictYaml(text, file, form);
}

const webhookFix =
  "write webhooks: [{url: https://example.org/hook, events: [session.settled], secretVariable: HOOK_SECRET}], with whsec_… in the variable";

const wordsOfKeys = /key|token|secret|password|auth/i;

function isProviderKey(path: readonly PropertyKey[]): boolean {
  return path[0] === "providers" && path.length === 3;
}

/** A correct value of each section that has one form. */
const examples: ReadonlyMap<string, string> = new Map([
  ["model", "model: anthropic/claude-sonnet-5"],
  ["team", "team: coding, with a name from: troupe teams ls"],
  ["models", 'models: {"deepseek-chat": openrouter/deepseek/deepseek-chat}'],
  ["aliases", "aliases: {sonnet: openai/gpt-6-sol}"],
  ["roles", "roles: {coder: anthropic/claude-opus-5-5}"],
  ["fallbacks", "fallbacks: {anthropic/claude-opus-5-5: openai/gpt-6-sol}"],
  ["retention", "retention: {maxAge: 90d, maxBytes: 5000000000}"],
  ["delegation", `delegation: {listTokens: ${agentListTokensDefault}}`],
]);

/** The fix of a value that does not fit its key. */
function fixFor(path: readonly PropertyKey[], value: unknown): string {
  const [section, name, key] = path.map(String);
  if (section === "nats") return natsValueFix(name, value);
  if (section === "webhooks") return webhookFix;
  if (typeof value === "string" && (looksLikeKey(value) || hasPassword(value))) return keyFix;
  if (section === "office") return officeValueFix(name);
  if (path.some((part) => looksLikeKey(String(part)) || headersOfKeys.test(String(part)))) return keyFix;
  if (section === undefined) return "write keys and values, such as model: anthropic/claude-sonnet-5";
  if (section === "delegation" && name === "hints") return "write delegation: {hints: off}";
  const example = examples.get(section);
  if (example !== undefined) return `write ${example}`;
  if (key === undefined) return "write providers: {house: {preset: vllm, baseUrl: http://gpu.local:8000/v1}}";
  if (key === "preset") return `write one of: ${presetNames.join(", ")}`;
  if (key === "wire") return `write one of: ${Wire.options.join(", ")}`;
  if (key === "baseUrl") return "write baseUrl: https://host/v1";
  if (key === "keyVariable") return "write the name of the variable that holds the key: keyVariable: MY_KEY";
  if (key === "headers") return "write headers: {X-Team: research}";
  if (key === "limits") return "write limits: {concurrency: 4, requestsPerMinute: 60, idleTimeoutMs: 75s}";
  return `write models: {${name}-large: {price: {inputPerMillion: 3, outputPerMillion: 15}, contextTokens: 128000}}`;
}

/** True for an address that troupe can send requests to. A password in the address would be a key in a file. */
function isAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && !hasPassword(text) && url.search === "" && url.hash === "";
}

/** Hides the user name, password and query of an address. */
export function withoutPassword(address: string): string {
  return address.replace(/(^|\/\/)[^\s/]*@/, "$1…@").replace(/\?.*$/, "");
}

export function hasPassword(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.username !== "" || url.password !== "");
}

/** Path of the user's configuration: `TROUPE_CONFIG`, else `troupe/config.yaml` in the XDG configuration folder. */
export function userConfigFile({ env, cwd }: { env: NodeJS.ProcessEnv; cwd: string }): string {
  if (env.TROUPE_CONFIG) return resolve(cwd, env.TROUPE_CONFIG);
  const folder = env.XDG_CONFIG_HOME;
  // The XDG specification says to ignore relative paths.
  if (folder && isAbsolute(folder)) return join(folder, "troupe", "config.yaml");
  return join(env.HOME || homedir(), ".config", "troupe", "config.yaml");
}

/** Configuration of a project, relative to its folder. */
export const projectConfigPath = ".troupe/config.yaml";

import { TroupeError } from "@troupe/core";
import { didYouMean, isOfflineModel, providerOf } from "@troupe/core/internal";
import { findVendorModel } from "./vendor-models.ts";
import { quoted } from "./wire/redaction.ts";

/** Model sizes that agent files use, independent of the vendor. */
export const tierNames = ["opus", "sonnet", "haiku", "fable"] as const;
export type TierName = (typeof tierNames)[number];

/** A provider's models by size: model names without the provider's id. */
export type Tiers = Readonly<Partial<Record<TierName, string>>>;

/** The configuration that model names are resolved with, on this machine and in one folder. */
export interface ModelNames {
  /** Ids of the providers that are set up, the preferred one first. */
  providers: readonly string[];
  /** The models by size of each provider. A provider without a size keeps the inherited model. */
  tiers: Readonly<Record<string, Tiers>>;
  /** The map of models: names, each with the id or the other name that it stands for. */
  models: Readonly<Record<string, string>>;
  /** Names for sizes or purposes. They win over the sizes of a provider. */
  aliases: Readonly<Record<string, string>>;
  /** The command that sets up a known provider, by its id, for providers that are not set up. */
  missing: Readonly<Record<string, string>>;
}

/**
 * Resolves a model name to `provider/model`: through the map of models, through an alias, or as it is when its first
 * segment is a provider that is set up. Throws `UNKNOWN_MODEL` with a fix.
 *
 * @param inherited The model for `inherit`, whose provider also decides the sizes; null for a session's own model.
 * @example
 * resolveModelName("sonnet", names, null); // "anthropic/claude-sonnet-5"
 * resolveModelName("openrouter/qwen/qwen3-coder-30b", names, null); // itself
 */
export function resolveModelName(wanted: string, names: ModelNames, inherited: string | null): string {
  const path = follow(wanted, names);
  if (path.isCycle) throw nameCycle(path.names);
  const name = path.names.at(-1) ?? wanted;
  const id = tierOf(name, names, inherited) ?? name;
  if (id !== name || isId(id, names)) return id;
  throw unknownModel(wanted, name, names);
}

/**
 * The cycle of names that a name leads into; null when it leads to an end.
 *
 * @example
 * findCycle("a", { models: { a: "b", b: "a" }, aliases: {} }); // ["a", "b", "a"]
 */
export function findCycle(name: string, names: Pick<ModelNames, "models" | "aliases">): string[] | null {
  const path = follow(name, names);
  return path.isCycle ? path.names : null;
}

/** The model of an agent, and why it is not the model that its file names. */
export interface AgentModel {
  id: string;
  /** Null if the agent has the model that it names. */
  warning: { message: string; fix: string } | null;
}

/**
 * Resolves the model of an agent. Under a scripted or replayed session every agent stays offline, and under a real model
 * no agent becomes scripted. Agent files of other programs name models of one vendor: where that vendor is not set up, the
 * agent inherits its model, with a warning.
 *
 * @example
 * resolveAgentModel("claude-opus-4.6", names, "anthropic/claude-sonnet-5").id; // "anthropic/claude-opus-4-6"
 * resolveAgentModel("gemini-2.5-pro", names, "openai/gpt-6-sol").id; // "openai/gpt-6-sol", with a warning
 */
export function resolveAgentModel(wanted: string, names: ModelNames, inherited: string): AgentModel {
  if (wanted === "inherit") return { id: inherited, warning: null };
  if (isOfflineModel(inherited)) return { id: isOfflineModel(wanted) ? wanted : inherited, warning: null };
  const isMapped = lookUp(names.models, wanted) ?? lookUp(names.aliases, wanted);
  const ofVendor = isMapped === null ? findVendorModel(wanted, names.providers) : null;
  if (ofVendor?.id != null) return { id: ofVendor.id, warning: null };
  if (ofVendor && !isId(wanted, names)) {
    const [vendor = ""] = ofVendor.providers;
    const ready = readyProviders(names);
    const message = `the model ${quoted(wanted)} is of ${vendor}, which is not set up (set up: ${ready}), so the agent inherits its model`;
    return { id: inherited, warning: { message, fix: lookUp(names.missing, vendor) ?? mapFix(wanted, names) } };
  }
  const id = resolveModelName(wanted, names, inherited);
  return { id: isOfflineModel(id) ? inherited : id, warning: null };
}

/** The id that `resolveAgentModel` finds. */
export function resolveForAgent(wanted: string, names: ModelNames, inherited: string): string {
  return resolveAgentModel(wanted, names, inherited).id;
}

/** Follows a name through the map and the aliases to the last name, which neither of them has. */
function follow(wanted: string, { models, aliases }: Pick<ModelNames, "models" | "aliases">) {
  const names = [wanted];
  for (let name = wanted; ; ) {
    const next = lookUp(models, name) ?? lookUp(aliases, name);
    if (next === null) return { names, isCycle: false };
    const isCycle = names.includes(next);
    names.push(next);
    if (isCycle) return { names, isCycle };
    name = next;
  }
}

function lookUp(map: Readonly<Record<string, string>>, name: string): string | null {
  return Object.hasOwn(map, name) ? (map[name] ?? null) : null;
}

/** The model of a size: from the provider of the inherited model, else from the first provider that has the size. */
function tierOf(name: string, { providers, tiers }: ModelNames, inherited: string | null): string | null {
  if (name === "inherit") return inherited;
  const tier = tierNames.find((each) => each === name);
  if (!tier) return null;
  const provider = inherited === null ? providers.find((id) => tiers[id]?.[tier]) : providerOf(inherited);
  const model = provider == null ? undefined : tiers[provider]?.[tier];
  return model === undefined ? inherited : `${provider}/${model}`;
}

function isId(name: string, { providers }: ModelNames): boolean {
  const provider = providerOf(name);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a model id has no control characters
  const isPlain = !/[\s\u0000-\u001f\u007f]/.test(name) || provider === "scripted";
  return provider !== null && providers.includes(provider) && name.length > provider.length + 1 && isPlain;
}

function nameCycle(names: readonly string[]): TroupeError {
  const cycle = names.map(quoted).join(" → ");
  return new TroupeError("UNKNOWN_MODEL", `the map of models has a cycle: ${cycle}`, {
    fix: "troupe config list   # models and aliases: point one of them to provider/model",
  });
}

function unknownModel(wanted: string, name: string, names: ModelNames): TroupeError {
  const via = wanted === name ? "" : `, which ${quoted(wanted)} stands for`;
  const provider = providerOf(name);
  const ready = readyProviders(names);
  const reason = reasonUnknown(provider, names, ready);
  const message = `no model is called ${quoted(name)}${via}: ${reason}, and it is not in the map of models`;
  return new TroupeError("UNKNOWN_MODEL", message, { fix: fixFor(name, provider, names) });
}

function readyProviders({ providers }: ModelNames): string {
  return providers.filter((id) => !isOfflineModel(`${id}/`)).join(", ") || "none";
}

function reasonUnknown(provider: string | null, { providers }: ModelNames, ready: string): string {
  if (provider === null) {
    return `it does not name a provider as in provider/model (set up: ${ready}), and it is not an alias`;
  }
  if (providers.includes(provider)) return `the part after "${provider}/" cannot be a model of ${provider}`;
  return `no provider ${quoted(provider)} is set up (set up: ${ready})`;
}

function fixFor(name: string, provider: string | null, names: ModelNames): string {
  const isSetUp = provider === null || names.providers.includes(provider);
  const setUp = isSetUp ? null : lookUp(names.missing, provider);
  if (setUp) return setUp;
  const near = provider && didYouMean(provider, names.providers)?.replace(/^did you mean (.*)\?$/, "$1");
  if (near && near !== provider) return `did you mean ${near}${name.slice(provider.length)}?`;
  const known = [...Object.keys(names.models), ...Object.keys(names.aliases), ...tierNames];
  // A size that no provider has is not a misspelling.
  const meant = tierNames.some((tier) => tier === name) ? null : didYouMean(name, known);
  return meant ?? mapFix(name, names);
}

function mapFix(name: string, { providers }: ModelNames): string {
  const first = providers.find((id) => !isOfflineModel(`${id}/`));
  if (!first) return "export ANTHROPIC_API_KEY=… (or OPENAI_API_KEY), or see: troupe config init";
  return `write it with its provider, as in ${first}/<model>, or map it in the configuration: models: {${quoted(name)}: ${first}/<model>}`;
}

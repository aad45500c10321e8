import { TroupeError } from "@troupe/core";
import { didYouMean, isOfflineModel, providerOf } from "@troupe/core/internal";
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

/**
 * Resolves the model of an agent. Under a scripted or replayed session every agent stays offline, and under a real model
 * no agent becomes scripted.
 *
 * @example
 * resolveForAgent("haiku", names, "anthropic/claude-opus-5-5"); // "anthropic/claude-haiku-4-5"
 */
export function resolveForAgent(wanted: string, names: ModelNames, inherited: string): string {
  if (wanted === "inherit") return inherited;
  if (isOfflineModel(inherited)) return isOfflineModel(wanted) ? wanted : inherited;
  const id = resolveModelName(wanted, names, inherited);
  return isOfflineModel(id) ? inherited : id;
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
  const ready = names.providers.filter((id) => !isOfflineModel(`${id}/`)).join(", ") || "none";
  const reason = reasonUnknown(provider, names, ready);
  const message = `no model is called ${quoted(name)}${via}: ${reason}, and it is not in the map of models`;
  return new TroupeError("UNKNOWN_MODEL", message, { fix: fixFor(name, provider, names) });
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
  const first = names.providers.find((id) => !isOfflineModel(`${id}/`));
  if (meant) return meant;
  if (!first) return "export ANTHROPIC_API_KEY=… (or OPENAI_API_KEY), or see: troupe config init";
  return `write it with its provider, as in ${first}/<model>, or map it in the configuration: models: {${quoted(name)}: ${first}/<model>}`;
}

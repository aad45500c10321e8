import { TroupeError } from "@troupe/core";
import { didYouMean, isOfflineModel, providerOf } from "@troupe/core/internal";
import { quoted } from "./wire/looks-like-key.ts";

/** Names that agent files use for sizes of models, whoever makes them. */
export const tierNames = ["opus", "sonnet", "haiku", "fable"] as const;
export type TierName = (typeof tierNames)[number];

/** A provider's models by size, without the provider's id. */
export type Tiers = Readonly<Partial<Record<TierName, string>>>;

/** What names of models mean, on this machine and in one folder. */
export interface ModelNames {
  /** Ids of the providers that can be asked, the preferred one first. */
  providers: readonly string[];
  /** Of those, what the names of sizes mean with each; one without keeps to the model that is inherited. */
  tiers: Readonly<Record<string, Tiers>>;
  /** Any other name, and the id (or another name) that it stands for. */
  models: Readonly<Record<string, string>>;
  /** Names for sizes or purposes, in place of what a provider says. */
  aliases: Readonly<Record<string, string>>;
  /** The step that sets a provider up which is known, and is not set up. */
  missing: Readonly<Record<string, string>>;
}

/**
 * The `provider/model` that a name means: by the map, as an alias, or as it stands where its first segment is a
 * provider that is set up. Throws `UNKNOWN_MODEL` with what to do about it.
 *
 * @param inherited What `inherit` stands for, and whose provider says what a size means; null for a session's own.
 * @example
 * resolveModelName("sonnet", names, null); // "anthropic/claude-sonnet-5"
 * resolveModelName("openrouter/qwen/qwen3-coder-30b", names, null); // itself
 */
export function resolveModelName(wanted: string, names: ModelNames, inherited: string | null): string {
  const way = follow(wanted, names);
  if (way.isCircle) throw circular(way.names);
  const name = way.names.at(-1) ?? wanted;
  const id = tierOf(name, names, inherited) ?? name;
  if (id !== name || isId(id, names)) return id;
  throw unknownModel(wanted, name, names);
}

/** The names of the map and the aliases that a name leads through, where it leads back to itself. */
export function findCircle(name: string, names: Pick<ModelNames, "models" | "aliases">): string[] | null {
  const way = follow(name, names);
  return way.isCircle ? way.names : null;
}

/**
 * The model of an agent, which never makes a script answer where a model is meant to, nor calls a model where a script
 * is to answer.
 */
export function resolveForAgent(wanted: string, names: ModelNames, inherited: string): string {
  if (wanted === "inherit") return inherited;
  if (isOfflineModel(inherited)) return isOfflineModel(wanted) ? wanted : inherited;
  const id = resolveModelName(wanted, names, inherited);
  return isOfflineModel(id) ? inherited : id;
}

/** From a name through the map and the aliases to the last name that they know nothing of. */
function follow(wanted: string, { models, aliases }: Pick<ModelNames, "models" | "aliases">) {
  const names = [wanted];
  for (let name = wanted; ; ) {
    const next = entryOf(models, name) ?? entryOf(aliases, name);
    if (next === null) return { names, isCircle: false };
    const isCircle = names.includes(next);
    names.push(next);
    if (isCircle) return { names, isCircle };
    name = next;
  }
}

function entryOf(map: Readonly<Record<string, string>>, name: string): string | null {
  return Object.hasOwn(map, name) ? (map[name] ?? null) : null;
}

/** What a size means: with the provider of the model above, else with the first that has it. */
function tierOf(name: string, { providers, tiers }: ModelNames, inherited: string | null): string | null {
  if (name === "inherit") return inherited;
  const tier = tierNames.find((each) => each === name);
  if (!tier) return null;
  const home = inherited === null ? providers.find((id) => tiers[id]?.[tier]) : providerOf(inherited);
  const model = home == null ? undefined : tiers[home]?.[tier];
  return model === undefined ? inherited : `${home}/${model}`;
}

function isId(name: string, { providers }: ModelNames): boolean {
  const provider = providerOf(name);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a model's id has none
  const isPlain = !/[\s\u0000-\u001f\u007f]/.test(name) || provider === "scripted";
  return provider !== null && providers.includes(provider) && name.length > provider.length + 1 && isPlain;
}

function circular(names: readonly string[]): TroupeError {
  const way = names.map(quoted).join(" → ");
  return new TroupeError("UNKNOWN_MODEL", `the map of models goes in a circle: ${way}`, {
    fix: "troupe config list   # models and aliases: let one of them name provider/model",
  });
}

function unknownModel(wanted: string, name: string, names: ModelNames): TroupeError {
  const by = wanted === name ? "" : `, which ${quoted(wanted)} stands for,`;
  const provider = providerOf(name);
  const there = names.providers.filter((id) => !isOfflineModel(`${id}/`)).join(", ") || "none";
  const why = whyUnknown(provider, names, there);
  const message = `no model is called ${quoted(name)}${by}: ${why}, and the map of models does not name it`;
  return new TroupeError("UNKNOWN_MODEL", message, { fix: fixFor(name, provider, names) });
}

function whyUnknown(provider: string | null, { providers }: ModelNames, there: string): string {
  if (provider === null)
    return `it does not name a provider as in provider/model (there are: ${there}), and is no alias`;
  if (providers.includes(provider)) return `nothing that could be a model of ${provider} stands after "${provider}/"`;
  return `no provider ${quoted(provider)} is set up (there are: ${there})`;
}

function fixFor(name: string, provider: string | null, names: ModelNames): string {
  const isThere = provider === null || names.providers.includes(provider);
  const setUp = isThere ? null : entryOf(names.missing, provider);
  if (setUp) return setUp;
  const near = provider && didYouMean(provider, names.providers)?.replace(/^did you mean (.*)\?$/, "$1");
  if (near && near !== provider) return `did you mean ${near}${name.slice(provider.length)}?`;
  const known = [...Object.keys(names.models), ...Object.keys(names.aliases), ...tierNames];
  // A size that no provider has was no slip of the pen.
  const meant = tierNames.some((tier) => tier === name) ? null : didYouMean(name, known);
  const first = names.providers.find((id) => !isOfflineModel(`${id}/`));
  if (meant) return meant;
  if (!first) return "export ANTHROPIC_API_KEY=… (or OPENAI_API_KEY), or see: troupe config init";
  return `name it by its provider, as in ${first}/<model>, or map it in the configuration: models: {${quoted(name)}: ${first}/<model>}`;
}

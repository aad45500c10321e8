import { knownTiers } from "@troupe/models";

/** A model in the server's catalog. */
export interface CatalogModel {
  id: string;
  vendor: "anthropic" | "openai" | "local";
  /** The longest conversation that it reads. */
  contextTokens: number;
  /** The most that it says. */
  outputTokensMax: number;
  /** `manual`: within a budget that the request sets; `adaptive`: as it sees fit, and without sampling parameters. */
  thinking: "none" | "manual" | "adaptive";
}

export interface Catalog {
  readonly models: readonly CatalogModel[];
  find(id: string): CatalogModel | undefined;
}

const claude = (id: string, thinking: CatalogModel["thinking"], contextTokens = 200_000): CatalogModel => ({
  id,
  vendor: "anthropic",
  contextTokens,
  outputTokensMax: 64_000,
  thinking,
});

const gpt = (id: string, thinking: CatalogModel["thinking"], contextTokens = 400_000): CatalogModel => ({
  id,
  vendor: "openai",
  contextTokens,
  outputTokensMax: 128_000,
  thinking,
});

const local = (id: string): CatalogModel => ({
  id,
  vendor: "local",
  contextTokens: 32_768,
  outputTokensMax: 32_768,
  thinking: "none",
});

/** The models of the default sizes always exist. */
const tiers = (names: Readonly<Record<string, string>>, of: (id: string) => CatalogModel): CatalogModel[] =>
  Object.values(names).map(of);

export const shippedModels: readonly CatalogModel[] = [
  ...tiers(knownTiers.openai, (id) => gpt(id, "adaptive")),
  ...tiers(knownTiers.openrouter, local),
  ...tiers(knownTiers.deepseek, local),
  ...tiers(knownTiers.anthropic, (id) => claude(id, "adaptive", 1_000_000)),
  claude("claude-opus-5", "adaptive", 1_000_000),
  claude("claude-sonnet-5-5", "adaptive", 1_000_000),
  claude("claude-haiku-5-5", "adaptive"),
  claude("claude-opus-4-5", "manual"),
  claude("claude-sonnet-4-5", "manual"),
  claude("claude-haiku-4-5", "manual"),
  gpt("gpt-5.5", "adaptive"),
  gpt("gpt-5.1", "adaptive"),
  gpt("gpt-5", "adaptive"),
  gpt("gpt-5-mini", "adaptive"),
  gpt("o4-mini", "adaptive", 200_000),
  gpt("gpt-4.1", "none", 1_000_000),
  gpt("gpt-4.1-mini", "none", 1_000_000),
  gpt("gpt-4o", "none", 128_000),
  gpt("gpt-4o-mini", "none", 128_000),
  local("qwen3-coder:30b"),
  local("qwen/qwen3-coder-30b"),
  local("llama3.2"),
  local("deepseek-chat"),
  local("anthropic/claude-opus-4.5"),
];

/** The shipped models, and more; one of the same name takes the place of a shipped one. */
export function createCatalog(more: readonly (string | CatalogModel)[] = []): Catalog {
  const byId = new Map(shippedModels.map((model) => [model.id, model]));
  for (const model of more) {
    const known = typeof model === "string" ? { ...local(model), contextTokens: 200_000 } : model;
    byId.set(known.id, known);
  }
  return { models: [...byId.values()], find: (id) => byId.get(id) };
}

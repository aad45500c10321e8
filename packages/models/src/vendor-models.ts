import { providerOf } from "@troupe/core/internal";

/** The makers of models: the beginnings of their model names, and the ids under which they are a provider. */
const vendors: readonly { models: RegExp; providers: readonly string[] }[] = [
  { models: /^claude-/, providers: ["anthropic"] },
  { models: /^(gpt-|chatgpt-|codex-|o\d(-|$))/, providers: ["openai"] },
  { models: /^gem(ini|ma)-/, providers: ["google", "gemini"] },
  { models: /^deepseek-/, providers: ["deepseek"] },
  { models: /^(mistral|mixtral|codestral|devstral|magistral|ministral)-/, providers: ["mistral", "mistralai"] },
  { models: /^grok-/, providers: ["xai", "x-ai"] },
  { models: /^kimi-/, providers: ["moonshot", "moonshotai"] },
  { models: /^qwen/, providers: ["qwen", "alibaba"] },
  { models: /^glm-/, providers: ["zai", "z-ai", "zhipu"] },
  { models: /^llama/, providers: ["meta", "meta-llama"] },
  { models: /^minimax-/, providers: ["minimax"] },
];

/** Serves models of all vendors, as `vendor/model`. */
const gateway = "openrouter";

/** A model of a known vendor. */
export interface VendorModel {
  /** The vendor's ids as a provider, the usual one first. */
  providers: readonly string[];
  /** `provider/model` of the first of them that is set up; null if none is. */
  id: string | null;
}

/**
 * Finds the vendor of a model that an agent file names: by a full id (`claude-sonnet-4-20250514`, `qwen/qwen3-coder-30b`) or by
 * the name that Copilot shows (`Claude Sonnet 4`). Null for a name of no known vendor.
 *
 * @param setUp ids of the providers that are set up
 * @example
 * findVendorModel("gpt-5.5", ["openai"]); // { providers: ["openai"], id: "openai/gpt-5.5" }
 * findVendorModel("Claude Sonnet 4", ["openai"]); // { providers: ["anthropic"], id: null }
 */
export function findVendorModel(written: string, setUp: readonly string[]): VendorModel | null {
  const name = /\s/.test(written.trim()) ? idOfTitle(written) : written.trim();
  if (name === null) return null;
  const prefix = providerOf(name);
  const model = prefix === null ? name : name.slice(prefix.length + 1);
  const vendor = vendors.find(({ models, providers }) =>
    prefix === null ? models.test(model.toLowerCase()) : providers.includes(prefix),
  );
  if (!vendor || model === "" || /\s/.test(model)) return null;
  const { providers } = vendor;
  const provider = providers.find((id) => setUp.includes(id));
  if (provider !== undefined) return { providers, id: `${provider}/${nativeName(provider, model)}` };
  return { providers, id: prefix !== null && setUp.includes(gateway) ? `${gateway}/${name}` : null };
}

/** `Claude Sonnet 4.5 (Preview)` gives `claude-sonnet-4.5`. */
function idOfTitle(title: string): string | null {
  const words = title
    .replace(/\([^)]*\)/g, " ")
    .trim()
    .toLowerCase();
  return /^[a-z0-9][a-z0-9. -]*$/.test(words) ? words.split(/[\s-]+/).join("-") : null;
}

/** The name at the vendor's own API. Anthropic's names have no dots, and the models before 4.1 have longer names. */
function nativeName(provider: string, model: string): string {
  if (provider !== "anthropic") return model;
  const name = model.replace(/(\d)\.(\d)/g, "$1-$2");
  const old = /^claude-(?:3-(\d)-(opus|sonnet|haiku)|(opus|sonnet|haiku)-3-(\d))$/.exec(name);
  if (old) return `claude-3-${old[1] ?? old[4]}-${old[2] ?? old[3]}-latest`;
  return name.replace(/^(claude-(?:opus|sonnet)-4)$/, "$1-0");
}

/** Kinds of servers that say more of their models than OpenAI's list does. */
export type ServerKind = (typeof kinds)[number];
const kinds = ["ollama", "lmstudio", "vllm", "openrouter", "unknown"] as const;

export function isServerKind(id: string): id is ServerKind {
  return kinds.some((kind) => kind === id);
}

/** What a server says of one of its models. Null: it does not say. */
export interface LocalModel {
  name: string;
  /** Whether it can call tools: an agent cannot do without. */
  tools: boolean | null;
  /** The longest conversation that it is run with now, its answer included. */
  contextTokens: number | null;
  /** The longest that it could be run with. */
  contextTokensMax: number | null;
}

export interface LocalServer {
  kind: ServerKind;
  version: string | null;
  models: LocalModel[];
}

/** What stands in the way of an agent, and what to do about it. */
export interface ModelTrap {
  message: string;
  fix: string;
}

/** What Ollama runs a model with unless it is told otherwise. */
export const ollamaDefaultTokens = 4_096;

/** With a window of this many tokens or fewer, an agent's prompt and tools leave hardly any room for work. */
const smallTokensMax = 8_192;

/** The window that an agent is comfortable with. */
const recommendedTokens = 32_768;

/**
 * What a model's user should know before an agent runs on it.
 *
 * @example
 * trapsOf({ kind: "ollama" }, { name: "qwen3", tools: true, contextTokens: null, contextTokensMax: 40_960 });
 */
export function trapsOf({ kind }: Pick<LocalServer, "kind">, model: LocalModel): ModelTrap[] {
  const traps: ModelTrap[] = [];
  if (model.tools === false) {
    const message = `${model.name} cannot call tools, and an agent can do nothing without them`;
    traps.push({ message, fix: "choose a model that can: its page lists `tools` among what it can do" });
  }
  const isAssumed = model.contextTokens === null && kind === "ollama";
  const contextTokens = isAssumed ? ollamaDefaultTokens : model.contextTokens;
  if (contextTokens !== null && contextTokens <= smallTokensMax) {
    const told = isAssumed
      ? `nothing says how much of a conversation ${model.name} is run with: often no more than ${contextTokens} tokens`
      : `${model.name} is run with no more than ${contextTokens} tokens of a conversation`;
    const silent = kind === "ollama" ? ", and what is longer is cut off without a word" : "";
    traps.push({ message: told + silent, fix: widerContextFix(kind, model.name, wantedTokens(model)) });
  }
  return traps;
}

function wantedTokens({ contextTokensMax }: LocalModel): number {
  return Math.min(recommendedTokens, contextTokensMax ?? recommendedTokens);
}

/** How a server is told to run a model with a longer window. */
export function widerContextFix(kind: ServerKind, model: string, tokens = recommendedTokens): string {
  switch (kind) {
    case "ollama":
      return `start it with \`OLLAMA_CONTEXT_LENGTH=${tokens} ollama serve\`, or give the model \`PARAMETER num_ctx ${tokens}\` in a Modelfile`;
    case "lmstudio":
      return `load it with \`lms load ${model} --context-length ${tokens}\``;
    case "vllm":
      return `start it with \`vllm serve ${model} --max-model-len ${tokens}\``;
    default:
      return `have the server run it with ${tokens} tokens of context or more`;
  }
}

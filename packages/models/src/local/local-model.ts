/** Kinds of servers whose own API tells more about their models than OpenAI's list of models. */
export type ServerKind = (typeof kinds)[number];
const kinds = ["ollama", "lmstudio", "vllm", "openrouter", "unknown"] as const;

export function isServerKind(id: string): id is ServerKind {
  return kinds.some((kind) => kind === id);
}

/** A server's description of one of its models. Null: the server does not tell. */
export interface LocalModel {
  name: string;
  /** Whether it can call tools. An agent needs this. */
  tools: boolean | null;
  /** The context window that it runs with now, output included. */
  contextTokens: number | null;
  /** The largest context window that it supports. */
  contextTokensMax: number | null;
}

/** A local server, or OpenRouter, with its models. */
export interface LocalServer {
  kind: ServerKind;
  version: string | null;
  models: LocalModel[];
}

/** A problem of a model for agents, with its fix. */
export interface ModelWarning {
  message: string;
  fix: string;
}

/** Ollama's default context window. */
export const ollamaDefaultTokens = 4_096;

/** In a context window of this size or smaller, an agent's prompt and tools leave too few tokens for work. */
const smallTokensMax = 8_192;

/** A context window that suits an agent. */
const recommendedTokens = 32_768;

/**
 * Problems that a user should know before an agent runs on this model: no tool calls, or a small context window.
 *
 * @example
 * modelWarnings({ kind: "ollama" }, { name: "qwen3", tools: true, contextTokens: null, contextTokensMax: 40_960 });
 */
export function modelWarnings({ kind }: Pick<LocalServer, "kind">, model: LocalModel): ModelWarning[] {
  const warnings: ModelWarning[] = [];
  if (model.tools === false) {
    const message = `${model.name} cannot call tools, which every agent needs`;
    warnings.push({ message, fix: "choose a model whose page lists `tools` among its capabilities" });
  }
  const isAssumed = model.contextTokens === null && kind === "ollama";
  const contextTokens = isAssumed ? ollamaDefaultTokens : model.contextTokens;
  if (contextTokens !== null && contextTokens <= smallTokensMax) {
    const size = isAssumed
      ? `the context window of ${model.name} is unknown, often only ${contextTokens} tokens`
      : `${model.name} runs with a context window of only ${contextTokens} tokens`;
    const silent = kind === "ollama" ? "; Ollama silently cuts longer conversations" : "";
    warnings.push({ message: size + silent, fix: widerContextFix(kind, model.name, wantedTokens(model)) });
  }
  return warnings;
}

function wantedTokens({ contextTokensMax }: LocalModel): number {
  return Math.min(recommendedTokens, contextTokensMax ?? recommendedTokens);
}

/** How to run a model with a larger context window on this kind of server. */
export function widerContextFix(kind: ServerKind, model: string, tokens = recommendedTokens): string {
  switch (kind) {
    case "ollama":
      return `start it with \`OLLAMA_CONTEXT_LENGTH=${tokens} ollama serve\`, or set \`PARAMETER num_ctx ${tokens}\` in the model's Modelfile`;
    case "lmstudio":
      return `load it with \`lms load ${model} --context-length ${tokens}\``;
    case "vllm":
      return `start it with \`vllm serve ${model} --max-model-len ${tokens}\``;
    default:
      return `configure the server for a context of ${tokens} tokens or more`;
  }
}

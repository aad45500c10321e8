import type { Wire } from "@troupe/runtime";

/** A provider that is known by name. */
export interface Preset {
  wire: Wire;
  /** Null: the vendor's own address. */
  baseUrl: string | null;
  baseUrlVariable: string | null;
  keyVariable: string | null;
  tokenVariable: string | null;
  needsKey: boolean;
  isLocal: boolean;
  concurrency: number | null;
}

const bare = {
  baseUrl: null,
  baseUrlVariable: null,
  tokenVariable: null,
  needsKey: true,
  isLocal: false,
  concurrency: null,
};
const local = { ...bare, wire: "openai-chat", keyVariable: null, needsKey: false, isLocal: true } as const;

const table = {
  anthropic: {
    ...bare,
    wire: "anthropic",
    baseUrlVariable: "ANTHROPIC_BASE_URL",
    keyVariable: "ANTHROPIC_API_KEY",
    tokenVariable: "ANTHROPIC_AUTH_TOKEN",
  },
  openai: { ...bare, wire: "openai-responses", baseUrlVariable: "OPENAI_BASE_URL", keyVariable: "OPENAI_API_KEY" },
  openrouter: {
    ...bare,
    wire: "openai-chat",
    baseUrl: "https://openrouter.ai/api/v1",
    keyVariable: "OPENROUTER_API_KEY",
  },
  deepseek: { ...bare, wire: "openai-chat", baseUrl: "https://api.deepseek.com/v1", keyVariable: "DEEPSEEK_API_KEY" },
  ollama: { ...local, baseUrl: "http://127.0.0.1:11434/v1", baseUrlVariable: "OLLAMA_HOST", concurrency: 1 },
  lmstudio: { ...local, baseUrl: "http://127.0.0.1:1234/v1" },
  vllm: { ...local, baseUrl: "http://127.0.0.1:8000/v1", keyVariable: "VLLM_API_KEY" },
} satisfies Record<string, Preset>;

export type PresetName = keyof typeof table;
export const presets: Readonly<Record<PresetName, Preset>> = table;
/** In the order in which one of them is taken where nobody names a model. */
export const presetNames = Object.keys(table) as [PresetName, ...PresetName[]];

/** The variables that set a provider up without a file. */
export function variablesOf({ keyVariable, tokenVariable, baseUrlVariable }: Preset): string[] {
  return [keyVariable, tokenVariable, baseUrlVariable].filter((name) => name !== null);
}

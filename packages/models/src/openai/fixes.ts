import type { ProviderSettings } from "../settings.ts";
import { shownUrl } from "../wire/redaction.ts";
import { openAiBaseUrl } from "./stream.ts";
import type { VendorError } from "./vendor-error.ts";

/** A failure of which the way out is known. */
export interface Trouble {
  fix: string;
  /** Whether it stays so until somebody does something, whatever status it came with. */
  isFinal: boolean;
}

interface KnownTrouble {
  pattern: RegExp;
  isFinal: boolean;
  fix(settings: ProviderSettings, model: string): string;
}

const troubles: readonly KnownTrouble[] = [
  {
    pattern: /does not support tools|tool use is not supported|no endpoints found that support tool/i,
    isFinal: true,
    fix: ({ id }, model) =>
      `agents need a model that can call tools: choose another one than ${model}${id === "ollama" ? " (`ollama show NAME` lists the capability `tools`)" : ""}`,
  },
  {
    pattern: /enable-auto-tool-choice|tool-call-parser/i,
    isFinal: true,
    fix: () => "start vLLM with `--enable-auto-tool-choice --tool-call-parser NAME` for this model's kind of calls",
  },
  {
    pattern: /requires more system memory|not enough (memory|vram)/i,
    isFinal: true,
    fix: (_, model) => `${model} does not fit into this machine: choose a smaller one`,
  },
  {
    pattern:
      /context_length_exceeded|maximum context length|context (window|length|size) (is|was )?exceed|exceeds the available context/i,
    isFinal: true,
    fix: () =>
      "the conversation is longer than the model can read: start afresh, give it less, or choose a model with a longer context",
  },
  { pattern: /insufficient_quota/i, isFinal: false, fix: spentFix },
];

/** What is known to help against this failure; null: nothing in particular. */
export function knownTrouble(error: VendorError, settings: ProviderSettings, model: string): Trouble | null {
  const words = `${error.code ?? ""} ${error.message}`;
  const known = troubles.find(({ pattern }) => pattern.test(words));
  if (known) return { fix: known.fix(settings, model), isFinal: known.isFinal };
  // Whatever its words: DeepSeek and OpenRouter refuse an empty account with it.
  if (error.status === 402) return { fix: spentFix(settings), isFinal: false };
  return error.status === 404 ? { fix: missingFix(words, settings, model), isFinal: true } : null;
}

function spentFix({ id }: ProviderSettings): string {
  return `the account of ${id} is spent: add credit or raise its limit`;
}

function missingFix(words: string, settings: ProviderSettings, model: string): string {
  if (!/model/i.test(words))
    return `nothing is at ${shownUrl(settings.baseUrl ?? openAiBaseUrl)}: ${noApiFix(settings)}`;
  if (settings.id === "ollama") return `fetch it with \`ollama pull ${model}\`, or see \`troupe models ls\``;
  return "see `troupe models ls` for what there is";
}

/** For a server that is not what it was taken for. */
export function noApiFix({ baseUrl }: ProviderSettings): string {
  const ending = baseUrl !== null && !/\/v\d+\/?$/.test(baseUrl) ? ": most end with /v1" : "";
  return `is this the base URL of an API like OpenAI's${ending}?`;
}

/** What to do about a wrong or missing key. */
export function keyFix({ key, authToken, keyVariable, id }: ProviderSettings): string | null {
  if (keyVariable === null) return `give ${id} a key in the configuration`;
  return key === null && authToken === null
    ? `no key is set: export ${keyVariable}=…`
    : `the key is not accepted: export ${keyVariable}=…`;
}

import type { Clock } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { z } from "zod";
import type { ProviderSettings } from "./settings.ts";
import { beginningOf } from "./wire/beginning-of.ts";
import { failureOf } from "./wire/failure.ts";

export interface ListModelsOptions {
  /** @default the machine's own */
  clock?: Clock;
  /** @default the machine's own */
  fetch?: typeof globalThis.fetch;
  /** @default 5000 */
  timeoutMs?: number;
}

const ModelList = z.object({ data: z.array(z.object({ id: z.string().min(1) })) });

/** The largest list that is read: hundreds of models with all that can be said of them. */
const charactersMax = 16_000_000;

/**
 * The models that a provider's server lists, by their names without the provider's id, sorted. Throws a `RunFailure`
 * that says why there is no list: a wrong key, nobody there, or a server that is not what it is taken for.
 *
 * @example
 * await listModels(presetSettings("ollama")); // ["llama3.2", "qwen3-coder:30b"]
 */
export async function listModels(settings: ProviderSettings, options: ListModelsOptions = {}): Promise<string[]> {
  const { clock = systemClock(), fetch = globalThis.fetch, timeoutMs = 5_000 } = options;
  const url = addressOf(settings);
  const abort = new AbortController();
  const cancel = clock.after(timeoutMs, () => abort.abort());
  try {
    // Nobody is followed to another address: the key would go along.
    const response = await fetch(url, { headers: headersOf(settings), redirect: "manual", signal: abort.signal });
    if (!response.ok) {
      await response.body?.cancel();
      throw failed(settings, response.status, `its list of models at ${url} was refused`);
    }
    return namesIn(await beginningOf(response, charactersMax), settings, url);
  } catch (thrown) {
    if (thrown instanceof Error && "runError" in thrown) throw thrown;
    const why = abort.signal.aborted ? `nothing came within ${timeoutMs} ms` : whyOf(thrown);
    throw failed(settings, null, `${url} cannot be reached: ${why}`);
  } finally {
    cancel();
  }
}

function namesIn(text: string, settings: ProviderSettings, url: string): string[] {
  let value: unknown;
  try {
    // What is cut off is no JSON.
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  const list = ModelList.safeParse(value);
  if (!list.success) throw failed(settings, 404, `${url} gives no list of models: is this the right address?`);
  return [...new Set(list.data.data.map(({ id }) => id))].sort();
}

function addressOf({ wire, baseUrl }: ProviderSettings): string {
  if (wire === "anthropic")
    return `${(baseUrl ?? "https://api.anthropic.com").replace(/\/+$/, "")}/v1/models?limit=1000`;
  return `${(baseUrl ?? "https://api.openai.com/v1").replace(/\/+$/, "")}/models`;
}

function headersOf({ wire, key, authToken, headers }: ProviderSettings): Record<string, string> {
  const bearer = authToken ?? (wire === "anthropic" ? null : key);
  return {
    accept: "application/json",
    ...(wire === "anthropic" ? { "anthropic-version": "2023-06-01" } : {}),
    ...(wire === "anthropic" && key !== null ? { "x-api-key": key } : {}),
    ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }),
    ...headers,
  };
}

function failed({ id, keyVariable }: ProviderSettings, status: number | null, message: string) {
  const keyFix = keyVariable === null ? null : `export ${keyVariable}=…`;
  return failureOf({ provider: id, status, code: null, message, retryAfterMs: null, begun: false, keyFix });
}

/** Node says "fetch failed", and what it means underneath. */
function whyOf(thrown: unknown): string {
  const cause = thrown instanceof Error ? thrown.cause : null;
  if (cause instanceof Error) return "code" in cause ? String(cause.code) : cause.message;
  return thrown instanceof Error ? thrown.message : String(thrown);
}

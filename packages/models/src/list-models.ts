import type { Clock } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { z } from "zod";
import { baseUrlOf, type ProviderSettings } from "./settings.ts";
import { failureOf } from "./wire/failure.ts";
import { readTextUpTo } from "./wire/http.ts";

export interface ListModelsOptions {
  /** @default the system clock */
  clock?: Clock;
  /** @default globalThis.fetch */
  fetch?: typeof globalThis.fetch;
  /** @default 5000 */
  timeoutMs?: number;
}

const ModelList = z.object({ data: z.array(z.object({ id: z.string().min(1) })) });

/** Enough for a list of hundreds of models with long descriptions. */
const charactersMax = 16_000_000;

/**
 * Names of the models that a provider's server lists, without the provider's id, sorted. Throws a `RunFailure` with the
 * reason why there is no list: a wrong key, no server, or a server with another API.
 *
 * @example
 * await listModels(presetSettings("ollama")); // ["llama3.2", "qwen3-coder:30b"]
 */
export async function listModels(settings: ProviderSettings, options: ListModelsOptions = {}): Promise<string[]> {
  const { clock = systemClock(), fetch = globalThis.fetch, timeoutMs = 5_000 } = options;
  const url = listUrlOf(settings);
  const abort = new AbortController();
  const cancel = clock.after(timeoutMs, () => abort.abort());
  try {
    // A redirect is not followed: the key would go along.
    const response = await fetch(url, { headers: headersOf(settings), redirect: "manual", signal: abort.signal });
    if (!response.ok) {
      await response.body?.cancel();
      throw listFailure(settings, response.status, `the request for the list of models at ${url} was refused`);
    }
    return namesIn(await readTextUpTo(response, charactersMax), settings, url);
  } catch (thrown) {
    if (thrown instanceof Error && "runError" in thrown) throw thrown;
    const reason = abort.signal.aborted ? `no answer within ${timeoutMs} ms` : reasonOf(thrown);
    throw listFailure(settings, null, `${url} cannot be reached: ${reason}`);
  } finally {
    cancel();
  }
}

function namesIn(text: string, settings: ProviderSettings, url: string): string[] {
  let value: unknown;
  try {
    // A list that was cut off does not parse.
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  const list = ModelList.safeParse(value);
  if (!list.success) throw listFailure(settings, 404, `${url} does not return a list of models; check the base URL`);
  return [...new Set(list.data.data.map(({ id }) => id))].sort();
}

function listUrlOf(settings: ProviderSettings): string {
  return `${baseUrlOf(settings)}${settings.wire === "anthropic" ? "/v1/models?limit=1000" : "/models"}`;
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

function listFailure({ id, keyVariable }: ProviderSettings, status: number | null, message: string) {
  const keyFix = keyVariable === null ? null : `export ${keyVariable}=…`;
  return failureOf({ provider: id, status, code: null, message, retryAfterMs: null, begun: false, keyFix });
}

/** The cause that Node puts behind "fetch failed". */
function reasonOf(thrown: unknown): string {
  const cause = thrown instanceof Error ? thrown.cause : null;
  if (cause instanceof Error) return "code" in cause ? String(cause.code) : cause.message;
  return thrown instanceof Error ? thrown.message : String(thrown);
}

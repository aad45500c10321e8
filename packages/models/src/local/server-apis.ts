import type { Clock } from "@troupe/core";
import { z } from "zod";
import { readTextUpTo } from "../wire/http.ts";
import type { LocalModel, LocalServer } from "./local-model.ts";

/** Options of the requests to a server's own API. */
export interface ProbeRequest {
  fetch: typeof globalThis.fetch;
  clock: Clock;
  /** Time limit of one request. A slower server counts as absent. */
  timeoutMs: number;
  /** For servers that want a key for every request. */
  key: string | null;
}

const Tokens = z.int().positive().nullish().catch(null);

const OllamaVersion = z.object({ version: z.string() });
const OllamaTags = z.object({ models: z.array(z.object({ name: z.string() })) });
const OllamaRunning = z.object({ models: z.array(z.object({ name: z.string(), context_length: Tokens })) });
const OllamaModel = z.object({
  capabilities: z.array(z.string()).nullish().catch(null),
  parameters: z.string().nullish().catch(null),
  model_info: z.record(z.string(), z.unknown()).nullish().catch(null),
});

/** Models of one server that are requested one by one. */
const ollamaModelsMax = 50;

/** The server at this URL if it is Ollama, else null. */
export async function probeOllama(origin: string, probe: ProbeRequest): Promise<LocalServer | null> {
  const version = OllamaVersion.safeParse(await getJson(`${origin}/api/version`, probe)).data?.version;
  if (version === undefined) return null;
  const tags = OllamaTags.safeParse(await getJson(`${origin}/api/tags`, probe)).data?.models ?? [];
  const requests = tags.slice(0, ollamaModelsMax).map(({ name }) => probeOllamaModel(origin, name, probe));
  const models = (await Promise.all(requests)).filter((model) => model !== null);
  return { kind: "ollama", version, models };
}

/**
 * One model of Ollama. The context window of the loaded model wins over the one in its Modelfile. Without either it is
 * the server's own setting, which no client can read.
 */
export async function probeOllamaModel(origin: string, name: string, probe: ProbeRequest): Promise<LocalModel | null> {
  const [shown, running] = await Promise.all([
    getJson(`${origin}/api/show`, probe, { model: name }),
    getJson(`${origin}/api/ps`, probe),
  ]);
  const model = OllamaModel.safeParse(shown).data;
  if (!model) return null;
  const { capabilities, parameters, model_info } = model;
  const loaded = OllamaRunning.safeParse(running).data?.models.find((each) => isSameTag(each.name, name));
  const ofModelfile = /^num_ctx\s+(\d+)/m.exec(parameters ?? "")?.[1];
  const longest = Object.entries(model_info ?? {}).find(([key]) => key.endsWith(".context_length"))?.[1];
  return {
    name,
    tools: capabilities ? capabilities.includes("tools") : null,
    contextTokens: loaded?.context_length ?? (ofModelfile === undefined ? null : Number(ofModelfile)),
    contextTokensMax: typeof longest === "number" ? longest : null,
  };
}

/** A name without a tag has the tag `latest`. */
function isSameTag(one: string, other: string): boolean {
  const tagged = (name: string): string => (name.includes(":") ? name : `${name}:latest`);
  return tagged(one) === tagged(other);
}

const LmStudioModels = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      type: z.string().nullish().catch(null),
      capabilities: z.array(z.string()).nullish().catch(null),
      loaded_context_length: Tokens,
      max_context_length: Tokens,
    }),
  ),
});

/** The server at this URL if it is LM Studio, else null. Its own list has the context window of each loaded model. */
export async function probeLmStudio(origin: string, probe: ProbeRequest): Promise<LocalServer | null> {
  const list = LmStudioModels.safeParse(await getJson(`${origin}/api/v0/models`, probe)).data;
  if (!list) return null;
  const models = list.data
    .filter(({ type }) => type !== "embeddings")
    .map(({ id, capabilities, loaded_context_length, max_context_length }) => ({
      name: id,
      tools: capabilities ? capabilities.includes("tool_use") : null,
      contextTokens: loaded_context_length ?? null,
      contextTokensMax: max_context_length ?? null,
    }));
  return { kind: "lmstudio", version: null, models };
}

const OpenRouterModels = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      context_length: Tokens,
      supported_parameters: z.array(z.string()).nullish().catch(null),
    }),
  ),
});

/** OpenRouter's list of models with their context windows. */
export async function probeOpenRouter(baseUrl: string, probe: ProbeRequest): Promise<LocalServer | null> {
  const list = OpenRouterModels.safeParse(await getJson(`${baseUrl}/models`, probe)).data;
  if (!list) return null;
  const models = list.data.map(
    ({ id, context_length, supported_parameters }): LocalModel => ({
      name: id,
      tools: supported_parameters ? supported_parameters.includes("tools") : null,
      contextTokens: context_length ?? null,
      contextTokensMax: context_length ?? null,
    }),
  );
  return { kind: "openrouter", version: null, models };
}

const CompatibleModels = z.object({ data: z.array(z.object({ id: z.string(), max_model_len: Tokens })) });

/** The list of any OpenAI-compatible server. Only vLLM adds the context window. */
export async function probeCompatible(baseUrl: string, probe: ProbeRequest): Promise<LocalServer | null> {
  const list = CompatibleModels.safeParse(await getJson(`${baseUrl}/models`, probe)).data;
  if (!list) return null;
  const models = list.data.map(({ id, max_model_len }) => {
    const contextTokens = max_model_len ?? null;
    return { name: id, tools: null, contextTokens, contextTokensMax: contextTokens };
  });
  const isVllm = models.some(({ contextTokens }) => contextTokens !== null);
  return { kind: isVllm ? "vllm" : "unknown", version: null, models };
}

/** The longest response that is read. */
const charactersMax = 8_000_000;

/**
 * Requests JSON. Null for everything else: no server, another kind of server, an error, or no answer in time. Never
 * throws, and follows no redirect.
 */
async function getJson(url: string, { fetch, clock, timeoutMs, key }: ProbeRequest, body?: object): Promise<unknown> {
  const abort = new AbortController();
  const cancel = clock.after(timeoutMs, () => abort.abort());
  try {
    const response = await fetch(url, {
      method: body ? "POST" : "GET",
      headers: {
        accept: "application/json",
        ...(body ? { "content-type": "application/json" } : {}),
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      redirect: "manual",
      signal: abort.signal,
    });
    if (!response.ok) {
      await response.body?.cancel();
      return null;
    }
    // A response that was cut off does not parse.
    return JSON.parse(await readTextUpTo(response, charactersMax));
  } catch {
    return null;
  } finally {
    cancel();
  }
}

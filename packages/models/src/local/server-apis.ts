import { z } from "zod";
import { type Asking, getJson } from "./get-json.ts";
import type { LocalModel, LocalServer } from "./local-model.ts";

const Tokens = z.int().positive().nullish().catch(null);

const LmStudio = z.object({
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

const OpenRouter = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      context_length: Tokens,
      supported_parameters: z.array(z.string()).nullish().catch(null),
    }),
  ),
});

const Listed = z.object({ data: z.array(z.object({ id: z.string(), max_model_len: Tokens })) });

/** The server at this address, if it is LM Studio: its own list says with how much of its window a model is loaded. */
export async function probeLmStudio(origin: string, asking: Asking): Promise<LocalServer | null> {
  const list = LmStudio.safeParse(await getJson(`${origin}/api/v0/models`, asking)).data;
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

/** What any compatible server lists; vLLM says besides how long a conversation may be. */
export async function probeList(baseUrl: string, asking: Asking): Promise<LocalServer | null> {
  const list = Listed.safeParse(await getJson(`${baseUrl}/models`, asking)).data;
  if (!list) return null;
  const models = list.data.map(({ id, max_model_len }) => {
    const contextTokens = max_model_len ?? null;
    return { name: id, tools: null, contextTokens, contextTokensMax: contextTokens };
  });
  const isVllm = models.some(({ contextTokens }) => contextTokens !== null);
  return { kind: isVllm ? "vllm" : "unknown", version: null, models };
}

/** OpenRouter's list: the windows of hundreds of models. */
export async function probeOpenRouter(baseUrl: string, asking: Asking): Promise<LocalServer | null> {
  const list = OpenRouter.safeParse(await getJson(`${baseUrl}/models`, asking)).data;
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

import { z } from "zod";
import type { Catalog, CatalogModel } from "./catalog.ts";
import { Refusal } from "./refusal.ts";

/** Anthropic's own list. */
export function anthropicModels({ models }: Catalog) {
  const data = models
    .filter(({ vendor }) => vendor === "anthropic")
    .map(({ id, contextTokens, outputTokensMax }) => ({
      type: "model",
      id,
      display_name: id,
      created_at: "2026-01-01T00:00:00Z",
      max_input_tokens: contextTokens,
      max_tokens: outputTokensMax,
    }));
  return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
}

/** OpenAI's list, with what vLLM says besides: the window that a model is run with. */
export function openAiModels({ models }: Catalog, windowTokens: number | null) {
  const data = models.map(({ id, vendor, contextTokens }) => ({
    id,
    object: "model",
    created: 1_790_000_000,
    owned_by: vendor,
    ...(vendor === "local" ? { max_model_len: windowTokens ?? contextTokens } : {}),
  }));
  return { object: "list", data };
}

/** LM Studio's own list: the window that a model could have, and the one that it was loaded with. */
export function lmStudioModels({ models }: Catalog, windowTokens: number | null) {
  const data = models.filter(isLocal).map(({ id, contextTokens }) => ({
    id,
    object: "model",
    type: "llm",
    state: "loaded",
    capabilities: ["tool_use"],
    max_context_length: contextTokens,
    loaded_context_length: windowTokens ?? contextTokens,
  }));
  return { object: "list", data };
}

function isLocal({ vendor }: CatalogModel): boolean {
  return vendor === "local";
}

export function ollamaTags({ models }: Catalog) {
  return {
    models: models.filter(isLocal).map(({ id }) => ({
      name: id,
      model: id,
      modified_at: "2026-01-01T00:00:00Z",
      size: 1,
      digest: "0",
      details: details,
    })),
  };
}

const details = { format: "gguf", family: "scripted", parameter_size: "30B", quantization_level: "Q4_K_M" };

/** Models in Ollama's memory with their context windows. Only this endpoint reports them. */
export function ollamaRunning({ models }: Catalog, windowTokens: number | null) {
  return {
    models: models.filter(isLocal).map(({ id, contextTokens }) => ({
      name: id,
      model: id,
      size: 1,
      digest: "0",
      details,
      expires_at: "2027-01-01T00:00:00Z",
      context_length: windowTokens ?? contextTokens,
    })),
  };
}

/** Ollama's details of one model, with its largest possible window. */
export function ollamaModel(body: unknown, catalog: Catalog) {
  const asked = z.object({ model: z.string() }).safeParse(body);
  const model = asked.success ? catalog.find(asked.data.model) : undefined;
  if (!model) throw new Refusal(404, `model '${asked.success ? asked.data.model : ""}' not found`);
  return {
    details,
    parameters: "temperature                    0.7",
    capabilities: capabilitiesOf(model),
    model_info: { "general.architecture": "scripted", "scripted.context_length": model.contextTokens },
  };
}

function capabilitiesOf({ thinking }: CatalogModel): string[] {
  return ["completion", "tools", ...(thinking === "none" ? [] : ["thinking"])];
}

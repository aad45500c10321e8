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

/** OpenAI's list, with what vLLM (`max_model_len`) and LM Studio (`max_context_length`) say besides. */
export function openAiModels({ models }: Catalog) {
  const data = models.map(({ id, vendor, contextTokens }) => ({
    id,
    object: "model",
    created: 1_790_000_000,
    owned_by: vendor,
    ...(vendor === "local"
      ? {
          max_model_len: contextTokens,
          max_context_length: contextTokens,
          loaded_context_length: contextTokens,
          state: "loaded",
        }
      : {}),
  }));
  return { object: "list", data };
}

export function ollamaTags({ models }: Catalog) {
  return {
    models: models
      .filter(({ vendor }) => vendor === "local")
      .map(({ id }) => ({
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

/** What Ollama says of one model: its own window, and the smaller one that it is really run with, if that is set. */
export function ollamaModel(body: unknown, catalog: Catalog, windowTokens: number | null) {
  const asked = z.object({ model: z.string() }).safeParse(body);
  const model = asked.success ? catalog.find(asked.data.model) : undefined;
  if (!model) throw new Refusal(404, `model '${asked.success ? asked.data.model : ""}' not found`);
  return {
    details,
    parameters: windowTokens === null ? "" : `num_ctx ${windowTokens}`,
    capabilities: capabilitiesOf(model),
    model_info: { "general.architecture": "scripted", "scripted.context_length": model.contextTokens },
  };
}

function capabilitiesOf({ thinking }: CatalogModel): string[] {
  return ["completion", "tools", ...(thinking === "none" ? [] : ["thinking"])];
}

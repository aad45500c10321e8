import type { ModelProvider, ModelReply, ModelRequest } from "@troupe/core";
import { describe, expect, test } from "vitest";
import { createModelRouter } from "./provider-registry.ts";

/** A provider that answers with its own name. */
function named(id: string): ModelProvider {
  const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: null };
  return {
    id,
    call: async ({ model }): Promise<ModelReply> => ({ text: id, calls: [], usage, stopReason: "end", model }),
    priceOf: async () => ({ inputPerMillion: id.length, outputPerMillion: 0 }),
  };
}

const options = { signal: new AbortController().signal, onDelta: () => {} };

function requestFor(model: string): ModelRequest {
  const origin = { session: "s", run: "r", agent: "main", task: "go", attempt: 1, step: 1 };
  return { model, system: "", messages: [], tools: [], maxOutputTokens: 100, temperature: null, origin };
}

const router = createModelRouter([named("scripted"), named("anthropic")]);

test.for([
  { model: "scripted/demo", provider: "scripted" },
  { model: "scripted//tmp/a.yaml", provider: "scripted" },
  { model: "anthropic/claude/x", provider: "anthropic" },
])("$model is answered by $provider", async ({ model, provider }) => {
  expect(await router.call(requestFor(model), options)).toMatchObject({ text: provider, model });
});

describe("a model that nobody provides is refused, naming it and those there are:", () => {
  test.for(["openai/gpt", "scripted", "", "/demo", "constructor/x"])("%j", async (model) => {
    await expect(router.call(requestFor(model), options)).rejects.toMatchObject({
      runError: {
        type: "params",
        message: `no provider for the model ${JSON.stringify(model)}; ids start with one of: anthropic/, scripted/`,
        recoverable: false,
      },
    });
  });
});

test.for([
  { model: "scripted/demo", price: { inputPerMillion: 8, outputPerMillion: 0 } },
  { model: "openai/gpt", price: null },
  { model: "scripted", price: null },
])("the price of $model is its provider's to know", async ({ model, price }) => {
  expect(await router.priceOf(model)).toEqual(price);
});

test("two providers of one id are refused", () => {
  expect(() => createModelRouter([named("a"), named("a")])).toThrow("two model providers have one id: a, a");
});

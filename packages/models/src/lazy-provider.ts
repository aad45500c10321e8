import type { ModelProvider } from "@troupe/core";

/**
 * A provider that is made when it is first asked. What makes it may be large: a command that calls no model does not
 * load what models are called with.
 *
 * @example
 * createLazyProvider("anthropic", async () => (await import("./anthropic/index.ts")).createAnthropicProvider(options));
 */
export function createLazyProvider(id: string, load: () => Promise<ModelProvider>): ModelProvider {
  let loading: Promise<ModelProvider> | null = null;
  const provider = (): Promise<ModelProvider> => {
    loading ??= load().catch((error) => {
      loading = null;
      throw error;
    });
    return loading;
  };
  return {
    id,
    call: async (request, options) => (await provider()).call(request, options),
    priceOf: async (model) => (await provider()).priceOf(model),
    contextOf: async (model) => (await (await provider()).contextOf?.(model)) ?? null,
  };
}

import { type ModelProvider, RunFailure, TroupeError } from "@troupe/core";

/** Several providers that answer as one. */
export interface ModelRouter extends ModelProvider {
  /** Ids of the providers it routes to, sorted. */
  readonly providers: readonly string[];
}

/**
 * Sends each call to the provider that the model's id names before its first slash.
 *
 * @example
 * const models = createModelRouter([createScriptedProvider({ load, clock })]);
 * await models.call({ model: "scripted/demo", ...request }, options);
 */
export function createModelRouter(providers: readonly ModelProvider[]): ModelRouter {
  const byId = new Map(providers.map((provider) => [provider.id, provider]));
  if (byId.size < providers.length) {
    throw new TroupeError("CONFLICT", `two model providers have one id: ${providers.map(({ id }) => id).join(", ")}`);
  }
  const ids = [...byId.keys()].sort();
  const providerOf = (model: string): ModelProvider | undefined =>
    model.includes("/") ? byId.get(model.split("/", 1)[0] ?? "") : undefined;
  return {
    id: "router",
    providers: ids,
    async call(request, options) {
      const provider = providerOf(request.model);
      if (!provider) throw unknownProvider(request.model, ids);
      return provider.call(request, options);
    },
    async priceOf(model) {
      return (await providerOf(model)?.priceOf(model)) ?? null;
    },
  };
}

function unknownProvider(model: string, ids: readonly string[]): RunFailure {
  return new RunFailure({
    type: "params",
    message: `no provider for the model ${JSON.stringify(model)}; ids start with one of: ${ids.map((id) => `${id}/`).join(", ") || "(no provider is set up)"}`,
    recoverable: false,
  });
}

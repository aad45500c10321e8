import type { Clock, ModelCallOptions, ModelProvider, ModelReply, ModelRequest } from "@troupe/core";
import type { ModelPrice } from "@troupe/core/internal";
import { systemClock } from "@troupe/core/system";
import type { PriceTable } from "../prices.ts";
import type { ProviderSettings } from "../settings.ts";
import { createClient } from "./client.ts";
import { addEvent, createDraft } from "./draft.ts";
import { createFailures } from "./failures.ts";
import { composeReply } from "./reply.ts";
import { wireRequest } from "./request.ts";
import { readStream } from "./stream.ts";

export interface AnthropicProviderOptions {
  settings: ProviderSettings;
  prices: PriceTable;
  /** @default the machine's own */
  clock?: Clock;
  /** @default the machine's own */
  fetch?: typeof globalThis.fetch;
}

/**
 * Models that speak Anthropic's Messages API: Anthropic's own, and whatever else is at the base URL. One request for
 * each call, always streamed; who is turned away is not helped here.
 *
 * @example
 * const provider = createAnthropicProvider({ settings, prices });
 * const reply = await provider.call({ model: "anthropic/claude-sonnet-5-5", ...request }, { signal, onDelta });
 */
export function createAnthropicProvider(options: AnthropicProviderOptions): ModelProvider {
  const { settings, prices, clock = systemClock(), fetch = globalThis.fetch } = options;
  const { id } = settings;
  const client = createClient(settings, fetch);
  const failures = createFailures(settings, () => clock.now());
  const nameOf = (model: string): string => model.slice(id.length + 1);

  const ask = async (request: ModelRequest, options: ModelCallOptions, signal: AbortSignal): Promise<ModelReply> => {
    const wire = wireRequest(id, request);
    const response = await client
      .post("/v1/messages", { body: wire.body, signal, stream: true })
      .asResponse()
      .catch((thrown: unknown) => {
        throw failures.ofThrown(thrown);
      });
    const draft = createDraft();
    const onActivity = (): void => options.onActivity?.();
    for await (const event of readStream(response, { failures, onActivity })) {
      addEvent(draft, event, (text) => {
        if (!signal.aborted) options.onDelta(text);
      });
    }
    return composeReply(draft, { ...wire, settings, prices });
  };

  return {
    id,
    priceOf: async (model) => prices.priceOf(nameOf(model)) ?? (settings.isLocal ? free : null),
    contextOf: async (model) => settings.models[nameOf(model)]?.contextTokens ?? prices.contextOf(nameOf(model)),
    async call(request, options) {
      if (options.signal.aborted) throw failures.cancelled();
      // One for each call: the SDK would leave its ear at a signal that lives longer.
      const abort = new AbortController();
      const stop = (): void => abort.abort();
      options.signal.addEventListener("abort", stop, { once: true });
      try {
        return await ask(request, options, abort.signal);
      } catch (thrown) {
        // Lets go of a connection that is not wanted to its end.
        abort.abort();
        throw options.signal.aborted ? failures.cancelled() : thrown;
      } finally {
        options.signal.removeEventListener("abort", stop);
      }
    },
  };
}

/** What a model costs whose owner sits beside it. */
const free: ModelPrice = { inputPerMillion: 0, outputPerMillion: 0 };

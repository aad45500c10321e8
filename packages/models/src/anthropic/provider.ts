import Anthropic from "@anthropic-ai/sdk";
import type { ModelCallOptions, ModelProvider, ModelReply, ModelRequest } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { freePrice } from "../prices/price-table.ts";
import type { ProviderOptions } from "../provider-options.ts";
import { baseUrlOf, type ProviderSettings } from "../settings.ts";
import { cancelledCall, throwIfAborted } from "../wire/cancellation.ts";
import { createSdkFetch, requestHeaders } from "../wire/http.ts";
import { createFailures } from "./failures.ts";
import { addEvent, charactersIn, composeReply, createDraft, reportedUsage } from "./reply.ts";
import { wireRequest } from "./request.ts";
import { readStream } from "./stream.ts";

/**
 * The adapter for Anthropic's Messages API, at Anthropic or at any other base URL. One streamed request per call, without
 * retries.
 *
 * @example
 * const provider = createAnthropicProvider({ settings, prices });
 * const reply = await provider.call({ model: "anthropic/claude-sonnet-5-5", ...request }, { signal, onDelta });
 */
export function createAnthropicProvider(options: ProviderOptions): ModelProvider {
  const { settings, prices, clock = systemClock(), fetch = globalThis.fetch } = options;
  const { id } = settings;
  const client = createClient(settings, fetch);
  const failures = createFailures(settings, () => clock.now());
  const nameOf = (model: string): string => model.slice(id.length + 1);

  const send = async (request: ModelRequest, options: ModelCallOptions, signal: AbortSignal): Promise<ModelReply> => {
    const wire = wireRequest(id, request);
    const response = await client
      .post("/v1/messages", { body: wire.body, signal, stream: true })
      .asResponse()
      .catch((thrown: unknown) => {
        throw failures.ofThrown(thrown);
      });
    const draft = createDraft();
    const target = { ...wire, settings, prices };
    const onActivity = (): void => options.onActivity?.();
    let outputCharacters = 0;
    for await (const event of readStream(response, { failures, onActivity })) {
      addEvent(draft, event, (text) => {
        if (!signal.aborted) options.onDelta(text);
      });
      outputCharacters += charactersIn(event);
      if (!signal.aborted) options.onProgress?.({ usage: reportedUsage(draft, target), outputCharacters });
    }
    return composeReply(draft, target);
  };

  return {
    id,
    priceOf: async (model) => prices.priceOf(nameOf(model)) ?? (settings.isLocal ? freePrice : null),
    contextOf: async (model) => settings.models[nameOf(model)]?.contextTokens ?? prices.contextOf(nameOf(model)),
    async call(request, options) {
      throwIfAborted(options.signal);
      // A controller per call: the SDK would leave its listener on a signal that lives longer.
      const abort = new AbortController();
      const stop = (): void => abort.abort();
      options.signal.addEventListener("abort", stop, { once: true });
      try {
        return await send(request, options, abort.signal);
      } catch (thrown) {
        // Closes the connection of a response that is not read to its end.
        abort.abort();
        throw options.signal.aborted ? cancelledCall() : thrown;
      } finally {
        options.signal.removeEventListener("abort", stop);
      }
    },
  };
}

/** The version of the API that the SDK's types describe. */
const apiVersion = "2026-10-21";

/** The longest time of a timer. The idle timeout of the reliability layer is the only one. */
const neverMs = 2 ** 31 - 1;

/**
 * Creates the SDK's client from the settings alone. The SDK would also read a dozen environment variables and profiles of
 * the user's folder, so every option is set. `createSdkFetch` replaces its headers.
 */
function createClient(settings: ProviderSettings, fetch: typeof globalThis.fetch): Anthropic {
  return new Anthropic({
    // Never sent. With null the SDK would look for another key.
    apiKey: "none",
    authToken: null,
    webhookKey: null,
    baseURL: baseUrlOf(settings),
    maxRetries: 0,
    timeout: neverMs,
    logLevel: "off",
    openTelemetry: false,
    fetch: createSdkFetch(fetch, () => headersOf(settings)),
  });
}

function headersOf(settings: ProviderSettings): Headers {
  return requestHeaders(settings, { "anthropic-version": apiVersion, ...credentialsOf(settings) });
}

/** Every server of this API accepts `x-api-key`. Not all accept the bearer token that the SDK would send. */
function credentialsOf({ key, authToken }: ProviderSettings): Record<string, string> {
  if (authToken !== null) return { authorization: `Bearer ${authToken}` };
  return key === null ? {} : { "x-api-key": key };
}

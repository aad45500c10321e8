import Anthropic from "@anthropic-ai/sdk";
import type { ProviderSettings } from "../settings.ts";
import { clientFetch, requestHeaders } from "../wire/http.ts";

export const anthropicBaseUrl = "https://api.anthropic.com";

/** The version of the API that the SDK's types describe. */
const apiVersion = "2026-10-21";

/** The most that a timer can wait: there is one watchdog, and it is not here. */
const neverMs = 2 ** 31 - 1;

/**
 * The SDK's client, made of the settings alone. It would read a dozen variables of the environment, and profiles from
 * the user's folder: everything is said here, and the headers that go out are decided here alone. It goes to no other
 * address than the one that it was given, wherever a server sends it: the key goes with every request.
 */
export function createClient(settings: ProviderSettings, fetch: typeof globalThis.fetch): Anthropic {
  return new Anthropic({
    // Not null, which would send it looking for another; what is sent are the headers below.
    apiKey: "none",
    authToken: null,
    webhookKey: null,
    baseURL: (settings.baseUrl ?? anthropicBaseUrl).replace(/\/+$/, ""),
    maxRetries: 0,
    timeout: neverMs,
    logLevel: "off",
    openTelemetry: false,
    fetch: clientFetch(fetch, () => headersOf(settings)),
  });
}

function headersOf(settings: ProviderSettings): Headers {
  return requestHeaders(settings, { "anthropic-version": apiVersion, ...credentialsOf(settings) });
}

/** Every server of this wire knows `x-api-key`; the SDK would send a key as a bearer token, which not all of them do. */
function credentialsOf({ key, authToken }: ProviderSettings): Record<string, string> {
  if (authToken !== null) return { authorization: `Bearer ${authToken}` };
  return key === null ? {} : { "x-api-key": key };
}

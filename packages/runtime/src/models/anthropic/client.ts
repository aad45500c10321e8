import Anthropic, { type ClientOptions } from "@anthropic-ai/sdk";
import type { ProviderSettings } from "../settings.ts";

export type Fetch = NonNullable<ClientOptions["fetch"]>;

/** The most that a timer can wait: whoever waits for an answer watches over it himself. */
const neverMs = 2 ** 31 - 1;

/**
 * The SDK's client, made of the settings alone. It would read a dozen variables of the environment, and profiles from
 * the user's folder: everything is said here, so that nothing is left for it to look up.
 */
export function createClient(settings: ProviderSettings, fetch: Fetch | undefined): Anthropic {
  const { baseUrl, key, authToken } = settings;
  const headers = {
    // Every server of this wire knows this header; the SDK would send a key as a bearer token, which not all do.
    "x-api-key": authToken === null ? key : null,
    authorization: authToken === null ? null : `Bearer ${authToken}`,
    ...Object.fromEntries(Object.entries(settings.headers).map(([name, value]) => [name.toLowerCase(), value])),
  };
  const client = new Anthropic({
    // Not null, which would send it looking; what is sent are the headers.
    apiKey: "",
    authToken: null,
    webhookKey: null,
    baseURL: (baseUrl ?? "https://api.anthropic.com").replace(/\/+$/, ""),
    maxRetries: 0,
    timeout: neverMs,
    logLevel: "off",
    openTelemetry: false,
    // A key goes to nobody but whom it was meant for.
    fetchOptions: { redirect: "manual" },
    ...(fetch ? { fetch } : {}),
  });
  // To the headers that it is given it adds those of ANTHROPIC_CUSTOM_HEADERS, and no option keeps it from that.
  (client as unknown as { _options: ClientOptions })._options.defaultHeaders = headers;
  return client;
}

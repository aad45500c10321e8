import Anthropic from "@anthropic-ai/sdk";
import { withShortError } from "../beginning-of.ts";
import type { ProviderSettings } from "../settings.ts";

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
    fetch: async (url, init) =>
      withShortError(await fetch(url, { ...init, headers: headersOf(settings), redirect: "manual" })),
  });
}

function headersOf({ key, authToken, headers }: ProviderSettings): Headers {
  const sent = new Headers({
    accept: "text/event-stream, application/json",
    "content-type": "application/json",
    "anthropic-version": apiVersion,
    "user-agent": "troupe",
  });
  // Every server of this wire knows this header; the SDK would send a key as a bearer token, which not all of them do.
  if (authToken !== null) sent.set("authorization", `Bearer ${authToken}`);
  else if (key !== null) sent.set("x-api-key", key);
  for (const [name, value] of Object.entries(headers)) sent.set(name, value);
  return sent;
}

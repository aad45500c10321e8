import type { ProviderSettings } from "../settings.ts";
import { withShortError } from "./beginning-of.ts";

/**
 * What a vendor's SDK asks with: the headers that go out are decided here alone, whatever the SDK would send, and no
 * redirect is followed, since the key goes with every request. Headers are made for each request: a key that none can
 * carry fails a call, and not the provider.
 */
export function clientFetch(fetch: typeof globalThis.fetch, headersOf: () => Headers): typeof globalThis.fetch {
  return async (url, init) => withShortError(await fetch(url, { ...init, headers: headersOf(), redirect: "manual" }));
}

/** Those of the wire, and then the user's own, which win. */
export function requestHeaders({ headers }: ProviderSettings, own: Record<string, string>): Headers {
  const sent = new Headers({
    accept: "text/event-stream, application/json",
    "content-type": "application/json",
    "user-agent": "troupe",
    ...own,
  });
  for (const [name, value] of Object.entries(headers)) sent.set(name, value);
  return sent;
}

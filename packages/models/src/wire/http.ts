import type { ProviderSettings } from "../settings.ts";

/**
 * The `fetch` that a vendor's SDK uses. It replaces all headers that the SDK would send, follows no redirect (the key
 * goes with every request), and limits the size of an error body. Headers are made for each request, so that a key that
 * no header can carry fails a call and not the construction of the provider.
 */
export function createSdkFetch(fetch: typeof globalThis.fetch, headersOf: () => Headers): typeof globalThis.fetch {
  return async (url, init) => withShortError(await fetch(url, { ...init, headers: headersOf(), redirect: "manual" }));
}

/** The adapter's headers and the user's own, which win. */
export function requestHeaders({ headers }: ProviderSettings, ofAdapter: Record<string, string>): Headers {
  const merged = new Headers({
    accept: "text/event-stream, application/json",
    "content-type": "application/json",
    "user-agent": "troupe",
    ...ofAdapter,
  });
  for (const [name, value] of Object.entries(headers)) merged.set(name, value);
  return merged;
}

/** Whether a header can carry this value. White space at its ends is dropped anyway. */
export function isHeaderValue(value: string): boolean {
  return !/[^\t\x20-\x7e]/.test(value.trim());
}

/**
 * Reads at most this many characters of a body, so that an endless response does no harm. Throws when the connection
 * breaks.
 *
 * @example
 * const text = await readTextUpTo(response, 64 * 1024);
 */
export async function readTextUpTo({ body }: Response, charactersMax: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    if (text.length >= charactersMax) break;
  }
  return text.slice(0, charactersMax);
}

/** Far more than any server writes about an error. */
const errorCharactersMax = 64 * 1024;

/** Shortens the body of an error response, which the SDKs would read to its end. Other responses stay as they are. */
export async function withShortError(response: Response): Promise<Response> {
  if (response.ok || !response.body) return response;
  const { status, statusText, headers } = response;
  return new Response(await readTextUpTo(response, errorCharactersMax), { status, statusText, headers });
}

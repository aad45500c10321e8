import type { Clock } from "@troupe/core";
import { beginningOf } from "../wire/beginning-of.ts";

/** How a server beside the model's API is asked. */
export interface Asking {
  fetch: typeof globalThis.fetch;
  clock: Clock;
  /** For one question; a server that takes longer is as good as none. */
  timeoutMs: number;
  /** For servers that want a key for everything. */
  key: string | null;
}

/** The largest answer that is read. */
const charactersMax = 8_000_000;

/**
 * What a server says at an address, as JSON; null for whatever else comes of it: no server, another one, an error, or
 * no answer in time. Never throws, and follows nobody to another address.
 */
export async function getJson(url: string, asking: Asking, body?: object): Promise<unknown> {
  const abort = new AbortController();
  const cancel = asking.clock.after(asking.timeoutMs, () => abort.abort());
  try {
    const response = await asking.fetch(url, {
      method: body ? "POST" : "GET",
      headers: {
        accept: "application/json",
        ...(body ? { "content-type": "application/json" } : {}),
        ...(asking.key === null ? {} : { authorization: `Bearer ${asking.key}` }),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      redirect: "manual",
      signal: abort.signal,
    });
    if (!response.ok) {
      await response.body?.cancel();
      return null;
    }
    // What is cut off there is no JSON.
    return JSON.parse(await beginningOf(response, charactersMax));
  } catch {
    return null;
  } finally {
    cancel();
  }
}

import { type ErrorCode, exitCodes, TroupeError } from "@troupe/core";
import { ApiError } from "@troupe/core/internal";

/** Sends requests to the daemon, with its token. */
export interface Transport {
  url: string;
  /** Resolves to a successful response. Throws the daemon's error, or the error of `fetch`. */
  send(path: string, init: RequestInit): Promise<Response>;
  /** Turns an error of `fetch` into a `TroupeError`. */
  toError(thrown: unknown): TroupeError;
}

export function createTransport(options: { url: string; token: string }): Transport {
  const url = options.url.replace(/\/+$/, "");
  return {
    url,
    async send(path, init) {
      const headers = { authorization: `Bearer ${options.token}`, "content-type": "application/json", ...init.headers };
      // A redirect would send the token to another server.
      const response = await fetch(`${url}${path}`, { ...init, headers, redirect: "error" });
      if (response.ok) return response;
      throw await errorIn(response, url);
    },
    toError: (thrown) => (TroupeError.is(thrown) ? thrown : unreachable(url, thrown)),
  };
}

/** Adds the query to a path, without its undefined and null values. */
export function withQuery(path: string, query: Record<string, string | number | null | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) search.set(name, String(value));
  }
  return search.size === 0 ? path : `${path}?${search}`;
}

/** Whether no process listens at the address. A lost connection or a slow daemon is something else. */
export function connectionWasRefused(thrown: unknown): boolean {
  return ["ECONNREFUSED", "ENOTFOUND", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL"].includes(codeOf(thrown));
}

export function unreachable(url: string, cause: unknown): TroupeError {
  const why = codeOf(cause) || (cause instanceof Error ? cause.message : String(cause));
  return new TroupeError("UNREACHABLE", `no daemon answers at ${url} (${why})`, { fix: "troupe up", cause });
}

async function errorIn(response: Response, url: string): Promise<TroupeError> {
  const text = await response.text();
  try {
    const { code, message, fix } = ApiError.parse(JSON.parse(text)).error;
    return new TroupeError(isKnown(code) ? code : "INTERNAL", message, fix === null ? {} : { fix });
  } catch (cause) {
    return new TroupeError(
      "INVALID_MESSAGE",
      `the server at ${url} is not a troupe daemon (status ${response.status})`,
      {
        fix: "troupe doctor",
        cause,
      },
    );
  }
}

function isKnown(code: string): code is ErrorCode {
  return Object.hasOwn(exitCodes, code);
}

/** The code of the system error, which `fetch` wraps in one or two causes. */
function codeOf(thrown: unknown): string {
  for (let error: unknown = thrown; error instanceof Error; error = error.cause) {
    if (!TroupeError.is(error) && "code" in error && typeof error.code === "string") return error.code;
  }
  return "";
}

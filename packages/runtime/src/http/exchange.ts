import { type ErrorCode, exitCodes, TroupeError } from "@troupe/core";
import { ApiError } from "@troupe/core/internal";

/** One request and its answer, with the token, and with errors that say what happened. */
export interface Exchange {
  url: string;
  /** An answer of success. Throws the daemon's error, or what `fetch` throws. */
  send(path: string, init: RequestInit): Promise<Response>;
  /** What `fetch` threw, in our words. */
  toError(thrown: unknown): TroupeError;
}

export function createExchange(options: { url: string; token: string }): Exchange {
  const url = options.url.replace(/\/+$/, "");
  return {
    url,
    async send(path, init) {
      const headers = { authorization: `Bearer ${options.token}`, "content-type": "application/json", ...init.headers };
      // Following a redirect would hand the token to whoever it points at.
      const response = await fetch(`${url}${path}`, { ...init, headers, redirect: "error" });
      if (response.ok) return response;
      throw await errorIn(response, url);
    },
    toError: (thrown) => (TroupeError.is(thrown) ? thrown : unreachable(url, thrown)),
  };
}

/** Leaves out what is not given. */
export function withQuery(path: string, query: Record<string, string | number | null | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null) search.set(name, String(value));
  }
  return search.size === 0 ? path : `${path}?${search}`;
}

/** Whether nothing listens there, as against a connection that was lost or a daemon that is slow. */
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
      `what answers at ${url} with status ${response.status} is no troupe daemon`,
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

/** The system's code, which `fetch` hides one or two causes deep. */
function codeOf(thrown: unknown): string {
  for (let at: unknown = thrown; at instanceof Error; at = at.cause) {
    if (!TroupeError.is(at) && "code" in at && typeof at.code === "string") return at.code;
  }
  return "";
}

import { type ErrorCode, exitCodes, TroupeError } from "@troupe/core/errors";

/** Sends requests with the token. Uses `fetch` only, so that it works in browsers too. */
export interface Transport {
  url: string;
  /** Resolves to a successful response. Throws the daemon's error, or `UNREACHABLE`. */
  send(path: string, init: RequestInit): Promise<Response>;
}

export function createTransport({ url: given, token }: { url: string; token: string }): Transport {
  const url = given.replace(/\/+$/, "");
  return {
    url,
    async send(path, init) {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json", ...init.headers };
      // A redirect would send the token to another server.
      const response = await fetch(`${url}/api/v1${path}`, { ...init, headers, redirect: "error" }).catch((cause) => {
        throw init.signal?.aborted ? init.signal.reason : unreachable(url, cause);
      });
      if (response.ok) return response;
      throw await errorIn(response, url);
    },
  };
}

export function unreachable(url: string, cause: unknown): TroupeError {
  return new TroupeError("UNREACHABLE", `no daemon answers at ${url}`, { fix: "troupe up", cause });
}

async function errorIn(response: Response, url: string): Promise<TroupeError> {
  const body: unknown = await response.json().catch(() => null);
  const { error } = (body ?? {}) as { error?: { code?: unknown; message?: unknown; fix?: unknown } };
  if (typeof error?.code !== "string" || typeof error.message !== "string") {
    const message = `the server at ${url} is not a troupe daemon (status ${response.status})`;
    return new TroupeError("INVALID_MESSAGE", message, { fix: "troupe doctor" });
  }
  // A newer daemon can have codes that this client does not know.
  const code = Object.hasOwn(exitCodes, error.code) ? (error.code as ErrorCode) : "INTERNAL";
  return new TroupeError(code, error.message, typeof error.fix === "string" ? { fix: error.fix } : {});
}

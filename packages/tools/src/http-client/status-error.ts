import { type RunErrorType, retryAfterMs } from "@troupe/core/internal";
import type { HttpResponse } from "./http-client.ts";

export interface StatusError {
  type: RunErrorType;
  message: string;
  recoverable: boolean;
  retryAfterMs: number | null;
}

/** The error of a response whose status is not a success; null for a success. */
export function statusError(
  response: Pick<HttpResponse, "status" | "headers" | "url">,
  nowMs: number,
): StatusError | null {
  const { status, url } = response;
  if (status >= 200 && status < 300) return null;
  const waitMs = retryAfterOf(response, nowMs);
  const [type, meaning, recoverable] = meaningOf(status);
  const hint = waitMs === null ? "" : `; retry after ${Math.ceil(waitMs / 1_000)} s`;
  return { type, message: `${url.host} answered ${status}: ${meaning}${hint}`, recoverable, retryAfterMs: waitMs };
}

function meaningOf(status: number): [type: RunErrorType, meaning: string, recoverable: boolean] {
  if (status === 401 || status === 407) return ["auth", "the page needs a login, which this tool cannot do", false];
  if (status === 403 || status === 451) return ["tool_error", "access is denied; try another source", false];
  if (status === 404 || status === 410) return ["tool_error", "there is no such page; check the URL", false];
  if (status === 429) return ["rate_limit", "too many requests", true];
  if (status >= 500 || status === 408)
    return ["network", "the server has a problem; try again later, or use another source", true];
  if (status >= 300 && status < 400) return ["tool_error", "it redirects without a location", false];
  return ["tool_error", "the server rejects this request", false];
}

/** The `Retry-After` of a 429 or 503 response; null for every other response. */
export function retryAfterOf(
  { status, headers }: Pick<HttpResponse, "status" | "headers">,
  nowMs: number,
): number | null {
  const value = headers["retry-after"];
  if (value === undefined || (status !== 429 && status !== 503)) return null;
  return retryAfterMs(new Headers({ "retry-after": value }), nowMs);
}

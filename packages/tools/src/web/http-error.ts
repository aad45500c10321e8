import type { RunErrorType } from "@troupe/core/internal";
import type { ToolResult } from "../define-tool.ts";
import type { WebAnswer } from "../http-client/http-client.ts";
import { restMsOf } from "../http-client/page-fetcher.ts";

/** What a status that is no success means for who asked; null for a success. */
export function httpError(
  answer: Pick<WebAnswer, "status" | "headers" | "url">,
  nowMs: number,
): ToolResult["error"] | null {
  const { status, url } = answer;
  if (status >= 200 && status < 300) return null;
  const retryAfterMs = restMsOf(answer, nowMs);
  const [type, meaning, recoverable] = meaningOf(status);
  const when = retryAfterMs === null ? "" : `; it asks to be left alone for ${Math.ceil(retryAfterMs / 1_000)} s`;
  return { type, message: `${url.host} answered ${status}: ${meaning}${when}`, recoverable, retryAfterMs };
}

function meaningOf(status: number): [type: RunErrorType, meaning: string, recoverable: boolean] {
  if (status === 401 || status === 407) return ["auth", "who asks has to log in, which is not done here", false];
  if (status === 403 || status === 451) return ["tool_error", "it does not show this page; try another source", false];
  if (status === 404 || status === 410) return ["tool_error", "there is no such page; check the URL", false];
  if (status === 429) return ["rate_limit", "too many requests", true];
  if (status >= 500 || status === 408)
    return ["network", "the server has a problem; try again later, or another source", true];
  if (status >= 300 && status < 400) return ["tool_error", "it redirects without saying where to", false];
  return ["tool_error", "it does not answer this request", false];
}

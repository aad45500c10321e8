import { RunFailure } from "@troupe/core";
import type { RunErrorType } from "@troupe/core/internal";

/** What an adapter knows of a call that failed, in whatever way its vendor said it. */
export interface VendorFailure {
  /** Id of the provider. */
  provider: string;
  /** HTTP status; for an error within a stream that began with 200, the one that it would have had. Null: none came. */
  status: number | null;
  /** The vendor's own word for it: `overloaded_error`, `insufficient_quota`, `context_length_exceeded`… */
  code: string | null;
  message: string;
  retryAfterMs: number | null;
  /** Whether the model may have begun to work, so that the call may be charged. */
  begun: boolean;
  /** What to do about a wrong key: `export ANTHROPIC_API_KEY=…`. */
  keyFix: string | null;
}

/**
 * One meaning for all vendors' failures. What nobody gets by asking again is not recoverable: a wrong key, a spent
 * budget, a request that does not fit.
 */
export function failureOf(failure: VendorFailure): RunFailure {
  const { provider, status, code, message, retryAfterMs, begun, keyFix } = failure;
  const type = typeOf(failure);
  const said = `${provider}: ${message}${status === null ? "" : ` (HTTP ${status}${code ? `, ${code}` : ""})`}`;
  const words = type === "auth" && keyFix ? `${said}; ${keyFix}` : said;
  return new RunFailure({ type, message: words, recoverable: mayPass.has(type), retryAfterMs, begun });
}

/** What may be over by the next try. */
const mayPass: ReadonlySet<RunErrorType> = new Set(["rate_limit", "network", "timeout"]);

/** How vendors say that money, not speed, is the limit: no time of waiting helps. */
const spent = /insufficient_quota|billing|credit balance|spend(ing)?[ _](cap|limit)|quota exceeded for the month/i;

function typeOf({ status, code, message }: VendorFailure): RunErrorType {
  if (status === 402 || ((status === 429 || status === 400 || status === 403) && spent.test(`${code} ${message}`))) {
    return "budget";
  }
  if (status === null) return "network";
  if (status === 401) return "auth";
  if (status === 403) return "permission";
  if (status === 429 || status === 529 || status === 503) return "rate_limit";
  if (status === 408) return "timeout";
  if (status === 409 || status >= 500) return "network";
  return "params";
}

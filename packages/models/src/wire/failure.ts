import { RunFailure } from "@troupe/core";
import type { RunErrorType } from "@troupe/core/internal";

/** A failed model call in terms that all vendors share. */
export interface VendorFailure {
  /** Id of the provider. */
  provider: string;
  /** HTTP status. An error inside a stream has the status it stands for. Null when there was no response. */
  status: number | null;
  /** The vendor's error code: `overloaded_error`, `insufficient_quota`, `context_length_exceeded`… */
  code: string | null;
  message: string;
  retryAfterMs: number | null;
  /** Whether the model may have begun to work, so that the call may be charged. */
  begun: boolean;
  /** Fix for a wrong key: `export ANTHROPIC_API_KEY=…`. */
  keyFix: string | null;
}

/**
 * The run failure of a vendor's failure. A failure that a retry cannot solve is not recoverable: a wrong key, a spent
 * budget, an invalid request.
 */
export function failureOf(failure: VendorFailure): RunFailure {
  const { provider, status, code, message, retryAfterMs, begun, keyFix } = failure;
  const type = typeOf(failure);
  const httpStatus = status === null ? "" : ` (HTTP ${status}${code ? `, ${code}` : ""})`;
  const fix = type === "auth" && keyFix ? `; ${keyFix}` : "";
  return new RunFailure({
    type,
    message: `${provider}: ${message}${httpStatus}${fix}`,
    recoverable: recoverableTypes.has(type),
    retryAfterMs,
    begun,
  });
}

const recoverableTypes: ReadonlySet<RunErrorType> = new Set(["rate_limit", "network", "timeout"]);

/** Words of vendors for a spent budget, where waiting does not help. */
const spentBudget =
  /insufficient_quota|billing|credit balance|spend(ing)?[ _](cap|limit)|quota exceeded for the month/i;

function typeOf({ status, code, message }: VendorFailure): RunErrorType {
  const mayBeBudget = status === 429 || status === 400 || status === 403;
  if (status === 402 || (mayBeBudget && spentBudget.test(`${code} ${message}`))) return "budget";
  if (status === null) return "network";
  if (status === 401) return "auth";
  if (status === 403) return "permission";
  if (status === 429 || status === 529 || status === 503) return "rate_limit";
  if (status === 408) return "timeout";
  if (status === 409 || status >= 500) return "network";
  return "params";
}

/** Whether the request can never be sent: the URL is invalid, or fetch refuses it. */
export function isInvalidUrl(thrown: unknown): boolean {
  return causesOf(thrown).some(
    ({ message, code }) => code === "ERR_INVALID_URL" || /bad port|unknown scheme|includes credentials/i.test(message),
  );
}

/** Whether there was no connection: unknown host, refused connection, or a failed TLS handshake. */
export function isConnectFailure(thrown: unknown): boolean {
  return causesOf(thrown).some(
    ({ syscall, code }) =>
      /^(connect|getaddrinfo)$/.test(syscall ?? "") ||
      /CONNECT_TIMEOUT|CERT|TLS|SSL|SELF_SIGNED|EPROTO|UNABLE_TO/.test(code ?? ""),
  );
}

/** Whether the response's compression is broken, as a faulty proxy sends it. The connection itself was fine. */
export function isDecodingFailure(thrown: unknown): boolean {
  return causesOf(thrown).some(({ code }) => /^Z_DATA_ERROR$|ERROR_FORMAT|^ZSTD_error/.test(code ?? ""));
}

/** The fix for a failed TLS handshake; null for any other failure. */
export function tlsFix(thrown: unknown): string | null {
  const codes = causesOf(thrown).map(({ code }) => code ?? "");
  if (codes.some((code) => /^ERR_SSL|^EPROTO$/.test(code))) {
    return "the server does not speak HTTPS: use an http://… base URL";
  }
  if (!codes.some((code) => /CERT|UNABLE_TO_(VERIFY|GET)/.test(code))) return null;
  return "its certificate is not trusted: check the base URL, or export NODE_EXTRA_CA_CERTS=<certificate file of its authority>";
}

interface ErrorCause {
  message: string;
  code?: string;
  syscall?: string;
}

/** An error and its causes, down to the first. The outermost message is often only "fetch failed". */
export function causesOf(thrown: unknown): ErrorCause[] {
  const causes: ErrorCause[] = [];
  for (let error = thrown; error instanceof Error && causes.length < 10; ) {
    causes.push(error);
    error = error instanceof AggregateError ? error.errors[0] : error.cause;
  }
  return causes.length > 0 ? causes : [{ message: String(thrown) }];
}

import { errorCodeOf } from "@troupe/core/internal";
import { z } from "zod";
import { ConnectorError, type ConnectorErrorDetails, type ConnectorErrorType } from "../ports/connector-error.ts";
import { toLine } from "../ports/person.ts";

/** The call that failed. */
export interface FailedCall {
  /** As in "cannot search mail". */
  what: string;
  /** The parameter that a 400 or 404 is about. */
  param?: string | undefined;
  account: string;
}

const RestError = z.object({
  error: z.object({
    message: z.string().default(""),
    errors: z.array(z.object({ reason: z.string().optional() })).default([]),
    details: z.array(z.object({ reason: z.string().optional() })).default([]),
  }),
});
const OauthError = z.object({ error: z.string(), error_description: z.string().default("") });

/** The parts of an error of the SDKs. Their whole error is never passed on: its request holds the access token. */
interface Failure {
  status: number | null;
  code: string;
  message: string;
  reasons: string[];
  /** The error of the OAuth server, such as `invalid_grant`. */
  oauth: string | null;
  retryAfterS: number | null;
}

const limitReasons =
  /^(?:rateLimitExceeded|userRateLimitExceeded|quotaExceeded|dailyLimitExceeded|RATE_LIMIT_EXCEEDED)$/;
const disabledReasons = /^(?:accessNotConfigured|SERVICE_DISABLED)$/;
const scopeReasons = /^(?:insufficientPermissions|ACCESS_TOKEN_SCOPE_INSUFFICIENT)$/;

/** Turns every error of a call into one of the six types. */
export function toConnectorError(thrown: unknown, call: FailedCall): Error {
  if (thrown instanceof ConnectorError || errorCodeOf(thrown) === "MISSING_PACKAGE") return thrown as Error;
  const failure = readFailure(thrown);
  const { type, ...details } = classify(failure, call);
  const status = failure.status === null ? failure.code : `status ${failure.status}`;
  const reason = failure.message === "" ? status : `${failure.message} (${status})`;
  return new ConnectorError(type, `cannot ${call.what}: ${reason}`, details);
}

/** Whether the server answered that the resource does not exist, or no longer exists. */
export function isMissing(thrown: unknown): boolean {
  return [404, 410].includes(statusOf(thrown) ?? 0);
}

export function statusOf(thrown: unknown): number | null {
  return readFailure(thrown).status;
}

export function isInvalidGrant(thrown: unknown): boolean {
  return readFailure(thrown).oauth === "invalid_grant";
}

type Classified = ConnectorErrorDetails & { type: ConnectorErrorType };

function classify(failure: Failure, call: FailedCall): Classified {
  const { status, oauth, retryAfterS } = failure;
  if (oauth !== null) return classifyOauth(oauth, call);
  if (status === null || status === 408 || status >= 500) return { type: "network" };
  if (status === 429 || (status === 403 && hasReason(failure, limitReasons))) {
    return { type: "rate_limit", ...(retryAfterS === null ? {} : { retryAfterS }) };
  }
  if (status === 401) return { type: "auth" };
  if (status === 403) return classifyForbidden(failure, call);
  if (status >= 400) return { type: "params", ...(call.param === undefined ? {} : { param: call.param }) };
  return { type: "tool_error" };
}

function classifyOauth(error: string, { account }: FailedCall): Classified {
  if (error === "invalid_grant") return { type: "auth", fix: `connect again: ${connectCommand(account)}` };
  if (/^(?:temporarily_unavailable|server_error|internal_failure)$/.test(error)) return { type: "network" };
  return { type: "auth", fix: "check TROUPE_GOOGLE_CLIENT_ID and TROUPE_GOOGLE_CLIENT_SECRET, then connect again" };
}

function classifyForbidden(failure: Failure, { account }: FailedCall): Classified {
  if (hasReason(failure, disabledReasons)) {
    return {
      type: "permission",
      fix: "enable the API in the project of the OAuth client, at console.cloud.google.com",
    };
  }
  if (!hasReason(failure, scopeReasons)) return { type: "permission" };
  return { type: "permission", fix: `connect again: ${connectCommand(account)}, and allow all that it lists` };
}

function hasReason({ reasons }: Failure, pattern: RegExp): boolean {
  return reasons.some((reason) => pattern.test(reason));
}

/** The command that connects an account again. */
export function connectCommand(account: string): string {
  return `troupe connect google --account ${account}`;
}

const Thrown = z.object({
  response: z.object({ status: z.number(), data: z.unknown(), headers: z.unknown() }).optional(),
  message: z.string().default(""),
  code: z.union([z.string(), z.number()]).optional(),
  cause: z.unknown(),
});

function readFailure(thrown: unknown): Failure {
  const parsed = Thrown.safeParse(
    thrown instanceof Error ? Object.assign({ message: thrown.message, cause: thrown.cause }, thrown) : {},
  );
  const { response, message = "", code, cause } = parsed.data ?? {};
  if (!response) {
    const known = code ?? errorCodeOf(cause) ?? (thrown instanceof Error ? thrown.name : "unknown error");
    return { ...noDetails, status: null, code: `${known}`, message: toLine(message, messageMax) };
  }
  const rest = RestError.safeParse(response.data);
  const oauth = OauthError.safeParse(response.data);
  const { error } = rest.data ?? {};
  return {
    status: response.status,
    code: "",
    message: toLine(error?.message ?? oauth.data?.error_description ?? oauth.data?.error ?? "", messageMax),
    reasons: [...(error?.errors ?? []), ...(error?.details ?? [])].flatMap(({ reason }) => reason ?? []),
    oauth: oauth.data?.error ?? null,
    retryAfterS: retryAfterOf(response.headers),
  };
}

const noDetails = { reasons: [], oauth: null, retryAfterS: null };
const messageMax = 300;

/** Seconds, or the time until a date. */
function retryAfterOf(headers: unknown): number | null {
  const value = isHeaders(headers) ? headers.get("retry-after") : null;
  if (value === null) return null;
  const seconds = /^\d+$/.test(value.trim()) ? Number(value) : (Date.parse(value) - Date.now()) / 1_000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : null;
}

/** The SDKs have a class of headers of their own. */
function isHeaders(headers: unknown): headers is { get(name: string): string | null } {
  return typeof headers === "object" && headers !== null && "get" in headers && typeof headers.get === "function";
}

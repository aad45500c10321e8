import { type ErrorCode, TroupeError } from "@troupe/core";
import type { ApiError } from "@troupe/core/internal";
import type { ContentfulStatusCode } from "hono/utils/http-status";

/** The HTTP status of every error code. A new code does not compile until it has one. */
export const statuses = {
  INTERNAL: 500,
  CONFLICT: 409,
  HOME_OWNED: 409,
  CLOSING: 503,
  USAGE: 400,
  UNKNOWN_AGENT: 400,
  UNKNOWN_TEAM: 400,
  UNKNOWN_SCENARIO: 400,
  UNKNOWN_SESSION: 404,
  UNKNOWN_RUN: 404,
  UNKNOWN_APPROVAL: 404,
  UNKNOWN_RULE: 404,
  INVALID_AGENT: 400,
  INVALID_TEAM: 400,
  INVALID_PLAN: 400,
  INVALID_SCENARIO: 400,
  INVALID_POLICY: 500,
  INVALID_CONFIG: 400,
  INVALID_MESSAGE: 500,
  INVALID_EXPORT: 400,
  NO_PROVIDER: 409,
  UNSUPPORTED_NODE: 500,
  MISSING_PACKAGE: 500,
  UNKNOWN_MODEL: 400,
  HOME_UNWRITABLE: 500,
  DATABASE_TOO_NEW: 500,
  JOURNAL_LOST: 500,
  UNSUPPORTED_SERVER: 502,
  UNKNOWN_HOST: 404,
  UNKNOWN_FILE: 404,
  UNKNOWN_WEBHOOK: 404,
  DATABASE_DAMAGED: 500,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  UNREACHABLE: 503,
  NO_RESPONDERS: 503,
  NO_HOST: 503,
  TIMEOUT: 504,
  CLOSED: 503,
  TOO_LARGE: 413,
  RUN_FAILED: 500,
  LIMIT_REACHED: 429,
  APPROVAL_NEEDED: 409,
} as const satisfies Record<ErrorCode, ContentfulStatusCode>;

export interface ErrorReply {
  status: ContentfulStatusCode;
  body: ApiError;
}

/** Builds the reply for an error. The message of an unexpected error is left out: it can contain anything. */
export function toErrorReply(thrown: unknown): ErrorReply {
  const error = TroupeError.is(thrown)
    ? thrown
    : new TroupeError("INTERNAL", "an internal error occurred in the daemon", {
        fix: "read the daemon's log: logs/ in TROUPE_HOME",
      });
  const { code, message, fix } = error;
  return { status: statuses[code], body: { error: { code, message, fix } } };
}

/** The reply for a path that has no route. */
export function noSuchPath(method: string, path: string): ErrorReply {
  const body = {
    error: { code: "USAGE", message: `the API has no route ${method} ${path}`, fix: "check the method and the path" },
  };
  return { status: 404, body };
}

/** The reply for a path that has routes, but not with this method. */
export function noSuchMethod(method: string, path: string, methods: readonly string[]): ErrorReply {
  const message = `${path} does not take ${method}`;
  return { status: 405, body: { error: { code: "USAGE", message, fix: `use ${methods.join(" or ")}` } } };
}

/** Whether the error is the daemon's fault and not the caller's. The daemon logs these. */
export function isInternal(thrown: unknown): boolean {
  return toErrorReply(thrown).status === 500;
}

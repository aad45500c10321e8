import { errors } from "@nats-io/transport-node";
import { TroupeError } from "@troupe/core";

/** What a server does not let one of its users do. */
export interface Denied {
  operation: "publish" | "subscribe";
  subject: string;
}

/** Null for an error that says nothing of that kind. */
export function deniedIn(error: unknown): Denied | null {
  if (!(error instanceof Error)) return null;
  if (!(error instanceof errors.PermissionViolationError)) return deniedIn(error.cause);
  return { operation: error.operation === "publish" ? "publish" : "subscribe", subject: error.subject };
}

export function forbidden(shown: string, { operation, subject }: Denied, cause?: unknown): TroupeError {
  return new TroupeError("FORBIDDEN", `${shown} does not let this user ${operation} to ${subject}`, {
    fix: "allow it in the server's configuration: docs/nats.md has what daemons and workers need",
    cause,
  });
}

/** Whether a server lets nobody in with these credentials, or no longer does. */
export function isUnauthorized(error: unknown): boolean {
  if (error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError) return true;
  return error instanceof errors.ProtocolError && /authentication (?:revoked|expired)/i.test(error.message);
}

/** `flaw`: what is wrong with them, where that is known here. */
export function unauthorized(shown: string, cause: unknown, flaw: string | null = null): TroupeError {
  const said = cause instanceof Error && !/authorization violation/i.test(cause.message) ? cause.message : null;
  const why = flaw ?? said?.toLowerCase() ?? null;
  return new TroupeError("UNAUTHORIZED", `${shown} refuses these credentials${why === null ? "" : `: ${why}`}`, {
    fix: "name yours: a NATS context (--context NAME), NATS_CREDS, NATS_NKEY, NATS_TOKEN, or NATS_USER and NATS_PASSWORD",
    cause,
  });
}

export function unreachable(shown: string, cause?: unknown): TroupeError {
  return new TroupeError("UNREACHABLE", `no NATS server answers at ${shown}`, {
    fix: "start one there (nats-server), or name another with --nats",
    cause,
  });
}

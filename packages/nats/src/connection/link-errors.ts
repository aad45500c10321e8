import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { errors } from "@nats-io/transport-node";
import { TroupeError } from "@troupe/core";
import { z } from "zod";
import type { NatsAccess } from "./link.ts";
import type { NatsServers } from "./servers.ts";

/** An operation that the server denies to this user. */
export interface DeniedOperation {
  operation: "publish" | "subscribe";
  subject: string;
}

/** The denied operation that an error or one of its causes reports, else null. */
export function deniedOperationOf(error: unknown): DeniedOperation | null {
  if (!(error instanceof Error)) return null;
  if (!(error instanceof errors.PermissionViolationError)) return deniedOperationOf(error.cause);
  return { operation: error.operation === "publish" ? "publish" : "subscribe", subject: error.subject };
}

export function forbidden(redactedUrl: string, { operation, subject }: DeniedOperation, cause?: unknown): TroupeError {
  return new TroupeError("FORBIDDEN", `${redactedUrl} does not let this user ${operation} to ${subject}`, {
    fix: "allow it in the server's configuration: docs/nats.md lists the permissions of daemons and workers",
    cause,
  });
}

/** True if the server refuses these credentials, or no longer accepts them. */
export function isUnauthorized(error: unknown): boolean {
  if (error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError) return true;
  return error instanceof errors.ProtocolError && /authentication (?:revoked|expired)/i.test(error.message);
}

/** @param problem why the credentials are invalid, if this process can tell */
export function unauthorized(redactedUrl: string, cause: unknown, problem: string | null = null): TroupeError {
  const serverReason = cause instanceof Error && !/authorization violation/i.test(cause.message) ? cause.message : null;
  const reason = problem ?? serverReason?.toLowerCase() ?? null;
  return new TroupeError("UNAUTHORIZED", `${redactedUrl} refuses these credentials${reason ? `: ${reason}` : ""}`, {
    fix: "name yours: a NATS context (--context NAME), NATS_CREDS, NATS_NKEY, NATS_TOKEN, or NATS_USER and NATS_PASSWORD",
    cause,
  });
}

export function unreachable(redactedUrl: string, cause?: unknown): TroupeError {
  return new TroupeError("UNREACHABLE", `no NATS server answers at ${redactedUrl}`, {
    fix: "start one there (nats-server), or name another with --nats",
    cause,
  });
}

/** Translates the error of a failed first connection, with the fix for its cause. */
export async function connectError(
  error: unknown,
  { redactedUrl, urls }: NatsServers,
  { tls, credentialsProblem }: NatsAccess = {},
): Promise<TroupeError> {
  if (isUnauthorized(error)) return unauthorized(redactedUrl, error, credentialsProblem?.());
  if (isUntrustedCertificate(error)) return untrustedCertificate(redactedUrl, error);
  if (error instanceof errors.ConnectionError && /does not support 'tls'/.test(error.message)) {
    return tlsUnsupported(redactedUrl, error);
  }
  if (error instanceof errors.ProtocolError) return connectionRefused(redactedUrl, error);
  // With TLS 1.3 a server refuses the client's certificate after the client has finished its handshake. It just goes
  // silent, so only its INFO line tells that it requires one.
  const infos = error instanceof errors.TimeoutError ? await Promise.all(urls.map(readServerInfo)) : [];
  if (infos.some((info) => info?.tls_verify)) {
    return clientCertificateRefused(redactedUrl, tls?.cert !== undefined, error);
  }
  return unreachable(redactedUrl, error);
}

/** OpenSSL's codes for an unknown authority and for a certificate of another host. */
function isUntrustedCertificate(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (/CERT|ALTNAME|UNABLE_TO_(?:VERIFY|GET_ISSUER)/.test(code)) return true;
  return error instanceof Error && error.cause !== undefined && isUntrustedCertificate(error.cause);
}

function untrustedCertificate(redactedUrl: string, cause: unknown): TroupeError {
  const message = `${redactedUrl} shows a certificate that is not trusted here`;
  const fix = "name the file of the authority that signed it: export NATS_CA=ca.pem, or nats.ca in your configuration";
  return new TroupeError("UNREACHABLE", message, { fix, cause });
}

function tlsUnsupported(redactedUrl: string, cause: unknown): TroupeError {
  return new TroupeError("UNREACHABLE", `${redactedUrl} does not speak TLS`, {
    fix: "use nats:// instead of tls:// in the address, or configure TLS on the server",
    cause,
  });
}

function connectionRefused(redactedUrl: string, cause: Error): TroupeError {
  return new TroupeError("UNREACHABLE", `${redactedUrl} refuses this connection: ${cause.message}`, {
    fix: "check the limits in the server's configuration",
    cause,
  });
}

function clientCertificateRefused(redactedUrl: string, hasCertificate: boolean, cause: unknown): TroupeError {
  const message = hasCertificate
    ? `${redactedUrl} does not trust this client's certificate`
    : `${redactedUrl} wants a certificate of its clients, and none is named`;
  const fix = "export NATS_CERT=cert.pem NATS_KEY=key.pem, of an authority that the server trusts";
  return new TroupeError("UNAUTHORIZED", message, { fix, cause });
}

/** The part of the INFO line that a server sends in plain text before TLS starts. */
const ServerInfo = z.object({ tls_verify: z.boolean().default(false) });
type ServerInfo = z.infer<typeof ServerInfo>;

const serverInfoTimeoutMs = 1_000;

/** Null if no valid INFO line arrives in time. */
async function readServerInfo(url: string): Promise<ServerInfo | null> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) });
  const timeout = delay(serverInfoTimeoutMs, null, { ref: false });
  try {
    const first: unknown[] | null = await Promise.race([once(socket, "data"), timeout]);
    const [, text] = /^INFO (\{.*\})\s*$/m.exec(String(first?.[0])) ?? [];
    return text === undefined ? null : ServerInfo.parse(JSON.parse(text));
  } catch {
    return null;
  } finally {
    socket.destroy();
  }
}

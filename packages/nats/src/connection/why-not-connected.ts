import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { errors } from "@nats-io/transport-node";
import { TroupeError } from "@troupe/core";
import { z } from "zod";
import type { NatsAccess } from "./link.ts";
import { isUnauthorized, unauthorized, unreachable } from "./link-errors.ts";
import type { NatsServers } from "./servers.ts";

/** What every server says first, to whoever comes, before anything is encrypted. */
const Greeting = z.object({ tls_verify: z.boolean().default(false) });
type Greeting = z.infer<typeof Greeting>;

/** Why a connection was not to be had, as an error for people. */
export async function whyNotConnected(
  error: unknown,
  { shown, urls }: NatsServers,
  { tls, flaw }: NatsAccess = {},
): Promise<TroupeError> {
  if (isUnauthorized(error)) return unauthorized(shown, error, flaw?.());
  if (isUntrusted(error)) return untrusted(shown, error);
  if (error instanceof errors.ConnectionError && /does not support 'tls'/.test(error.message))
    return plain(shown, error);
  if (error instanceof errors.ProtocolError) return turnedAway(shown, error);
  // A client's certificate is refused after the handshake has succeeded on this side, by saying nothing more.
  const greetings = error instanceof errors.TimeoutError ? await Promise.all(urls.map(greetingOf)) : [];
  if (greetings.some((greeting) => greeting?.tls_verify)) {
    return uncertified(shown, tls?.cert !== undefined, error);
  }
  return unreachable(shown, error);
}

/** OpenSSL's words for a certificate that nobody known here has signed, or that is another host's. */
function isUntrusted(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (/CERT|ALTNAME|UNABLE_TO_(?:VERIFY|GET_ISSUER)/.test(code)) return true;
  return error instanceof Error && error.cause !== undefined && isUntrusted(error.cause);
}

function untrusted(shown: string, cause: unknown): TroupeError {
  const message = `${shown} shows a certificate that is not trusted here`;
  const fix = "name the file of the authority that signed it: export NATS_CA=ca.pem, or nats.ca in your configuration";
  return new TroupeError("UNREACHABLE", message, { fix, cause });
}

function plain(shown: string, cause: unknown): TroupeError {
  return new TroupeError("UNREACHABLE", `${shown} does not speak TLS`, {
    fix: "give the address with nats:// instead of tls://, or let the server have a certificate",
    cause,
  });
}

function turnedAway(shown: string, cause: Error): TroupeError {
  return new TroupeError("UNREACHABLE", `${shown} turns this connection away: ${cause.message}`, {
    fix: "see the limits in the server's configuration",
    cause,
  });
}

function uncertified(shown: string, hasOne: boolean, cause: unknown): TroupeError {
  const message = hasOne
    ? `${shown} does not trust this client's certificate`
    : `${shown} wants a certificate of its clients, and none is named`;
  const fix = "export NATS_CERT=cert.pem NATS_KEY=key.pem, of an authority that the server trusts";
  return new TroupeError("UNAUTHORIZED", message, { fix, cause });
}

const greetingMs = 1_000;

/** Null where nothing is said in time, or something else than a NATS server would say. */
async function greetingOf(url: string): Promise<Greeting | null> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) });
  const late = delay(greetingMs, null, { ref: false });
  try {
    const first: unknown[] | null = await Promise.race([once(socket, "data"), late]);
    const [, text] = /^INFO (\{.*\})\s*$/m.exec(String(first?.[0])) ?? [];
    return text === undefined ? null : Greeting.parse(JSON.parse(text));
  } catch {
    return null;
  } finally {
    socket.destroy();
  }
}

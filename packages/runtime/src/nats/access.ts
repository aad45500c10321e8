import {
  credsAuthenticator,
  nkeyAuthenticator,
  nkeys,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from "@nats-io/transport-node";
import { TroupeError } from "@troupe/core";
import type { NatsAccess } from "./link.ts";

/** How somebody proves who he is, by what stands in files and variables. */
export type NatsCredentials =
  /** The text of a creds file: a user's JWT and his seed. */
  | { kind: "creds"; text: string; from: string }
  /** The seed of a bare nkey. */
  | { kind: "nkey"; text: string; from: string }
  | { kind: "token"; token: string }
  | { kind: "user"; user: string; password: string };

/** Certificates as PEM text. */
export interface NatsTls {
  /** Whom the server's certificate has to be signed by. @default the authorities that Node knows */
  ca?: string;
  /** The client's own, where the server wants one. */
  cert?: string;
  key?: string;
  /** Encrypted from the first byte on, for servers that speak no other way. */
  first?: boolean;
}

/**
 * Credentials and certificates as a connection takes them. Throws `INVALID_CONFIG` for a file with something else in it,
 * and never repeats what stands there.
 *
 * @example
 * openNatsLink({ servers, access: natsAccess({ credentials: { kind: "token", token } }) });
 */
export function natsAccess({ credentials, tls }: { credentials?: NatsCredentials; tls?: NatsTls }): NatsAccess {
  return {
    ...(credentials ? { authenticator: authenticatorOf(credentials) } : {}),
    ...(tls ? { tls: tlsOf(tls) } : {}),
  };
}

/** What of these must never be written. */
export function secretsOfCredentials(credentials: NatsCredentials): string[] {
  if (credentials.kind === "token") return [credentials.token];
  if (credentials.kind === "user") return [credentials.password];
  return credentials.text.split(/\s+/).filter((word) => word.length > 20 && !/^-+$/.test(word));
}

function authenticatorOf(credentials: NatsCredentials): NonNullable<NatsAccess["authenticator"]> {
  switch (credentials.kind) {
    case "token":
      return tokenAuthenticator(credentials.token);
    case "user":
      return usernamePasswordAuthenticator(credentials.user, credentials.password);
    case "nkey":
      return nkeyAuthenticator(seedIn(credentials));
    case "creds":
      return credsOf(credentials);
  }
}

function credsOf(credentials: Extract<NatsCredentials, { text: string }>) {
  seedIn(credentials);
  if (!/^ey[\w-]+\.[\w-]+\.[\w-]+$/m.test(credentials.text)) throw notCredentials(credentials.from, "creds file");
  return credsAuthenticator(new TextEncoder().encode(credentials.text));
}

/** The first seed that stands there, proven to be one. */
function seedIn({ kind, text, from }: Extract<NatsCredentials, { text: string }>): Uint8Array {
  const what = kind === "nkey" ? "nkey seed" : "creds file";
  const [seed] = /^SU[A-Z2-7]{56}$/m.exec(text.replaceAll("\r", "")) ?? [];
  if (seed === undefined) throw notCredentials(from, what);
  const bytes = new TextEncoder().encode(seed);
  try {
    nkeys.fromSeed(bytes);
  } catch {
    throw notCredentials(from, what);
  }
  return bytes;
}

function notCredentials(from: string, what: string): TroupeError {
  return new TroupeError("INVALID_CONFIG", `${from} is no ${what} of a user`, {
    fix: "let whoever runs the NATS server give you one: nsc generate creds, or nk -gen user",
  });
}

function tlsOf({ ca, cert, key, first }: NatsTls): NonNullable<NatsAccess["tls"]> {
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(first ? { handshakeFirst: true } : {}),
  };
}

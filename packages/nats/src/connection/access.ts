import { createSecureContext } from "node:tls";
import {
  credsAuthenticator,
  nkeyAuthenticator,
  nkeys,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from "@nats-io/transport-node";
import { TroupeError } from "@troupe/core";
import { z } from "zod";
import type { NatsAccess } from "./link.ts";

/** How somebody proves who he is, by what stands in files and variables. */
export type NatsCredentials =
  /** The text of a creds file: a user's JWT and his seed. */
  | ({ kind: "creds" } & CredentialsFile)
  /** The seed of a bare nkey. */
  | ({ kind: "nkey" } & CredentialsFile)
  | { kind: "token"; token: string }
  | { kind: "user"; user: string; password: string };

/** What stands in a file. */
export interface CredentialsFile {
  text: string;
  /** The file, for people. */
  from: string;
  /** What stands there by now: it is looked at for each new connection. @default the same */
  read?: () => string;
}

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
    ...(credentials ? withCredentials(credentials) : {}),
    ...(tls ? { tls: tlsOf(tls) } : {}),
  };
}

/** What of these must never be written. */
export function secretsOfCredentials(credentials: NatsCredentials): string[] {
  if (credentials.kind === "token") return [credentials.token];
  if (credentials.kind === "user") return [credentials.password];
  return credentials.text.split(/\s+/).filter((word) => word.length > 20 && !/^-+$/.test(word));
}

function withCredentials(credentials: NatsCredentials): Pick<NatsAccess, "authenticator" | "flaw"> {
  switch (credentials.kind) {
    case "token":
      return { authenticator: tokenAuthenticator(credentials.token) };
    case "user":
      return { authenticator: usernamePasswordAuthenticator(credentials.user, credentials.password) };
    case "nkey":
      return { authenticator: nkeyAuthenticator(newest(credentials, seedIn)) };
    case "creds": {
      const current = newest(credentials, credsIn);
      return { authenticator: credsAuthenticator(current), flaw: () => expiryOf(current(), credentials.from) };
    }
  }
}

/** What the file has by now, and what it had before while there is nothing of use in it. Throws for what is there first. */
function newest(
  kept: CredentialsFile & { kind: "creds" | "nkey" },
  parse: (kept: CredentialsFile & { kind: string }) => Uint8Array,
) {
  let last = parse(kept);
  return (): Uint8Array => {
    try {
      if (kept.read) last = parse({ ...kept, text: kept.read() });
    } catch {
      // It may just be written anew.
    }
    return last;
  };
}

const jwtLine = /^(ey[\w-]+)\.(ey[\w-]+)\.[\w-]+$/m;

function credsIn(kept: CredentialsFile & { kind: string }): Uint8Array {
  seedIn(kept);
  const text = kept.text.replaceAll("\r", "");
  if (!jwtLine.test(text)) throw notCredentials(kept.from, "creds file");
  return new TextEncoder().encode(text);
}

/** Servers refuse it in the same words as any other. */
function expiryOf(creds: Uint8Array, from: string): string | null {
  const [, , claims = ""] = jwtLine.exec(new TextDecoder().decode(creds)) ?? [];
  const exp = expiresAtS(Buffer.from(claims, "base64url").toString("utf8"));
  if (exp === null || exp * 1_000 > Date.now()) return null;
  return `those in ${from} have expired (${new Date(exp * 1_000).toISOString()})`;
}

const Claims = z.object({ exp: z.int().positive().max(8e12) });

function expiresAtS(claims: string): number | null {
  try {
    return Claims.parse(JSON.parse(claims)).exp;
  } catch {
    return null;
  }
}

/** The first seed that stands there, proven to be one. */
function seedIn({ kind, text, from }: CredentialsFile & { kind: string }): Uint8Array {
  const what = kind === "nkey" ? "nkey seed" : "creds file";
  const [seed, prefix = ""] = /^S([UAOCN])[A-Z2-7]{56}$/m.exec(text.replaceAll("\r", "")) ?? [];
  if (seed === undefined) throw notCredentials(from, what);
  const bytes = new TextEncoder().encode(seed);
  try {
    nkeys.fromSeed(bytes);
  } catch {
    throw notCredentials(from, what);
  }
  if (prefix !== "U") throw notCredentials(from, what, `: its seed is that of ${owners[prefix]}`);
  return bytes;
}

/** Whose a seed is, by its second letter. */
const owners: Readonly<Record<string, string>> = {
  A: "an account",
  O: "an operator",
  C: "a cluster",
  N: "a server",
};

function notCredentials(from: string, what: string, why = ""): TroupeError {
  return new TroupeError("INVALID_CONFIG", `${from} is no ${what} of a user${why}`, {
    fix: "let whoever runs the NATS server give you one: nsc generate creds, or nk -gen user",
  });
}

function tlsOf({ first, ...given }: NatsTls): NonNullable<NatsAccess["tls"]> {
  const { ca, cert, key } = given;
  const pem = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
  try {
    createSecureContext(pem);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.replace(/^error:[^:]*:/, "").replaceAll("::", ": ") : "";
    throw new TroupeError("INVALID_CONFIG", `the certificates for NATS cannot be used: ${why}`, {
      fix: "name PEM files that belong together, the key without a passphrase: NATS_CA, NATS_CERT, NATS_KEY",
      cause,
    });
  }
  return { ...pem, ...(first ? { handshakeFirst: true } : {}) };
}

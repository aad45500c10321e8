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

/** Credentials of a NATS user, from files and variables. */
export type NatsCredentials =
  /** The text of a creds file: the user's JWT and seed. */
  | ({ kind: "creds" } & CredentialsFile)
  /** The seed of an nkey. */
  | ({ kind: "nkey" } & CredentialsFile)
  | { kind: "token"; token: string }
  | { kind: "user"; user: string; password: string };

export interface CredentialsFile {
  text: string;
  /** The file's path, for messages. */
  from: string;
  /** Reads the file again, for each new connection. @default returns `text` */
  read?: () => string;
}

/** Certificates as PEM text. */
export interface NatsTls {
  /** The authority that signed the server's certificate. @default the authorities that Node trusts */
  ca?: string;
  /** The client's own certificate, if the server requires one. */
  cert?: string;
  key?: string;
  /** Starts TLS before the server's INFO line, for servers with `handshake_first`. */
  first?: boolean;
}

/**
 * Converts credentials and certificates to connection options. Throws `INVALID_CONFIG` for a file with invalid content,
 * and never repeats that content.
 *
 * @example
 * openNatsLink({ servers, access: natsAccess({ credentials: { kind: "token", token } }) });
 */
export function natsAccess({ credentials, tls }: { credentials?: NatsCredentials; tls?: NatsTls }): NatsAccess {
  return {
    ...(credentials ? authenticatorOf(credentials) : {}),
    ...(tls ? { tls: tlsOf(tls) } : {}),
  };
}

/**
 * The secret parts of credentials, for redaction: they must never be written.
 *
 * @example
 * secretsOfCredentials({ kind: "token", token: "s3cret" }); // ["s3cret"]
 */
export function secretsOfCredentials(credentials: NatsCredentials): string[] {
  if (credentials.kind === "token") return [credentials.token];
  if (credentials.kind === "user") return [credentials.password];
  return credentials.text.split(/\s+/).filter((word) => word.length > 20 && !/^-+$/.test(word));
}

function authenticatorOf(credentials: NatsCredentials): Pick<NatsAccess, "authenticator" | "credentialsProblem"> {
  switch (credentials.kind) {
    case "token":
      return { authenticator: tokenAuthenticator(credentials.token) };
    case "user":
      return { authenticator: usernamePasswordAuthenticator(credentials.user, credentials.password) };
    case "nkey":
      return { authenticator: nkeyAuthenticator(latestOf(credentials, parseSeed)) };
    case "creds": {
      const current = latestOf(credentials, parseCreds);
      return {
        authenticator: credsAuthenticator(current),
        credentialsProblem: () => expiryProblem(current(), credentials.from),
      };
    }
  }
}

type ParsableFile = CredentialsFile & { kind: string };

/**
 * Reads the file's newest valid content. While the file holds invalid content, the last valid content is used. Throws if
 * the initial content is invalid.
 */
function latestOf(
  file: CredentialsFile & { kind: "creds" | "nkey" },
  parse: (file: ParsableFile) => Uint8Array,
): () => Uint8Array {
  let latest = parse(file);
  return (): Uint8Array => {
    try {
      if (file.read) latest = parse({ ...file, text: file.read() });
    } catch {
      // Another program may be writing the file at this moment.
    }
    return latest;
  };
}

const jwtLine = /^(ey[\w-]+)\.(ey[\w-]+)\.[\w-]+$/m;

function parseCreds(file: ParsableFile): Uint8Array {
  parseSeed(file);
  const text = file.text.replaceAll("\r", "");
  if (!jwtLine.test(text)) throw invalidCredentials(file.from, "creds file");
  return new TextEncoder().encode(text);
}

/** Tells that the JWT has expired: the server's refusal does not name the reason. */
function expiryProblem(creds: Uint8Array, from: string): string | null {
  const [, , claims = ""] = jwtLine.exec(new TextDecoder().decode(creds)) ?? [];
  const exp = expiresAtSeconds(Buffer.from(claims, "base64url").toString("utf8"));
  if (exp === null || exp * 1_000 > Date.now()) return null;
  return `those in ${from} have expired (${new Date(exp * 1_000).toISOString()})`;
}

const Claims = z.object({ exp: z.int().positive().max(8e12) });

function expiresAtSeconds(claims: string): number | null {
  try {
    return Claims.parse(JSON.parse(claims)).exp;
  } catch {
    return null;
  }
}

/** The first seed in the text. Throws if there is none, or if it is not the seed of a user. */
function parseSeed({ kind, text, from }: ParsableFile): Uint8Array {
  const format = kind === "nkey" ? "nkey seed" : "creds file";
  const [seed, prefix = ""] = /^S([UAOCN])[A-Z2-7]{56}$/m.exec(text.replaceAll("\r", "")) ?? [];
  if (seed === undefined) throw invalidCredentials(from, format);
  const bytes = new TextEncoder().encode(seed);
  try {
    nkeys.fromSeed(bytes);
  } catch {
    throw invalidCredentials(from, format);
  }
  if (prefix !== "U") throw invalidCredentials(from, format, `: its seed belongs to ${seedOwners[prefix]}`);
  return bytes;
}

/** Owner of a seed by the seed's second letter. */
const seedOwners: Readonly<Record<string, string>> = {
  A: "an account",
  O: "an operator",
  C: "a cluster",
  N: "a server",
};

function invalidCredentials(from: string, format: string, reason = ""): TroupeError {
  return new TroupeError("INVALID_CONFIG", `${from} is not the ${format} of a user${reason}`, {
    fix: "ask the operator of the NATS server for one: nsc generate creds, or nk -gen user",
  });
}

function tlsOf({ first, ca, cert, key }: NatsTls): NonNullable<NatsAccess["tls"]> {
  const pem = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  };
  try {
    createSecureContext(pem);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace(/^error:[^:]*:/, "").replaceAll("::", ": ") : "";
    throw new TroupeError("INVALID_CONFIG", `the certificates for NATS cannot be used: ${reason}`, {
      fix: "name PEM files that belong together, the key without a passphrase: NATS_CA, NATS_CERT, NATS_KEY",
      cause,
    });
  }
  return { ...pem, ...(first ? { handshakeFirst: true } : {}) };
}

import { isAbsolute } from "node:path";
import { durationSchema, leaseMsDefault, Token } from "@troupe/core/internal";
import { looksLikeKey } from "@troupe/models";
import { z } from "zod";
import type { ConfigFile } from "./config-file.ts";
import type { ConfigRow, Origin, Setting } from "./origin.ts";

/** Settings of the NATS connection: those of the configuration file, and the secrets that only variables hold. */
export interface NatsSettings extends Omit<NatsConfig, "servers"> {
  /** One address, or several separated by commas. Can contain credentials. */
  servers?: string;
  password?: string;
  token?: string;
}

/** Each setting with its origin. */
export type NatsSettingsWithOrigin = { readonly [K in keyof NatsSettings]?: Setting<NonNullable<NatsSettings[K]>> };

/** The NATS command line uses the same names. */
const variables = {
  servers: "NATS_URL",
  creds: "NATS_CREDS",
  nkey: "NATS_NKEY",
  user: "NATS_USER",
  password: "NATS_PASSWORD",
  token: "NATS_TOKEN",
  ca: "NATS_CA",
  cert: "NATS_CERT",
  key: "NATS_KEY",
} as const satisfies Partial<Record<keyof NatsSettings, string>>;

/** Variables override the user's file. A project's file cannot choose the server. */
export function readNats(
  env: NodeJS.ProcessEnv,
  { nats, originOf }: { nats: ConfigFile["nats"]; originOf(path: readonly string[]): Origin },
): NatsSettingsWithOrigin {
  const { servers, ...rest } = nats;
  const inFile = { ...(servers === undefined ? {} : { servers: servers.join(",") }), ...rest };
  const fromFile = Object.entries(inFile).map(([key, value]) => [key, { value, origin: originOf(["nats", key]) }]);
  const fromVariables = Object.entries(variables).flatMap(([key, variable]) => {
    const value = env[variable]?.trim();
    return value ? [[key, { value, origin: { from: "environment", where: variable } }]] : [];
  });
  return Object.fromEntries([...fromFile, ...fromVariables]);
}

const secret = ["password", "token"];

/** Rows of `troupe config list`. A secret shows as `set`. */
export function natsRows(settings: NatsSettingsWithOrigin): ConfigRow[] {
  return Object.entries(settings).map(([key, { value, origin }]) => ({
    key: `nats.${key}`,
    value: secret.includes(key) ? "set" : key === "servers" ? withoutCredentials(String(value)) : shownValue(value),
    origin,
  }));
}

/** Hides the credentials in server addresses. */
export function withoutCredentials(servers: string): string {
  return servers
    .split(",")
    .map((server) => server.trim().replace(/^([a-z]+:\/\/)?.*@/i, "$1…@"))
    .join(", ");
}

function shownValue(value: string | number | boolean): string | number {
  return typeof value === "boolean" ? String(value) : value;
}

/** Text that is safe to display: it does not look like a key. */
export const DisplayText = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .refine((text) => !looksLikeKey(text), "looks like a key");

/** Path of a file that holds a seed, credentials or a certificate. */
const File = DisplayText.refine((path) => isAbsolute(path) || path.startsWith("~/"), "is not an absolute path");
const Server = DisplayText.refine(isServer, "is not the address of a NATS server");
const Bytes = z.int().positive();

/** Section `nats` of the user's configuration. */
export const NatsConfig = z.strictObject({
  servers: z.union([Server.transform((server) => [server]), z.array(Server).min(1).max(50)]).exactOptional(),
  /** Name of a context of the NATS command line, which holds an address and credentials. */
  context: DisplayText.exactOptional(),
  namespace: Token.exactOptional(),
  creds: File.exactOptional(),
  nkey: File.exactOptional(),
  user: DisplayText.exactOptional(),
  ca: File.exactOptional(),
  cert: File.exactOptional(),
  key: File.exactOptional(),
  tlsFirst: z.boolean().exactOptional(),
  inboxPrefix: DisplayText.regex(/^[\w.-]+$/, "is not the beginning of a subject").exactOptional(),
  replicas: z.int().min(1).max(5).exactOptional(),
  journalBytesMax: Bytes.exactOptional(),
  taskBytesMax: Bytes.exactOptional(),
  blobBytesMax: Bytes.exactOptional(),
  leaseMs: durationSchema(z.int().min(500).max(600_000)).exactOptional(),
  /** Days that a settled session stays on the server after the record has it. */
  keepDays: z.number().nonnegative().max(36_500).exactOptional(),
  /** Name of the disk that holds this machine's workspaces. */
  place: Token.exactOptional(),
});
export type NatsConfig = z.infer<typeof NatsConfig>;

const secretFix =
  "keep passwords and tokens out of this file: name a credentials file (creds: /path/user.creds, nkey: /path/user.nk), or export NATS_PASSWORD or NATS_TOKEN";

const examples: Partial<Record<string, string>> = {
  servers: "write servers: nats://host:4222",
  context: "write context: NAME   # one of `nats context ls`",
  namespace: "write namespace: troupe",
  creds: "write creds: /path/user.creds",
  nkey: "write nkey: /path/user.nk",
  user: "write user: ada (export NATS_PASSWORD=…)",
  ca: "write ca: /path/ca.pem",
  cert: "write cert: /path/client.pem",
  key: "write key: /path/client-key.pem",
  tlsFirst: "write tlsFirst: true",
  inboxPrefix: "write inboxPrefix: _INBOX_ada",
  replicas: "write replicas: 3",
  leaseMs: `write leaseMs: ${leaseMsDefault}, or leaseMs: ${leaseMsDefault / 1_000}s`,
  keepDays: "write keepDays: 30",
  place: "write place: disk-1",
};

/** The fix of a wrong value in this section. */
export function natsValueFix(key: string | undefined, value: unknown): string {
  if (typeof value === "string" && (looksLikeKey(value) || /\/\/[^/]*@/.test(value))) return secretFix;
  if (key !== undefined && examples[key]) return examples[key];
  return key === undefined ? "write nats: {servers: nats://host:4222}" : `write ${key}: 1000000000`;
}

/** The fix of an unknown key in this section that looks like a secret; null for other keys. */
export function natsKeyFix(key: string): string | null {
  return /password|pass|token|secret|seed/i.test(key) ? secretFix : null;
}

/** Accepts addresses without credentials. It repeats the check of `@troupe/nats`, which may not be installed. */
function isServer(text: string): boolean {
  return text.split(",").every((each) => {
    const address = each.trim();
    const url = URL.parse(address.includes("://") ? address : `nats://${address}`);
    return url !== null && ["nats:", "tls:"].includes(url.protocol) && url.hostname !== "" && url.username === "";
  });
}

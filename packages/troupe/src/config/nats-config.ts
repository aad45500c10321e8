import { isAbsolute } from "node:path";
import { leaseMsDefault, Token } from "@troupe/core/internal";
import { looksLikeKey } from "@troupe/models";
import { toNatsServers } from "@troupe/nats";
import { z } from "zod";

/** Text that may be shown to people. */
const Shown = z
  .string()
  .trim()
  .min(1)
  .max(500)
  .refine((text) => !looksLikeKey(text), "looks like a key");

/** Seeds and credentials stand in files of their own, which this one names. */
const File = Shown.refine((path) => isAbsolute(path) || path.startsWith("~/"), "is not an absolute path");
const Server = Shown.refine(isServer, "is not the address of a NATS server");
const Bytes = z.int().positive();

/** Where the others are, as a user's own file says it. */
export const NatsConfig = z.strictObject({
  servers: z.union([Server.transform((server) => [server]), z.array(Server).min(1).max(50)]).exactOptional(),
  /** A context of the NATS command line: its address and credentials. */
  context: Shown.exactOptional(),
  namespace: Token.exactOptional(),
  creds: File.exactOptional(),
  nkey: File.exactOptional(),
  user: Shown.exactOptional(),
  ca: File.exactOptional(),
  cert: File.exactOptional(),
  key: File.exactOptional(),
  tlsFirst: z.boolean().exactOptional(),
  inboxPrefix: Shown.regex(/^[\w.-]+$/, "is not the beginning of a subject").exactOptional(),
  replicas: z.int().min(1).max(5).exactOptional(),
  journalBytesMax: Bytes.exactOptional(),
  taskBytesMax: Bytes.exactOptional(),
  blobBytesMax: Bytes.exactOptional(),
  leaseMs: z.int().min(500).max(600_000).exactOptional(),
  /** Days that a session that has settled stays on the server after the record has it. */
  keepDays: z.number().nonnegative().max(36_500).exactOptional(),
  /** Name of the disk that workspaces of this machine are on. */
  place: Token.exactOptional(),
});
export type NatsConfig = z.infer<typeof NatsConfig>;

const secretFix =
  "passwords and tokens never stand in this file: name a file (creds: /path/user.creds, nkey: /path/user.nk), or export NATS_PASSWORD or NATS_TOKEN";

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
  leaseMs: `write leaseMs: ${leaseMsDefault}`,
  keepDays: "write keepDays: 30",
  place: "write place: disk-1",
};

/** The one step that mends a value of this section. */
export function natsFixFor(key: string | undefined, value: unknown): string {
  if (typeof value === "string" && (looksLikeKey(value) || /\/\/[^/]*@/.test(value))) return secretFix;
  if (key !== undefined && examples[key]) return examples[key];
  return key === undefined ? "write nats: {servers: nats://host:4222}" : `write ${key}: 1000000000`;
}

/** What somebody is told who writes a key there that this section does not have. */
export function natsFixForKey(key: string): string | null {
  return /password|pass|token|secret|seed/i.test(key) ? secretFix : null;
}

function isServer(text: string): boolean {
  try {
    return Object.keys(toNatsServers(text).credentials).length === 0;
  } catch {
    return false;
  }
}

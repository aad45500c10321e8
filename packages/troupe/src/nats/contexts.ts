import { readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { TroupeError } from "@troupe/core";
import { z } from "zod";

/** The NATS command line writes every key, so an empty value means not set. */
const text = z
  .string()
  .transform((value) => value.trim() || undefined)
  .optional();

/** The fields of a context file that troupe reads. Other fields are ignored. */
const ContextFile = z.object({
  url: text,
  token: text,
  user: text,
  password: text,
  creds: text,
  nkey: text,
  ca: text,
  cert: text,
  key: text,
  inbox_prefix: text,
  tls_first: z.boolean().default(false),
  // Rejected below: without these fields troupe would connect to another place than the user means.
  nsc: text,
  user_jwt: text,
  socks_proxy: text,
  jetstream_domain: text,
  jetstream_api_prefix: text,
});

const unsupported = ["nsc", "user_jwt", "socks_proxy", "jetstream_domain", "jetstream_api_prefix"] as const;

/** A stored connection of the NATS command line. Paths are absolute. */
export interface NatsContext {
  path: string;
  servers: string;
  token?: string | undefined;
  user?: string | undefined;
  password?: string | undefined;
  creds?: string | undefined;
  nkey?: string | undefined;
  ca?: string | undefined;
  cert?: string | undefined;
  key?: string | undefined;
  inboxPrefix?: string | undefined;
  tlsFirst: boolean;
}

export interface ContextSources {
  env: NodeJS.ProcessEnv;
  cwd: string;
}

/**
 * Reads a context of the NATS command line by its name or path; null reads the selected one. Throws `INVALID_CONFIG` with
 * the known names if the context is missing or unusable.
 */
export function readContext(wanted: string | null, sources: ContextSources): NatsContext {
  const path = isPath(wanted) ? resolve(sources.cwd, expandHome(wanted, sources.env)) : pathOf(wanted, sources);
  const context = parseContext(readOrExplain(path, wanted, sources), path);
  const file = (name: string | undefined) =>
    name === undefined ? undefined : resolve(dirname(path), expandHome(name, sources.env));
  const { token, user, password, inbox_prefix: inboxPrefix, tls_first: tlsFirst } = context;
  return {
    path,
    // The default of the NATS command line.
    servers: context.url ?? "nats://127.0.0.1:4222",
    ...{ token, user, password, inboxPrefix, tlsFirst },
    ...{ creds: file(context.creds), nkey: file(context.nkey) },
    ...{ ca: file(context.ca), cert: file(context.cert), key: file(context.key) },
  };
}

/** Names of all contexts, sorted. */
export function contextNames({ env }: Pick<ContextSources, "env">): string[] {
  try {
    return readdirSync(join(contextFolder(env), "context"))
      .filter((name) => name.endsWith(".json"))
      .map((name) => basename(name, ".json"))
      .sort();
  } catch {
    return [];
  }
}

/** Replaces a leading `~` with the user's home folder. */
export function expandHome(path: string, env: NodeJS.ProcessEnv): string {
  return path === "~" || path.startsWith("~/") ? join(env.HOME || homedir(), path.slice(1)) : path;
}

function contextFolder(env: NodeJS.ProcessEnv): string {
  const folder = env.XDG_CONFIG_HOME;
  const config = folder && isAbsolute(folder) ? folder : join(env.HOME || homedir(), ".config");
  return join(config, "nats");
}

function isPath(wanted: string | null): wanted is string {
  return wanted !== null && (/[/\\]/.test(wanted) || wanted.endsWith(".json"));
}

function pathOf(wanted: string | null, { env }: ContextSources): string {
  return join(contextFolder(env), "context", `${wanted ?? selectedContext(env)}.json`);
}

function selectedContext(env: NodeJS.ProcessEnv): string {
  const file = join(contextFolder(env), "context.txt");
  const name = readText(file)?.trim();
  if (name) return name;
  throw new TroupeError("INVALID_CONFIG", `no NATS context is selected in ${file}${knownContexts({ env })}`, {
    fix: "nats context select NAME, or --context NAME",
  });
}

function readOrExplain(path: string, wanted: string | null, sources: ContextSources): string {
  const found = readText(path);
  if (found !== null) return found;
  const name = wanted ?? basename(path, ".json");
  const message = `the NATS context ${JSON.stringify(name)} does not exist (${path})${knownContexts(sources)}`;
  const [first] = contextNames(sources);
  const fix = first === undefined ? `nats context save ${name} --server nats://host:4222` : `--context ${first}`;
  throw new TroupeError("INVALID_CONFIG", message, { fix });
}

function knownContexts(sources: Pick<ContextSources, "env">): string {
  const names = contextNames(sources);
  return names.length === 0 ? "; no context is stored" : `; stored contexts: ${names.join(", ")}`;
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const isMissing = cause instanceof Error && "code" in cause && ["ENOENT", "ENOTDIR"].includes(String(cause.code));
    if (isMissing) return null;
    throw new TroupeError("INVALID_CONFIG", `${path} cannot be read`, { cause, fix: `ls -l ${path}` });
  }
}

function parseContext(written: string, path: string): z.output<typeof ContextFile> {
  const fix = `recreate it: nats context save ${basename(path, ".json")} --server nats://host:4222`;
  let value: unknown;
  try {
    value = JSON.parse(written);
  } catch {
    throw new TroupeError("INVALID_CONFIG", `${path} is not a NATS context: the file is not JSON`, { fix });
  }
  const parsed = ContextFile.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where = issue ? `${issue.path.join(".") || "the file"}: ${issue.message}` : "";
    throw new TroupeError("INVALID_CONFIG", `${path} is not a NATS context: ${where}`, { fix });
  }
  const foreign = unsupported.find((key) => parsed.data[key] !== undefined);
  if (foreign) {
    throw new TroupeError("INVALID_CONFIG", `${path} sets ${foreign}, which troupe does not support`, {
      fix: "use a context with a creds file, an nkey, a token, or a user and a password",
    });
  }
  return parsed.data;
}

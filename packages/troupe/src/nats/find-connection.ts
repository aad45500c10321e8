import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { TroupeError } from "@troupe/core";
import { leaseMsDefault, Token } from "@troupe/core/internal";
import type { NatsCredentials, NatsTls } from "@troupe/nats";
import type { NatsSettings, NatsSettingsWithOrigin } from "../config/nats-settings.ts";
import type { Origin } from "../config/origin.ts";
import {
  type Connection,
  defaultLocality,
  type NatsFlags,
  type NatsServerAccess,
  namesServer,
  type SharedSettings,
} from "./connection.ts";
import { expandHome, readContext } from "./contexts.ts";
import { loadNats, type NatsPackage } from "./load-nats.ts";

export interface ConnectionSources {
  flags: NatsFlags;
  /** The user's configuration, including variables. */
  nats: NatsSettingsWithOrigin;
  env: NodeJS.ProcessEnv;
  cwd: string;
}

/**
 * Finds the connection of this process. The first of these wins: `--nats`, `--context`, `NATS_URL`, the configuration. The
 * context that is selected in the NATS command line applies only if `--context` asks for it, so that no process joins a
 * server by accident. Credentials come from the address or the context, else from variables. Credentials in the
 * configuration are used for the servers in the configuration only. Without any of them, `@troupe/nats` is not loaded.
 */
export async function findConnection(sources: ConnectionSources): Promise<Connection> {
  const { flags, nats } = sources;
  const isNamed = namesServer(flags) || nats.servers !== undefined || nats.context !== undefined;
  const shared = sharedSettings(sources);
  return isNamed ? namedConnection({ ...sources, library: await loadNats() }, shared) : { kind: "embedded" };
}

interface AccessSources extends ConnectionSources {
  library: NatsPackage;
}

function namedConnection(deps: AccessSources, shared: SharedSettings): Connection {
  const { flags, nats } = deps;
  if (flags.nats === "auto") return { kind: "auto", ...shared };
  if (flags.nats !== undefined) {
    const origin: Origin = { from: "flag", where: "--nats" };
    return serverConnection(shared, accessAtAddress(deps, flags.nats, origin, isFromVariable));
  }
  if (flags.context !== undefined) {
    const origin: Origin = { from: "flag", where: "--context" };
    return serverConnection(shared, accessFromContext(deps, flags.context === true ? null : flags.context, origin));
  }
  const { servers, context } = nats;
  if (servers?.origin.from === "environment") {
    return serverConnection(shared, accessAtAddress(deps, servers.value, servers.origin, isFromVariable));
  }
  if (servers)
    return serverConnection(
      shared,
      accessAtAddress(deps, servers.value, servers.origin, () => true),
    );
  if (context) return serverConnection(shared, accessFromContext(deps, context.value, context.origin));
  return { kind: "embedded" };
}

function serverConnection(shared: SharedSettings, access: NatsServerAccess): Connection {
  return { kind: "server", server: access, ...shared };
}

/** Selects the settings that apply to a server: those of variables, or those of the configuration too. */
type SettingFilter = (setting: { origin: Origin }) => boolean;
const isFromVariable: SettingFilter = ({ origin }) => origin.from === "environment";

function accessAtAddress(
  deps: AccessSources,
  servers: string,
  origin: Origin,
  isAllowed: SettingFilter,
): NatsServerAccess {
  if (servers.trim() === "") {
    throw new TroupeError("USAGE", `${origin.where} is empty`, { fix: "pass an address: nats://host:4222" });
  }
  return accessOf(deps, servers, settingsFor(deps.nats, isAllowed), origin);
}

function accessFromContext(deps: AccessSources, name: string | null, origin: Origin): NatsServerAccess {
  const { path, servers, ...rest } = readContext(name, deps);
  const setting = settingsFor(deps.nats, isFromVariable);
  const hasCredentials = credentialKeys.some((key) => rest[key] !== undefined);
  const hasTls = tlsKeys.some((key) => rest[key] !== undefined);
  const settings: NatsSettings = defined({
    ...(hasCredentials ? {} : pick(setting, credentialKeys)),
    ...(hasTls ? {} : pick(setting, tlsKeys)),
    ...defined(rest),
  });
  return accessOf(deps, servers, settings, { ...origin, where: `${origin.where}: ${path}` });
}

const credentialKeys = ["creds", "nkey", "token", "user", "password"] as const;
const tlsKeys = ["ca", "cert", "key"] as const;

function settingsFor(nats: NatsSettingsWithOrigin, isAllowed: SettingFilter): NatsSettings {
  const entries = Object.entries(nats).filter(([, setting]) => isAllowed(setting));
  return Object.fromEntries(entries.map(([key, { value }]) => [key, value]));
}

function accessOf(deps: AccessSources, servers: string, settings: NatsSettings, origin: Origin): NatsServerAccess {
  const { natsAccess, secretsOfCredentials, toNatsServers } = deps.library;
  const address = toNatsServers(servers);
  const { pass, token } = address.credentials;
  const inAddress = [pass, token].filter((value) => value !== undefined);
  const credentials = inAddress.length > 0 ? null : readCredentials(deps, settings);
  const tls = readTls(deps, settings) ?? (address.isSecure ? {} : null);
  const values = [...inAddress, ...(credentials ? secretsOfCredentials(credentials) : [])];
  return {
    servers,
    access: natsAccess({ ...(credentials ? { credentials } : {}), ...(tls ? { tls } : {}) }),
    ...(settings.inboxPrefix === undefined ? {} : { inboxPrefix: settings.inboxPrefix }),
    secrets: values.map((value) => ({ name: "NATS credentials", value })),
    origin,
  };
}

/** Picks one kind of credentials, the safest first, because the client would pick one of several at random. */
function readCredentials(deps: ConnectionSources, settings: NatsSettings): NatsCredentials | null {
  const { creds, nkey, token, user, password } = settings;
  if (creds !== undefined) return { kind: "creds", ...readNamedFile(deps, creds, "creds file") };
  if (nkey !== undefined) return { kind: "nkey", ...readNamedFile(deps, nkey, "nkey seed") };
  if (token !== undefined) return { kind: "token", token };
  if (user === undefined) return null;
  if (password !== undefined) return { kind: "user", user, password };
  throw new TroupeError("INVALID_CONFIG", `the NATS user ${JSON.stringify(user)} has no password`, {
    fix: "export NATS_PASSWORD=…",
  });
}

function readTls(deps: ConnectionSources, { ca, cert, key, tlsFirst }: NatsSettings): NatsTls | null {
  if (ca === undefined && cert === undefined && key === undefined && !tlsFirst) return null;
  if ((cert === undefined) !== (key === undefined)) {
    throw new TroupeError("INVALID_CONFIG", "a client certificate for NATS needs both the certificate and its key", {
      fix: "export NATS_CERT=cert.pem NATS_KEY=key.pem",
    });
  }
  const pem = (path: string, what: string): string => {
    const { text } = readNamedFile(deps, path, what);
    if (text.includes("-----BEGIN ")) return text;
    throw new TroupeError("INVALID_CONFIG", `${path} is not a ${what} in PEM form`, {
      fix: "pass a PEM file: it contains -----BEGIN …",
    });
  };
  return {
    ...(ca === undefined ? {} : { ca: pem(ca, "CA certificate") }),
    ...(cert === undefined ? {} : { cert: pem(cert, "certificate") }),
    ...(key === undefined ? {} : { key: pem(key, "key") }),
    ...(tlsFirst ? { first: true } : {}),
  };
}

interface NamedFile {
  text: string;
  from: string;
  /** Reads the file again. */
  read(): string;
}

function readNamedFile({ env, cwd }: ConnectionSources, name: string, what: string): NamedFile {
  const from = resolve(cwd, expandHome(name, env));
  const read = (): string => readFileSync(from, "utf8");
  try {
    return { text: read(), from, read };
  } catch (cause) {
    const why = whyUnreadable(cause);
    throw new TroupeError("INVALID_CONFIG", `the ${what} ${from} cannot be read: ${why}`, {
      cause,
      fix: `ls -l ${from}`,
    });
  }
}

function whyUnreadable(cause: unknown): string {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const known: Partial<Record<string, string>> = {
    ENOENT: "the file does not exist",
    EACCES: "permission denied",
    EISDIR: "it is a folder",
  };
  return known[code] ?? code;
}

function sharedSettings({ flags, nats }: ConnectionSources): SharedSettings {
  const { replicas, journalBytesMax, taskBytesMax, blobBytesMax } = settingsFor(nats, () => true);
  return {
    namespace: token("--namespace", flags.namespace) ?? nats.namespace?.value ?? "troupe",
    settings: defined({ replicas, journalBytesMax, taskBytesMax, blobBytesMax }),
    leaseMs: flags.leaseMs ?? nats.leaseMs?.value ?? leaseMsDefault,
    keepDays: nats.keepDays?.value ?? null,
    locality: token("--place", flags.locality) ?? nats.place?.value ?? defaultLocality(),
  };
}

function token(flag: string, given: string | undefined): string | undefined {
  if (given === undefined || Token.safeParse(given).success) return given;
  throw new TroupeError(
    "USAGE",
    `${flag} ${JSON.stringify(given)} contains characters other than letters, digits, - and _`,
    {
      fix: `${flag} troupe`,
    },
  );
}

function pick<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Partial<Pick<T, K>> {
  return Object.fromEntries(keys.map((key) => [key, from[key]])) as Partial<Pick<T, K>>;
}

/** Removes fields whose value is undefined. */
function defined<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { TroupeError } from "@troupe/core";
import { leaseMsDefault, Token } from "@troupe/core/internal";
import { type NatsCredentials, type NatsTls, natsAccess, secretsOfCredentials, toNatsServers } from "@troupe/nats";
import type { NatsSettings, NatsSettingsWithOrigin } from "../config/nats-settings.ts";
import type { Origin } from "../config/origin.ts";
import {
  type Connection,
  defaultLocality,
  type NatsFlags,
  type NatsServerAccess,
  type SharedSettings,
} from "./connection.ts";
import { expandHome, readContext } from "./contexts.ts";

export interface ConnectionSources {
  flags: NatsFlags;
  /** The user's own configuration, variables included. */
  nats: NatsSettingsWithOrigin;
  env: NodeJS.ProcessEnv;
  cwd: string;
}

/**
 * How this process is to be connected with others, the strongest word first: `--nats`, `--context`, `NATS_URL`, the
 * configuration. A context that is merely selected in the NATS command line counts only where it is asked for, so that
 * nobody joins others without meaning to. With credentials: those of the address or the context; where it has none, those
 * of the variables; and what the configuration says of itself is for its own servers only.
 */
export function findConnection(deps: ConnectionSources): Connection {
  const { flags, nats } = deps;
  const shared = sharedSettings(deps);
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

/** What may be used besides the address: what variables say, or the configuration too. */
type SettingFilter = (said: { origin: Origin }) => boolean;
const isFromVariable: SettingFilter = ({ origin }) => origin.from === "environment";

function accessAtAddress(
  deps: ConnectionSources,
  servers: string,
  origin: Origin,
  isAllowed: SettingFilter,
): NatsServerAccess {
  if (servers.trim() === "") {
    throw new TroupeError("USAGE", `${origin.where} names no server`, { fix: "give nats://host:4222" });
  }
  return accessOf(deps, servers, settingsFor(deps.nats, isAllowed), origin);
}

function accessFromContext(deps: ConnectionSources, name: string | null, origin: Origin): NatsServerAccess {
  const { path, servers, ...rest } = readContext(name, deps);
  const said = settingsFor(deps.nats, isFromVariable);
  const hasCredentials = credentialKeys.some((key) => rest[key] !== undefined);
  const hasTls = tlsKeys.some((key) => rest[key] !== undefined);
  const settings: NatsSettings = defined({
    ...(hasCredentials ? {} : pick(said, credentialKeys)),
    ...(hasTls ? {} : pick(said, tlsKeys)),
    ...defined(rest),
  });
  return accessOf(deps, servers, settings, { ...origin, where: `${origin.where}: ${path}` });
}

const credentialKeys = ["creds", "nkey", "token", "user", "password"] as const;
const tlsKeys = ["ca", "cert", "key"] as const;

function settingsFor(nats: NatsSettingsWithOrigin, isAllowed: SettingFilter): NatsSettings {
  const entries = Object.entries(nats).filter(([, said]) => isAllowed(said));
  return Object.fromEntries(entries.map(([key, { value }]) => [key, value]));
}

function accessOf(deps: ConnectionSources, servers: string, settings: NatsSettings, origin: Origin): NatsServerAccess {
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

/** One way of proving who one is, the safest first: several at once would leave it to chance which one counts. */
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
    throw new TroupeError(
      "INVALID_CONFIG",
      "a client's certificate for NATS needs its key, and the key its certificate",
      {
        fix: "export NATS_CERT=cert.pem NATS_KEY=key.pem",
      },
    );
  }
  const pem = (path: string, what: string): string => {
    const { text } = readNamedFile(deps, path, what);
    if (text.includes("-----BEGIN ")) return text;
    throw new TroupeError("INVALID_CONFIG", `${path} is no ${what} in PEM form`, { fix: `name a file of PEM blocks` });
  };
  return {
    ...(ca === undefined ? {} : { ca: pem(ca, "certificate of an authority") }),
    ...(cert === undefined ? {} : { cert: pem(cert, "certificate") }),
    ...(key === undefined ? {} : { key: pem(key, "key") }),
    ...(tlsFirst ? { first: true } : {}),
  };
}

interface NamedFile {
  text: string;
  from: string;
  /** Once more. */
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
    ENOENT: "it is not there",
    EACCES: "this user may not",
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
  throw new TroupeError("USAGE", `${flag} ${JSON.stringify(given)} has to be letters, digits, - and _ alone`, {
    fix: `${flag} troupe`,
  });
}

function pick<T extends object, K extends keyof T>(from: T, keys: readonly K[]): Partial<Pick<T, K>> {
  return Object.fromEntries(keys.map((key) => [key, from[key]])) as Partial<Pick<T, K>>;
}

/** What is not said is not there, rather than undefined. */
function defined<T extends object>(given: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const entries = Object.entries(given).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]: Exclude<T[K], undefined> };
}

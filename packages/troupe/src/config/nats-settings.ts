import type { ConfigFile } from "./config-file.ts";
import type { NatsConfig } from "./nats-config.ts";
import type { ConfigRow, Origin, Setting } from "./origin.ts";

/** What can be said of the way to the others: what a file may hold, and what only variables may. */
export interface NatsSettings extends Omit<NatsConfig, "servers"> {
  /** As it was said: one address, or several with commas between them. May hold credentials. */
  servers?: string;
  password?: string;
  token?: string;
}

/** Each setting with who has said it. */
export type NatsSettingsWithOrigin = { readonly [K in keyof NatsSettings]?: Setting<NonNullable<NatsSettings[K]>> };

/** As the NATS command line calls them, too. */
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

/** Variables over the user's own file. A project's file has no say in where everything is sent. */
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

/** As `troupe config list` shows them: of what is secret only that it is set. */
export function natsRows(said: NatsSettingsWithOrigin): ConfigRow[] {
  return Object.entries(said).map(([key, { value, origin }]) => ({
    key: `nats.${key}`,
    value: secret.includes(key) ? "set" : key === "servers" ? withoutCredentials(String(value)) : shownValue(value),
    origin,
  }));
}

/** Addresses as people may see them. */
export function withoutCredentials(servers: string): string {
  return servers
    .split(",")
    .map((server) => server.trim().replace(/^([a-z]+:\/\/)?.*@/i, "$1…@"))
    .join(", ");
}

function shownValue(value: string | number | boolean): string | number {
  return typeof value === "boolean" ? String(value) : value;
}

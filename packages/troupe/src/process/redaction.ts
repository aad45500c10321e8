import { createRedactor, type Redactor, type Secret } from "@troupe/core";
import { type ProviderSecrets, redactLogger, secretsOf } from "@troupe/runtime";
import type { ConfigSource } from "../config/config.ts";
import type { Home } from "../home/home.ts";
import { type Connection, secretsOfConnection } from "../nats/connection.ts";
import type { OfflineOptions } from "./running-troupe.ts";

/** How this process writes: without what its variables and its configuration hold for secret. */
export async function openRedaction(
  { home, env, logger }: Pick<OfflineOptions, "env" | "logger"> & { home: Home & { token?: string } },
  config: ConfigSource | null,
  connection: Connection,
) {
  const providers = (await config?.at(null))?.providers.map(({ settings }) => settings) ?? [];
  const token = home.token === undefined ? {} : { token: home.token };
  const redact = createHomeRedactor({ env, ...token, providers, others: secretsOfConnection(connection) });
  return { redact, logger: redactLogger(logger, redact) };
}

export interface HomeSecrets {
  env: NodeJS.ProcessEnv;
  /** Of the home, where this process owns it. */
  token?: string;
  /** All that are configured, wherever their keys come from. */
  providers?: readonly ProviderSecrets[];
  /** Known to be secret, whatever they look like. */
  others?: readonly Secret[];
}

/**
 * What takes secrets out of all that a process of this home writes.
 *
 * An instrument for tests, off unless its variable is set: with `TROUPE_TEST_UNREDACTED=1` nothing is taken out, so that
 * a test that finds no secret can be seen to find them where they are.
 */
export function createHomeRedactor({ env, token, providers = [], others = [] }: HomeSecrets): Redactor {
  if (env.TROUPE_TEST_UNREDACTED === "1") return createRedactor({ shapes: false });
  const own = token === undefined ? [] : [{ name: "the home's token", value: token }];
  return createRedactor({ values: secretsOf({ env, providers, others: [...own, ...others] }) });
}

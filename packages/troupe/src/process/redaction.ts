import { createRedactor, type Redactor, type Secret } from "@troupe/core";
import { type ProviderSecrets, redactLogger, secretsOf } from "@troupe/runtime";
import type { ConfigSource } from "../config/config.ts";
import type { Home } from "../home/home.ts";
import { type Connection, secretsOfConnection } from "../nats/connection.ts";
import { hasConnections } from "../office/home-connectors.ts";
import type { OfflineOptions } from "./running-troupe.ts";

/** Redactor and logger that remove the secrets of the variables, the configuration and the connection. */
export async function openRedaction(
  { home, env, logger }: Pick<OfflineOptions, "env" | "logger"> & { home: Home & { token?: string } },
  config: ConfigSource | null,
  connection: Connection,
  /** The home of the connected accounts. */
  accounts: Home = home,
) {
  const providers = (await config?.at(null))?.providers.map(({ settings }) => settings) ?? [];
  const webhooks = ((await config?.at(null))?.webhooks ?? []).flatMap(({ value: { secretVariable } }) => {
    const value = env[secretVariable];
    return value ? [{ name: secretVariable, value }] : [];
  });
  const token = home.token === undefined ? {} : { token: home.token };
  const others = [...secretsOfConnection(connection), ...(await secretsOfAccounts(accounts)), ...webhooks];
  const redact = createHomeRedactor({ env, ...token, providers, others });
  return { redact, logger: redactLogger(logger, redact) };
}

/** The tokens and passwords of connected accounts. Most homes have none, and then nothing loads. */
async function secretsOfAccounts(home: Home): Promise<Secret[]> {
  if (!hasConnections(home)) return [];
  const { openConnectionStore } = await import("@troupe/connectors");
  return await openConnectionStore(home.path).secrets();
}

export interface HomeSecrets {
  env: NodeJS.ProcessEnv;
  /** Token of the home, if this process owns it. */
  token?: string;
  /** The configured providers, with their keys. */
  providers?: readonly ProviderSecrets[];
  /** Further secrets. */
  others?: readonly Secret[];
}

/** Creates the redactor of a process of this home. */
export function createHomeRedactor({ env, token, providers = [], others = [] }: HomeSecrets): Redactor {
  const own = token === undefined ? [] : [{ name: "the home's token", value: token }];
  return createRedactor({ values: secretsOf({ env, providers, others: [...own, ...others] }) });
}

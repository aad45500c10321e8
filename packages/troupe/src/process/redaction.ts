import { redactLogger } from "@troupe/runtime";
import type { ConfigSource } from "../config/config.ts";
import type { Home } from "../home/home.ts";
import { type Connection, secretsOfConnection } from "../nats/connection.ts";
import { homeRedactor } from "./redactor.ts";
import type { OfflineOptions } from "./running-troupe.ts";

/** How this process writes: without what its variables and its configuration hold for secret. */
export async function openRedaction(
  { home, env, logger }: Pick<OfflineOptions, "env" | "logger"> & { home: Home & { token?: string } },
  config: ConfigSource | null,
  connection: Connection,
) {
  const providers = (await config?.at(null))?.providers.map(({ settings }) => settings) ?? [];
  const token = home.token === undefined ? {} : { token: home.token };
  const redact = homeRedactor({ env, ...token, providers, others: secretsOfConnection(connection) });
  return { redact, logger: redactLogger(logger, redact) };
}

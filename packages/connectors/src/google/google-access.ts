import type { Clock } from "@troupe/core";
import { z } from "zod";
import { ConnectorError } from "../ports/connector-error.ts";
import type { ConnectionStore, OpenedConnection } from "../tokens/connections.ts";
import { connectCommand, isInvalidGrant, toConnectorError } from "./google-error.ts";
import { loadGoogle, oauthEndpoints, requestOptions } from "./load-google.ts";

/** The settings and secrets of a stored connection to Google. */
export const GoogleConnection = z
  .object({
    connection: z.object({
      settings: z.object({
        clientId: z.string(),
        /** Granted scopes, separated by spaces. */
        scopes: z.string(),
        /** The name of the user, for the header From. */
        name: z.string().default(""),
        tokenExpiresAt: z.iso.datetime(),
        /** Google refused the refresh token: the user has to connect again. */
        isRevoked: z.stringbool().default(false),
        /** A URL in place of Google's servers, for proxies and tests. */
        baseUrl: z.url().nullable().default(null),
      }),
    }),
    secrets: z.object({ accessToken: z.string(), refreshToken: z.string(), clientSecret: z.string() }),
  })
  .transform(({ connection, secrets }) => ({ settings: connection.settings, secrets }));
export type GoogleConnection = z.infer<typeof GoogleConnection>;

/** The access of one connection: its tokens are read from the store, and stored there after a refresh. */
export interface GoogleAccess {
  readonly account: string;
  /** An access token that is valid for at least a minute. Refreshes if needed. */
  token(): Promise<string>;
  /** The stored token, and whether it can be used. Calls no server. */
  state(): Promise<{ token: string; auth: "valid" | "expired" | "revoked" }>;
  /** Obtains a new token. Throws `auth` if Google does not accept the connection any more. */
  refresh(): Promise<void>;
}

export interface GoogleAccessOptions {
  store: ConnectionStore;
  id: string;
  account: string;
  clock: Pick<Clock, "now">;
  timeoutMs: number;
}

/** A token that ends within this time could end during a call. */
const marginMs = 60_000;

export function createGoogleAccess(options: GoogleAccessOptions): GoogleAccess {
  const { store, id, account, clock } = options;
  const state = async () => {
    const stored = await store.get(id);
    if (stored === null) throw disconnected(id, account);
    return { token: GoogleConnection.parse(stored).secrets.accessToken, auth: authOf(stored, clock.now()) };
  };
  return {
    account,
    state,
    async token() {
      const { token, auth } = await state();
      return auth === "valid" ? token : await refreshToken(options, (after) => after !== token);
    },
    async refresh() {
      // Another process can have refreshed since this one read its token: its new token is as good.
      const { token } = await state();
      await refreshToken(options, (after) => after !== token);
    },
  };
}

function authOf(opened: OpenedConnection, nowMs: number): "valid" | "expired" | "revoked" {
  const { settings } = GoogleConnection.parse(opened);
  if (settings.isRevoked) return "revoked";
  return Date.parse(settings.tokenExpiresAt) - marginMs > nowMs ? "valid" : "expired";
}

/** Refreshes under the lock of the store, because Google may accept a refresh token only once. */
async function refreshToken(options: GoogleAccessOptions, isNewer: (token: string) => boolean): Promise<string> {
  const { store, id, account, clock } = options;
  const after = await store.change(id, async (opened) => {
    const { settings, secrets } = GoogleConnection.parse(opened);
    if (settings.isRevoked) return opened;
    if (isNewer(secrets.accessToken) && authOf(opened, clock.now()) === "valid") return opened;
    try {
      return withTokens(opened, await requestTokens(options, { settings, secrets }));
    } catch (thrown) {
      if (!isInvalidGrant(thrown)) throw toConnectorError(thrown, { what: "refresh the access to Google", account });
      return { ...opened, connection: withSettings(opened, { isRevoked: "true" }) };
    }
  });
  if (authOf(after, clock.now()) === "revoked") throw revoked(account);
  return GoogleConnection.parse(after).secrets.accessToken;
}

/** The answer of the token endpoint, as the SDK hands it on. */
export const GoogleTokens = z.object({
  access_token: z.string().min(1),
  /** Present at the first grant, and if Google replaces the refresh token. */
  refresh_token: z.string().nullish(),
  expiry_date: z.number(),
  scope: z.string().nullish(),
  id_token: z.string().nullish(),
});
export type GoogleTokens = z.infer<typeof GoogleTokens>;

async function requestTokens(
  { timeoutMs }: GoogleAccessOptions,
  { settings, secrets }: GoogleConnection,
): Promise<GoogleTokens> {
  const { OAuth2 } = await loadGoogle();
  const { clientId, baseUrl } = settings;
  const client = new OAuth2({
    ...{ clientId, clientSecret: secrets.clientSecret, endpoints: oauthEndpoints(baseUrl) },
    transporterOptions: requestOptions({ baseUrl: null, timeoutMs }),
  });
  client.setCredentials({ refresh_token: secrets.refreshToken });
  // The SDK then puts the old refresh token over a new one. Its event has the answer as it was.
  let answer: unknown = null;
  client.on("tokens", (tokens) => {
    answer = { ...tokens };
  });
  await client.refreshAccessToken();
  return readTokens(answer);
}

/** Throws `network` for an answer that is not one of the token endpoint, such as the page of a hotel's network. */
export function readTokens(answer: unknown): GoogleTokens {
  const parsed = GoogleTokens.safeParse(answer);
  if (parsed.success) return parsed.data;
  throw new ConnectorError("network", "the token endpoint of Google answered something that is not a token");
}

function withTokens(opened: OpenedConnection, tokens: GoogleTokens): OpenedConnection {
  const { access_token: accessToken, refresh_token, expiry_date } = tokens;
  const refresh = refresh_token ? { refreshToken: refresh_token } : {};
  return {
    connection: withSettings(opened, { tokenExpiresAt: new Date(expiry_date).toISOString() }),
    secrets: { ...opened.secrets, ...refresh, accessToken },
  };
}

function withSettings({ connection }: OpenedConnection, settings: Record<string, string>) {
  return { ...connection, settings: { ...connection.settings, ...settings } };
}

function revoked(account: string): ConnectorError {
  return new ConnectorError("auth", `Google does not accept the connection of ${account} any more`, {
    fix: `connect again: ${connectCommand(account)}`,
  });
}

function disconnected(id: string, account: string): ConnectorError {
  return new ConnectorError("auth", `the connection ${JSON.stringify(id)} was removed`, {
    fix: `connect again: ${connectCommand(account)}`,
  });
}

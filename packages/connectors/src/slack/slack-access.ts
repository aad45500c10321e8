import type { Clock } from "@troupe/core";
import { ConnectorError } from "../ports/connector-error.ts";
import type { ConnectionStore, OpenedConnection } from "../tokens/connections.ts";
import { createSlackCall, type SlackApiOptions } from "./slack-api.ts";
import { RotatedToken } from "./slack-shapes.ts";

/** The token of an account. */
export interface SlackAccess {
  /** The id of the member, as far as it is known without a call. */
  account: string;
  /** The token of the next call. Throws `auth` if the account was disconnected. */
  token(): Promise<string>;
  /** Whether the token is known to be too old. */
  isExpired(): Promise<boolean>;
  /** Obtains a new token. Absent: the token does not expire. */
  refresh?(): Promise<void>;
}

/** A token that never expires, as an app without token rotation has. */
export function fixedSlackAccess(token: string): SlackAccess {
  return { account: "", token: async () => token, isExpired: async () => false };
}

/** A token is replaced this long before its end. */
const spareMs = 60_000;

/**
 * The token of a stored connection. If the app rotates its tokens, the token is replaced before its end. Slack accepts a
 * refresh token once, so the store lets only one process replace it at a time.
 */
export function storedSlackAccess(
  store: ConnectionStore,
  { connection: { id, account }, secrets }: OpenedConnection,
  { api, clock }: { api: SlackApiOptions; clock: Pick<Clock, "now"> },
): SlackAccess {
  let lastToken = secrets.token ?? "";
  const read = async (): Promise<OpenedConnection> => {
    const opened = await store.get(id);
    if (opened?.secrets.token) return opened;
    throw new ConnectorError("auth", `the connection ${JSON.stringify(id)} was removed`, {
      fix: "connect it again: troupe connect slack",
    });
  };
  const expiresWithin = (opened: OpenedConnection, withinMs: number): boolean => {
    const { tokenExpiresAt } = opened.connection.settings;
    return tokenExpiresAt !== undefined && Date.parse(tokenExpiresAt) - withinMs <= clock.now();
  };
  const refresh = async (): Promise<void> => {
    const seen = lastToken;
    const changed = await store.change(id, async (opened) => {
      // Another process was faster.
      if (opened.secrets.token !== seen && !expiresWithin(opened, spareMs)) return opened;
      return await rotate(opened, api, clock);
    });
    lastToken = changed.secrets.token ?? "";
  };
  return {
    account,
    async token() {
      const opened = await read();
      lastToken = opened.secrets.token ?? "";
      if (opened.secrets.refreshToken && expiresWithin(opened, spareMs)) await refresh();
      return lastToken;
    },
    isExpired: async () => expiresWithin(await read(), 0),
    ...(secrets.refreshToken ? { refresh } : {}),
  };
}

async function rotate(
  { connection, secrets }: OpenedConnection,
  api: SlackApiOptions,
  clock: Pick<Clock, "now">,
): Promise<OpenedConnection> {
  const call = createSlackCall(api, async () => null);
  const { access_token, refresh_token, expires_in } = await call(
    "oauth.v2.access",
    {
      grant_type: "refresh_token",
      refresh_token: secrets.refreshToken,
      client_id: secrets.clientId,
      client_secret: secrets.clientSecret,
    },
    RotatedToken,
  );
  const tokenExpiresAt = new Date(clock.now() + expires_in * 1_000).toISOString();
  return {
    connection: { ...connection, settings: { ...connection.settings, tokenExpiresAt } },
    secrets: { ...secrets, token: access_token, refreshToken: refresh_token },
  };
}

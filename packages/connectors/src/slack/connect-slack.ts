import { z } from "zod";
import { ConnectorError, parseParams } from "../ports/connector-error.ts";
import { toLine } from "../ports/person.ts";
import type { ConnectionStore, StoredConnection } from "../tokens/connections.ts";
import { createSlackCall, slackApiUrlDefault, slackTimeoutMsDefault } from "./slack-api.ts";
import { isBotToken } from "./slack-channels.ts";
import { Identity } from "./slack-shapes.ts";

const secret = z.string().trim().min(1, "is empty").max(1_000).regex(/^\S+$/, "contains a space");

/** An account of Slack to connect. */
export const SlackAccount = z.strictObject({
  /** From the page of the app: `xoxb-…` of a bot, or `xoxp-…` of a user. */
  token: secret.regex(/^xox[a-z]?[.-]/, "is not a token of Slack, which begins with xoxb- or xoxp-"),
  /** The name of the connection. Default: the name of the workspace. */
  name: z.string().min(1).max(100).nullable().default(null),
  /** For an app that rotates its tokens. */
  rotation: z.strictObject({ refreshToken: secret, clientId: secret, clientSecret: secret }).nullable().default(null),
  apiUrl: z.url().default(slackApiUrlDefault),
  timeoutMs: z.int().min(1).default(slackTimeoutMsDefault),
  /** The time of the connection. */
  nowMs: z.number().default(() => Date.now()),
});

export type SlackAccount = z.input<typeof SlackAccount>;

const readScopes = ["channels:read", "groups:read", "channels:history", "groups:history", "users:read"];

/** The scopes that all operations need. A bot has no right to use Slack's search. */
export const slackScopes = {
  bot: [...readScopes, "users:read.email", "chat:write"],
  user: [...readScopes, "users:read.email", "chat:write", "search:read"],
} as const;

/** A connected account of Slack. */
export interface ConnectedSlack {
  connection: StoredConnection;
  /** The workspace and the member that the token belongs to. */
  team: string;
  user: string;
  /** Scopes that the token lacks. Operations that need them fail with `permission`. */
  missingScopes: readonly string[];
}

/**
 * Checks a token at Slack, and stores it. Throws `auth` if Slack does not accept it; then nothing is stored.
 *
 * @example
 * const { connection, missingScopes } = await connectSlack(store, { token: "xoxb-…" });
 */
export async function connectSlack(store: ConnectionStore, account: SlackAccount): Promise<ConnectedSlack> {
  const { token, name, rotation, apiUrl, timeoutMs, nowMs } = parseParams(SlackAccount, account);
  const call = createSlackCall({ apiUrl, timeoutMs }, async () => token);
  const { user_id, user, team, team_id, response_metadata } = await call("auth.test", {}, Identity);
  const granted = response_metadata?.scopes;
  if (!granted)
    throw new ConnectorError("tool_error", "Slack named no scopes of the token", { fix: "use a token of an app" });
  const teamName = toLine(team ?? team_id ?? "workspace", 100);
  const connection: StoredConnection = {
    id: `slack/${toLine(name ?? teamName, 100)}`,
    kind: "slack",
    account: user_id,
    domains: ["channels"],
    createdAt: new Date(nowMs).toISOString(),
    settings: { team: teamName, ...(apiUrl === slackApiUrlDefault ? {} : { apiUrl }) },
  };
  await store.put(connection, { token, ...rotation });
  const needed = isBotToken(token) ? slackScopes.bot : slackScopes.user;
  const missingScopes = needed.filter((scope) => !granted.includes(scope));
  return { connection, team: teamName, user: toLine(user ?? user_id, 100), missingScopes };
}

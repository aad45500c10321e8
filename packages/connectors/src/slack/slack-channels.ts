import type { Clock } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { z } from "zod";
import { createOnce } from "../idempotency/once.ts";
import {
  ChannelQuery,
  ChannelSearch,
  type ChannelsConnector,
  NewChannelMessage,
  ThreadQuery,
} from "../ports/channels.ts";
import { ChangeOptions, type ConnectionStatus } from "../ports/connection.ts";
import { ConnectorError, parseParams } from "../ports/connector-error.ts";
import type { ConnectionStore, OpenedConnection } from "../tokens/connections.ts";
import { fixedSlackAccess, type SlackAccess, storedSlackAccess } from "./slack-access.ts";
import { createSlackCall, type SlackCall, slackApiUrlDefault, slackTimeoutMsDefault } from "./slack-api.ts";
import { createSlackDirectory } from "./slack-directory.ts";
import { readChannelMessages, readThread, type SlackScope } from "./slack-messages.ts";
import { postSlackMessage } from "./slack-post.ts";
import { searchByIndex, searchByReading } from "./slack-search.ts";
import { Identity } from "./slack-shapes.ts";

/** Options of `createSlackChannels`. */
export const SlackOptions = z.strictObject({
  /** A bot token (`xoxb-…`) or a user token (`xoxp-…`). */
  token: z.string().min(1),
  /** The base URL of the Web API. */
  apiUrl: z.url().default(slackApiUrlDefault),
  timeoutMs: z.int().min(1).default(slackTimeoutMsDefault),
  clock: z.custom<Pick<Clock, "now">>().default(() => systemClock()),
});
export type SlackOptions = z.input<typeof SlackOptions>;

/**
 * The channels of a workspace of Slack, with one token.
 *
 * @example
 * const channels = createSlackChannels({ token: process.env.SLACK_TOKEN ?? "" });
 * const { items } = await channels.channelMessages({ channel: "#general" });
 */
export function createSlackChannels(options: SlackOptions): ChannelsConnector {
  const { token, ...rest } = parseParams(SlackOptions, options);
  return slackChannels(fixedSlackAccess(token), rest);
}

/**
 * The channels of a connected account, whose token is read from the store and replaced if it expires.
 *
 * @example
 * const opened = await store.get("slack/acme");
 * const channels = opened && openSlackChannels(store, opened);
 */
export function openSlackChannels(
  store: ConnectionStore,
  opened: OpenedConnection,
  options: Omit<SlackOptions, "token"> = {},
): ChannelsConnector {
  const apiUrl = opened.connection.settings.apiUrl ?? slackApiUrlDefault;
  const { token: _, ...rest } = parseParams(SlackOptions, { apiUrl, ...options, token: "stored" });
  return slackChannels(storedSlackAccess(store, opened, { api: rest, clock: rest.clock }), rest);
}

function slackChannels(
  access: SlackAccess,
  { clock, ...api }: Omit<z.output<typeof SlackOptions>, "token">,
): ChannelsConnector {
  const call = createSlackCall(api, () => access.token());
  const scope: SlackScope = { call, directory: createSlackDirectory(call, clock) };
  const once = createOnce();
  return {
    status: () => readStatus(call, access),
    channelMessages: async (query) => readChannelMessages(scope, parseParams(ChannelQuery, query)),
    async searchMessages(search) {
      const parsed = parseParams(ChannelSearch, search);
      return isBotToken(await access.token()) ? searchByReading(scope, parsed) : searchByIndex(scope, parsed);
    },
    threadReplies: async (query) => readThread(scope, parseParams(ThreadQuery, query)),
    userInfo: async (user) => scope.directory.findUser(String(user)),
    async postMessage(message, options) {
      const content = parseParams(NewChannelMessage, message);
      const key = parseParams(ChangeOptions, options).idempotencyKey;
      return once(key, () => postSlackMessage(scope, clock, content, key));
    },
    ...(access.refresh ? { refresh: () => access.refresh?.() ?? Promise.resolve() } : {}),
  };
}

const botNote = "a bot token searches the newest 1,000 messages of at most 20 channels that the bot is a member of";

export function isBotToken(token: string): boolean {
  return /^(xoxe\.)?xoxb-/.test(token);
}

async function readStatus(call: SlackCall, access: SlackAccess): Promise<ConnectionStatus> {
  const unknown = { account: access.account, canWrite: false, rateLimit: null, note: null };
  if (await access.isExpired()) return { ...unknown, auth: "expired" };
  try {
    const { user_id, response_metadata } = await call("auth.test", {}, Identity);
    const scopes = response_metadata?.scopes;
    const canWrite = !scopes || scopes.includes("chat:write");
    const note = isBotToken(await access.token()) ? botNote : null;
    return { account: user_id, auth: "valid", canWrite, rateLimit: null, note };
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError) || thrown.type !== "auth") throw thrown;
    return { ...unknown, auth: thrown.message.includes("token_expired") && access.refresh ? "expired" : "revoked" };
  }
}

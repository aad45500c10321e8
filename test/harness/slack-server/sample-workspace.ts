import { sampleChannelMessages, sampleChannels, sampleMembers } from "../../conformance/channels-connector.ts";
import { allScopes, type SlackMessage, type SlackWorkspace } from "./slack-workspace.ts";

export const userToken = "xoxp-user-token-1";
export const botToken = "xoxb-bot-token-1";

/** The sample workspace of the conformance suite of channels, with a token of `Me` and one of a bot. */
export function sampleWorkspace(options: { nowMs?: () => number; scopes?: readonly string[] } = {}): SlackWorkspace {
  const { nowMs = () => Date.now(), scopes = allScopes } = options;
  const member = {
    id: "U9",
    handle: "me",
    name: "Me",
    email: "me@acme.example",
    title: null,
    timeZone: null,
    isBot: false,
  };
  return {
    users: [...sampleMembers, member].map(({ id, handle, name, email, title, timeZone, isBot }) => ({
      ...{ id, name: handle, real_name: name, tz: timeZone, is_bot: isBot },
      profile: { real_name: name, ...(email ? { email } : {}), ...(title ? { title } : {}) },
    })),
    channels: sampleChannels.map((channel) => ({ ...channel })),
    messages: sampleChannelMessages.map(toSlackMessage),
    tokens: new Map([
      [userToken, { user: "U9", isBot: false, scopes, state: "valid" }],
      [
        botToken,
        { user: "U9", isBot: true, scopes: scopes.filter((scope) => scope !== "search:read"), state: "valid" },
      ],
    ]),
    refreshTokens: new Map(),
    nowMs,
  };
}

/** Slack's id of a message of the sample. */
export function sampleTs(id: string): string {
  const found = sampleChannelMessages.find((message) => message.id === id);
  return found ? `${Date.parse(found.sentAt) / 1_000}.000${id}00` : id;
}

function toSlackMessage({ id, channel, author, text, thread }: (typeof sampleChannelMessages)[number]): SlackMessage {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const isBot = sampleMembers.find((member) => member.id === author)?.isBot ?? false;
  return {
    ...{ channel, ts: sampleTs(id), user: author, text: escaped },
    ...(isBot ? { bot_id: `B${author.slice(1)}` } : {}),
    ...(thread === null ? {} : { thread_ts: sampleTs(thread) }),
  };
}

import type { z } from "zod";
import { slackText } from "../import/slack-text.ts";
import type { ChannelMessage, ChannelQuery, ThreadQuery } from "../ports/channels.ts";
import { ConnectorError } from "../ports/connector-error.ts";
import type { Page } from "../ports/page.ts";
import { toLine } from "../ports/person.ts";
import { toIso } from "../time/zoned-instant.ts";
import type { SlackCall } from "./slack-api.ts";
import type { SlackDirectory } from "./slack-directory.ts";
import { MessageList, msOfTs, type SlackMessage, tsOfMicros } from "./slack-shapes.ts";

/** One account of Slack, with everything that the operations need. */
export interface SlackScope {
  call: SlackCall;
  directory: SlackDirectory;
}

/** Slack's arguments for a span of time. `until` is not a part of it. */
export function spanArgs({
  since,
  until,
}: Pick<z.output<typeof ChannelQuery>, "since" | "until">): Record<string, unknown> {
  return {
    ...(since === null ? {} : { oldest: tsOfMicros(Date.parse(since) * 1_000) }),
    ...(until === null ? {} : { latest: tsOfMicros(Date.parse(until) * 1_000 - 1) }),
    ...(since === null && until === null ? {} : { inclusive: true }),
  };
}

/** Messages of a channel. A reply that was also sent to the channel belongs to its thread. */
export async function readChannelMessages(
  scope: SlackScope,
  query: z.output<typeof ChannelQuery>,
): Promise<Page<ChannelMessage>> {
  const channel = await scope.directory.findChannel(query.channel);
  const cursor = query.cursor === null ? {} : { cursor: query.cursor };
  const args = { channel: channel.id, limit: query.limit, ...spanArgs(query), ...cursor };
  const { messages, response_metadata } = await scope.call("conversations.history", args, MessageList);
  const roots = messages.filter((message) => threadOf(message) === null);
  return { items: await toMessages(scope, channel, roots), nextCursor: response_metadata?.next_cursor || null };
}

export async function readThread(
  scope: SlackScope,
  query: z.output<typeof ThreadQuery>,
): Promise<Page<ChannelMessage>> {
  const channel = await scope.directory.findChannel(query.channel);
  checkTs(query.message, "message");
  const cursor = query.cursor === null ? {} : { cursor: query.cursor };
  const args = { channel: channel.id, ts: query.message, limit: query.limit, ...cursor };
  const { messages, response_metadata } = await scope.call("conversations.replies", args, MessageList);
  // Slack repeats the first message on each page.
  const fresh = query.cursor === null ? messages : messages.filter(({ ts }) => ts !== query.message);
  return { items: await toMessages(scope, channel, fresh), nextCursor: response_metadata?.next_cursor || null };
}

/** Throws `params` for an id that no message of Slack can have. */
export function checkTs(id: string, param: string): void {
  if (/^\d{1,12}\.\d{1,9}$/.test(id)) return;
  throw new ConnectorError("params", `the channel has no message ${JSON.stringify(id)}`, {
    param,
    fix: "read the channel and use the id of a message",
  });
}

/** The first message of the thread, for a reply. */
export function threadOf({ ts, thread_ts }: Pick<SlackMessage, "ts" | "thread_ts">): string | null {
  return thread_ts && thread_ts !== ts ? thread_ts : null;
}

/** Messages with names for the ids of their authors and of the members and channels in their text. */
export async function toMessages(
  scope: SlackScope,
  channel: { id: string; name: string },
  messages: readonly SlackMessage[],
): Promise<ChannelMessage[]> {
  const ids = new Set(messages.flatMap(({ user, text }) => [...(user ? [user] : []), ...mentionsIn(text ?? "")]));
  const names = new Map<string, { name: string; handle: string }>();
  for (const id of [...ids].slice(0, lookupsMax)) {
    const user = await scope.directory.userById(id);
    if (user) names.set(id, user);
  }
  const hasChannels = messages.some(({ text }) => /<#[A-Z]/.test(text ?? ""));
  const channels = hasChannels ? await scope.directory.channels() : [];
  const textNames = {
    handles: new Map([...names].map(([id, { handle }]) => [id, handle])),
    channels: new Map(channels.map(({ id, name }) => [id, name])),
  };
  return messages.map((message) => ({
    id: message.ts,
    channel: { id: channel.id, name: channel.name },
    author: authorOf(message, names),
    text: slackText(textOf(message), textNames),
    sentAt: toIso(msOfTs(message.ts)),
    thread: threadOf(message),
    replyCount: message.reply_count ?? 0,
    reactions: (message.reactions ?? []).map(({ name, count }) => ({ name: toLine(name, 100), count })),
  }));
}

/** Members whose names are looked up for one page. Others keep their id. */
const lookupsMax = 200;

function mentionsIn(text: string): string[] {
  return [...text.matchAll(/<@([UW][A-Z0-9]{1,20})[|>]/g)].map(([, id = ""]) => id);
}

function authorOf({ user, bot_id, username }: SlackMessage, names: ReadonlyMap<string, { name: string }>) {
  const id = user ?? bot_id ?? toLine(username ?? "unknown", 100);
  return { id, name: names.get(id)?.name ?? toLine(username ?? id, 200) };
}

/** Apps can put their text into attachments only. */
function textOf({ text, attachments }: SlackMessage): string {
  if (text) return text;
  return (attachments ?? []).map((each) => each.text ?? each.fallback ?? "").join("\n");
}

import type { Tool } from "@troupe/core/tool";
import { z } from "zod";
import type { ChannelsConnector } from "../../ports/channels.ts";
import type { OfficeConnection } from "../calls/office-call.ts";
import { readingTool } from "../calls/office-tool.ts";
import type { OfficeToolDeps } from "../calls/tool-options.ts";
import { Instant, ItemId, pageArguments } from "../text/arguments.ts";
import { channelSources, messageOutput } from "./channel-output.ts";
import { rangeFields, readRange } from "./time-range.ts";

export const ChannelName = z.string().min(1, "is empty").max(100).describe("A name with or without #, or an id");

/** The reading tools of the domain slack, without the analysis. */
export function readChannelTools(deps: OfficeToolDeps): Tool[] {
  return [channelMessages(deps), searchMessages(deps), threadReplies(deps), userInfo(deps)];
}

function channelMessages(deps: OfficeToolDeps): Tool {
  return readingTool(
    {
      domain: "slack",
      name: "slack_get_channel_messages",
      description: "Reads the messages of a channel, newest first, without replies in threads. Members wrote them.",
      input: z.strictObject({ channel: ChannelName, ...rangeFields, ...pageArguments(100) }),
      async run({ channel, limit, page, ...span }, call) {
        const channels = await call.connect("channels");
        const range = await readRange(span, { nowMs: call.deps.clock.now(), timeZone: await userZone(channels) });
        const query = { channel, since: range.from, until: range.to, limit, cursor: page };
        const found = await channels.call((port) => port.channelMessages(query));
        const name = found.items[0]?.channel.name ?? channel.replace(/^#/, "");
        const messages = found.items.map(messageOutput);
        return {
          output: { channel: name, messages, ...range, next_page: found.nextCursor },
          ...channelSources(found.items),
        };
      },
    },
    deps,
  );
}

/** Words such as "yesterday" are days of the user. */
export async function userZone(channels: OfficeConnection<ChannelsConnector>): Promise<string> {
  try {
    const { timeZone } = await channels.call((port) => port.userInfo(channels.account));
    return timeZone ?? "UTC";
  } catch {
    return "UTC";
  }
}

function searchMessages(deps: OfficeToolDeps): Tool {
  return readingTool(
    {
      domain: "slack",
      name: "slack_search_messages",
      description: "Searches all channels, replies included, newest first. All given fields must match.",
      input: z.strictObject({
        text: z.string().max(500).default("").describe("Words that must all occur; a phrase in double quotes"),
        channel: ChannelName.nullable().default(null),
        from: z.string().min(1).max(200).nullable().default(null).describe("A handle, an address or an id"),
        since: Instant.nullable().default(null),
        until: Instant.nullable().default(null),
        ...pageArguments(20),
      }),
      async run({ page, ...query }, call) {
        const channels = await call.connect("channels");
        const found = await channels.call((port) => port.searchMessages({ ...query, cursor: page }));
        const output = { messages: found.items.map(messageOutput), next_page: found.nextCursor };
        return { output, ...channelSources(found.items) };
      },
    },
    deps,
  );
}

function threadReplies(deps: OfficeToolDeps): Tool {
  return readingTool(
    {
      domain: "slack",
      name: "slack_get_thread_replies",
      description: "Reads a thread: its first message and the replies, oldest first.",
      input: z.strictObject({ channel: ChannelName, message_id: ItemId, ...pageArguments(100) }),
      async run({ channel, message_id, limit, page }, call) {
        const channels = await call.connect("channels");
        const query = { channel, message: message_id, limit, cursor: page };
        const found = await channels.call((port) => port.threadReplies(query));
        const output = { messages: found.items.map(messageOutput), next_page: found.nextCursor };
        return { output, ...channelSources(found.items) };
      },
    },
    deps,
  );
}

function userInfo(deps: OfficeToolDeps): Tool {
  return readingTool(
    {
      domain: "slack",
      name: "slack_get_user_info",
      description: "Finds a member of the workspace.",
      input: z.strictObject({
        user: z.string().min(1).max(200).describe("A handle, an address, a full name or an id"),
      }),
      async run({ user }, call) {
        const channels = await call.connect("channels");
        const found = await channels.call((port) => port.userInfo(user));
        const { id, handle, name, email, title, timeZone, isBot } = found;
        return { output: { user: { user_id: id, handle, name, email, title, time_zone: timeZone, is_bot: isBot } } };
      },
    },
    deps,
  );
}

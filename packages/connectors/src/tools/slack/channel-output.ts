import type { ChannelMessage } from "../../ports/channels.ts";
import type { OfficeResult } from "../calls/office-tool.ts";

/** A message of a channel as JSON. */
export function messageOutput({ id, channel, author, text, sentAt, thread, replyCount, reactions }: ChannelMessage) {
  return {
    ...{ message_id: id, channel: channel.name, author: author.name, author_id: author.id, text, sent_at: sentAt },
    ...{ thread_id: thread, reply_count: replyCount, reactions },
  };
}

/** The sources of messages: members wrote them, and a channel is private. */
export function channelSources(messages: readonly ChannelMessage[]): Pick<OfficeResult, "untrusted" | "private"> {
  const names = [...new Set(messages.map(({ channel }) => channel.name))];
  if (names.length === 0) return {};
  return { untrusted: names.map((name) => `messages in #${name}`), private: names.map((name) => `channel #${name}`) };
}

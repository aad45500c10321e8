import { createHash } from "node:crypto";
import type { Clock } from "@troupe/core";
import type { z } from "zod";
import { keyReused } from "../idempotency/keyed-content.ts";
import type { ChannelMessage, NewChannelMessage } from "../ports/channels.ts";
import { ConnectorError } from "../ports/connector-error.ts";
import type { SlackChannel } from "./slack-directory.ts";
import { checkTs, type SlackScope, threadOf, toMessages } from "./slack-messages.ts";
import { MessageList, PostAnswer, type SlackMessage, tsOfMicros } from "./slack-shapes.ts";

/** The mark of a posted message. Slack shows it to apps, not to people. */
const eventType = "troupe_post";
/** An earlier post is looked for among the messages of this time, and of these at most 1,000. */
const lookBackMs = 24 * 3_600_000;
const pageSize = 200;
const pagesMax = 5;

/**
 * Posts a message. Slack has no idempotency keys, so the message carries a hash of the key, and the channel is searched for
 * it before each post.
 */
export async function postSlackMessage(
  scope: SlackScope,
  clock: Pick<Clock, "now">,
  { channel: given, text, thread: answered }: z.output<typeof NewChannelMessage>,
  key: string,
): Promise<ChannelMessage> {
  const channel = await scope.directory.findChannel(given);
  const thread = answered === null ? null : await findThread(scope, channel, answered);
  const mark = { key: hashOf(key), content: hashOf(JSON.stringify([channel.id, thread, text])) };
  const earlier = await findEarlier(scope, clock, { channel, thread, key: mark.key });
  const posted = earlier ?? (await post(scope, { channel, thread, text, mark }));
  if (earlier && earlier.metadata?.event_payload.content !== mark.content) {
    throw keyReused(key);
  }
  const [message] = await toMessages(scope, channel, [posted]);
  if (message) return message;
  throw new ConnectorError("tool_error", "Slack returned no message");
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}

async function findThread({ call }: SlackScope, { id: channel }: SlackChannel, message: string): Promise<string> {
  checkTs(message, "thread");
  try {
    const { messages } = await call("conversations.replies", { channel, ts: message, limit: 1 }, MessageList);
    const found = messages.find(({ ts }) => ts === message);
    if (found) return threadOf(found) ?? message;
  } catch (thrown) {
    if (!(thrown instanceof ConnectorError) || thrown.param !== "message") throw thrown;
  }
  throw new ConnectorError("params", `the channel has no message ${JSON.stringify(message)}`, {
    param: "thread",
    fix: "read the channel and use the id of a message",
  });
}

interface Place {
  channel: SlackChannel;
  thread: string | null;
}

async function findEarlier(
  { call }: SlackScope,
  clock: Pick<Clock, "now">,
  { channel, thread, key }: Place & { key: string },
): Promise<SlackMessage | null> {
  const method = thread === null ? "conversations.history" : "conversations.replies";
  const oldest = tsOfMicros((clock.now() - lookBackMs) * 1_000);
  let cursor = {};
  for (let page = 0; page < pagesMax; page += 1) {
    const place = { channel: channel.id, ...(thread === null ? {} : { ts: thread }) };
    const args = { ...place, oldest, limit: pageSize, include_all_metadata: true, ...cursor };
    const { messages, response_metadata } = await call(method, args, MessageList);
    const found = messages.find(
      ({ metadata }) => metadata?.event_type === eventType && metadata.event_payload.key === key,
    );
    if (found) return found;
    if (!response_metadata?.next_cursor) return null;
    cursor = { cursor: response_metadata.next_cursor };
  }
  return null;
}

async function post(
  { call }: SlackScope,
  { channel, thread, text, mark }: Place & { text: string; mark: Record<string, string> },
): Promise<SlackMessage> {
  const answer = await call(
    "chat.postMessage",
    {
      channel: channel.id,
      text: text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
      ...(thread === null ? {} : { thread_ts: thread }),
      // The text is shown as it is: no formats, and no names that notify people.
      ...{ mrkdwn: false, parse: "none", link_names: false },
      metadata: { event_type: eventType, event_payload: mark },
    },
    PostAnswer,
  );
  return { ...answer.message, ts: answer.ts };
}

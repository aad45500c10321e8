import type { Tool } from "@troupe/core/tool";
import { z } from "zod";
import type { ChannelMessage, ChannelsConnector } from "../../ports/channels.ts";
import type { OfficeConnection } from "../calls/office-call.ts";
import { readingTool } from "../calls/office-tool.ts";
import type { OfficeToolDeps } from "../calls/tool-options.ts";
import { analyzeConversation } from "./analysis/analyze-conversation.ts";
import { channelSources } from "./channel-output.ts";
import { ChannelName, userZone } from "./read-channel-tools.ts";
import { rangeFields, readRange } from "./time-range.ts";

/** Each thread is a call to the server. The threads with the most replies count. */
const threadsMax = 20;

/** `slack_analyze_conversation`. */
export function analyzeTool(deps: OfficeToolDeps): Tool {
  return readingTool(
    {
      domain: "slack",
      name: "slack_analyze_conversation",
      description:
        "Extracts participants, topics, decisions, questions, action items, links and important messages of a channel, with " +
        "the replies in threads. Members wrote the texts.",
      input: z.strictObject({ channel: ChannelName, ...rangeFields, limit: z.int().min(1).max(100).default(100) }),
      async run({ channel, limit, ...span }, call) {
        const channels = await call.connect("channels");
        const range = await readRange(span, { nowMs: call.deps.clock.now(), timeZone: await userZone(channels) });
        const query = { channel, since: range.from, until: range.to, limit };
        const found = await channels.call((port) => port.channelMessages(query));
        const { messages, leftOut } = await withReplies(found.items, { channel, channels });
        const name = found.items[0]?.channel.name ?? channel.replace(/^#/, "");
        const isPartial = found.nextCursor !== null || leftOut > 0;
        return {
          output: { channel: name, ...range, ...analyzeConversation(messages), partial: isPartial },
          ...channelSources(messages),
        };
      },
    },
    deps,
  );
}

/** The messages with the replies in their threads. */
async function withReplies(
  messages: readonly ChannelMessage[],
  { channel, channels }: { channel: string; channels: OfficeConnection<ChannelsConnector> },
): Promise<{ messages: ChannelMessage[]; leftOut: number }> {
  const threads = messages.filter(({ replyCount }) => replyCount > 0);
  const read = threads.toSorted((a, b) => b.replyCount - a.replyCount).slice(0, threadsMax);
  const all = [...messages];
  for (const { id } of read) {
    const replies = await channels.call((port) => port.threadReplies({ channel, message: id, limit: 100 }));
    all.push(...replies.items);
  }
  return { messages: all, leftOut: threads.length - read.length };
}

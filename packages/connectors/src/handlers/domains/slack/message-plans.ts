import { z } from "zod";
import type { RequestPlan } from "../../base/define-domain-agent.ts";
import { capitalized, countOf, momentText, oneLine, quoted } from "../../base/wording.ts";
import { ChannelWindow, windowArgs, windowOf, windowText } from "./channel-window.ts";
import { FoundPosts, postLines } from "./found-posts.ts";

/** The messages of a channel. */
export const messagesPlan: RequestPlan = {
  expectedFormat: "A list of messages with author and time.",
  criteria: { messages: "The messages of the channel are listed." },
  prepare: ({ params }) => windowOf(params),
  *work({ params, read, timeZone }) {
    const window = ChannelWindow.parse(params);
    const { messages, next_page } = yield* read(FoundPosts, "slack_get_channel_messages", windowArgs(window));
    const where = `#${oneLine(window.channel)}`;
    const when = windowText(window, timeZone);
    if (messages.length === 0) return { summary: `${where} has no messages ${when}.` };
    return {
      summary: `${where} has ${next_page ? "more than " : ""}${countOf(messages.length, "message")} ${when}.`,
      details: postLines(messages, timeZone),
    };
  },
};

const Range = z.object({ from: z.string(), to: z.string() });
const text = z.string().optional();
const SearchParams = z.object({ text: z.string(), channel: text, from: text, range: Range.optional() });
const limitDefault = 20;

/** Searches all channels, or one. */
export const searchPlan: RequestPlan = {
  expectedFormat: "A list of messages with author, channel and time.",
  criteria: { messages: "The fitting messages are listed." },
  *work({ params, read, timeZone }) {
    const { text: words, channel, from, range } = SearchParams.parse(params);
    const args = { text: words, channel, from, since: range?.from, until: range?.to, limit: limitDefault };
    const { messages, next_page } = yield* read(FoundPosts, "slack_search_messages", args);
    const where = channel === undefined ? "" : ` in #${oneLine(channel)}`;
    const which = `about ${quoted(words)}${from === undefined ? "" : ` from ${oneLine(from)}`}${where}`;
    const [newest] = messages;
    if (!newest) return { summary: `Found no messages ${which}.`, missing: ["No message fits the search."] };
    const count = `${next_page ? "more than " : ""}${countOf(messages.length, "message")}`;
    const last = `${oneLine(newest.author)} on ${momentText(newest.sent_at, timeZone)}`;
    return {
      summary: `${capitalized(count)} ${which}. The newest is by ${last}.`,
      details: postLines(messages, timeZone),
    };
  },
};

const ThreadParams = z.object({ message: z.string(), channel: z.string() });

/** A message and its replies. */
export const threadPlan: RequestPlan = {
  expectedFormat: "The first message and its replies, oldest first.",
  criteria: { messages: "The thread is read." },
  *work({ params, read, timeZone }) {
    const { message, channel } = ThreadParams.parse(params);
    const args = { channel, message_id: message, limit: 100 };
    const { messages } = yield* read(FoundPosts, "slack_get_thread_replies", args);
    const replies = messages.filter(({ message_id }) => message_id !== message);
    const [first] = messages;
    const by = first ? ` to the message of ${oneLine(first.author)} on ${momentText(first.sent_at, timeZone)}` : "";
    return {
      summary: `${capitalized(countOf(replies.length, "reply", "replies"))}${by}, in #${oneLine(channel)}.`,
      details: postLines(messages, timeZone),
    };
  },
};

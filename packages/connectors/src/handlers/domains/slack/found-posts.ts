import { z } from "zod";
import { bullets, momentText, oneLine } from "../../base/wording.ts";

/** The name of a person: a text, or the name of an object. */
const Author = z
  .union([z.string(), z.object({ name: z.string().default(""), id: z.string().default("") })])
  .transform((author) => (typeof author === "string" ? author : author.name || author.id));

/** The name of a channel: a text, or the name of an object. */
export const ChannelName = z
  .union([z.string(), z.object({ name: z.string() })])
  .transform((channel) => (typeof channel === "string" ? channel : channel.name).replace(/^#/, ""));

const FoundPost = z.object({
  message_id: z.string(),
  author: Author,
  text: z.string(),
  sent_at: z.string(),
  channel: ChannelName.optional(),
  reply_count: z.number().default(0),
});
export type FoundPost = z.output<typeof FoundPost>;

export const FoundPosts = z.object({
  channel: ChannelName.optional(),
  messages: z.array(FoundPost),
  next_page: z.string().nullish(),
});

/** Messages as a list: each is one line, because strangers wrote them. */
export function postLines(posts: readonly FoundPost[], timeZone: string): string {
  const channels = new Set(posts.map(({ channel }) => channel));
  return bullets(
    posts.map(({ author, text, sent_at, channel, reply_count }) => {
      const where = channel === undefined || channels.size === 1 ? "" : ` in #${oneLine(channel)}`;
      const replies = reply_count === 0 ? "" : ` (${reply_count} ${reply_count === 1 ? "reply" : "replies"})`;
      return `${oneLine(author)}${where}, ${momentText(sent_at, timeZone)}: ${oneLine(text, 300)}${replies}`;
    }),
  );
}

import { z } from "zod";

/** Slack's answers, as far as the adapter reads them. */
export const Ts = z.string().regex(/^\d{1,12}\.\d{1,9}$/, "is not a time of Slack");
const id = z.string().min(1).max(100);
const cursorFields = { response_metadata: z.object({ next_cursor: z.string().nullish() }).nullish() };

export const Identity = z.object({
  user_id: id,
  user: z.string().nullish(),
  team: z.string().nullish(),
  team_id: z.string().nullish(),
  bot_id: z.string().nullish(),
  response_metadata: z.object({ scopes: z.array(z.string()).nullish() }).nullish(),
});

export const Channel = z.object({
  id,
  name: z.string().nullish(),
  is_archived: z.boolean().nullish(),
  is_member: z.boolean().nullish(),
});
export type Channel = z.infer<typeof Channel>;
export const ChannelList = z.object({ channels: z.array(Channel), ...cursorFields });
export const ChannelAnswer = z.object({ channel: Channel });

export const User = z.object({
  id,
  name: z.string().nullish(),
  real_name: z.string().nullish(),
  tz: z.string().nullish(),
  is_bot: z.boolean().nullish(),
  deleted: z.boolean().nullish(),
  profile: z
    .object({
      real_name: z.string().nullish(),
      display_name: z.string().nullish(),
      email: z.string().nullish(),
      title: z.string().nullish(),
    })
    .nullish(),
});
export type User = z.infer<typeof User>;
export const UserList = z.object({ members: z.array(User), ...cursorFields });
export const UserAnswer = z.object({ user: User });

export const SlackMessage = z.object({
  ts: Ts,
  thread_ts: z.string().nullish(),
  user: z.string().max(100).nullish(),
  bot_id: z.string().max(100).nullish(),
  username: z.string().nullish(),
  text: z.string().nullish(),
  reply_count: z.number().nullish(),
  reactions: z.array(z.object({ name: z.string(), count: z.number() })).nullish(),
  attachments: z.array(z.object({ fallback: z.string().nullish(), text: z.string().nullish() })).nullish(),
  metadata: z.object({ event_type: z.string(), event_payload: z.record(z.string(), z.unknown()) }).nullish(),
});
export type SlackMessage = z.infer<typeof SlackMessage>;
export const MessageList = z.object({ messages: z.array(SlackMessage), ...cursorFields });
export const PostAnswer = z.object({ channel: id, ts: Ts, message: SlackMessage });

export const SearchAnswer = z.object({
  messages: z.object({
    matches: z.array(
      SlackMessage.extend({
        channel: z.object({
          id,
          name: z.string().nullish(),
          is_im: z.boolean().nullish(),
          is_mpim: z.boolean().nullish(),
        }),
        permalink: z.string().nullish(),
      }),
    ),
    paging: z.object({ page: z.number(), pages: z.number() }),
  }),
});

export const RotatedToken = z.object({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1),
  expires_in: z.number().positive(),
});

/** The milliseconds of a time of Slack, whose microseconds make it unique in a channel. */
export function msOfTs(ts: string): number {
  return Math.floor(Number(ts) * 1_000 + fraction);
}

/** Less than a microsecond: the nearest binary number can be a little smaller than the written one. */
const fraction = 0.0005;

/** A time of Slack for microseconds since 1970. */
export function tsOfMicros(micros: number): string {
  const seconds = Math.floor(micros / 1e6);
  return `${seconds}.${String(Math.round(micros - seconds * 1e6)).padStart(6, "0")}`;
}

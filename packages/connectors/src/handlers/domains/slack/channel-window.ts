import { z } from "zod";
import type { PreparedRequest } from "../../base/define-domain-agent.ts";
import type { CallArgs, JsonObject } from "../../base/request-work.ts";
import { rangeWords } from "../../base/wording.ts";

const Range = z.object({ from: z.string(), to: z.string() });

/** The part of a channel that is read. */
export const ChannelWindow = z.object({
  channel: z.string(),
  limit: z.int(),
  /** Like `7d`, until now. */
  time_range: z.string().optional(),
  range: Range.optional(),
});
export type ChannelWindow = z.output<typeof ChannelWindow>;

const timeRangeDefault = "7d";
const limitDefault = 100;

/** Without other words, seven days and a hundred messages are read. */
export function windowOf({ range, limit, ...params }: JsonObject): PreparedRequest {
  const isOpen = range === undefined;
  return {
    params: { ...params, limit: limit ?? limitDefault, ...(isOpen ? { time_range: timeRangeDefault } : { range }) },
    assumptions: isOpen
      ? [`no span is named, so it is the last 7 days${limit === undefined ? `, at most ${limitDefault} messages` : ""}`]
      : [],
  };
}

/** Arguments of a call that reads messages. */
export function windowArgs({ channel, limit, time_range, range }: ChannelWindow): CallArgs {
  return { channel, limit, time_range, since: range?.from, until: range?.to };
}

/** The span for people. */
export function windowText({ range }: ChannelWindow, timeZone: string): string {
  return range ? rangeWords(range, timeZone) : "in the last 7 days";
}

import { z } from "zod";
import { readNewTime } from "../../../phrases/read-new-time.ts";
import { takeDuration } from "../../../phrases/take-duration.ts";
import { toLine } from "../../../ports/person.ts";
import { paramsError } from "../../base/call-failure.ts";
import type { PrepareScope } from "../../base/define-domain-agent.ts";

/** The change of an event that a request asks for. Absent parts stay. */
export const EventChange = z.object({
  title: z.string().exactOptional(),
  /** Like `2026-03-03`. */
  date: z.string().exactOptional(),
  /** Like `14:00`. */
  clock: z.string().exactOptional(),
  end_clock: z.string().exactOptional(),
  /** The new length. */
  minutes: z.number().exactOptional(),
  /** Later, or earlier below 0. */
  shift_minutes: z.number().exactOptional(),
  /** Longer, or shorter below 0. */
  longer_minutes: z.number().exactOptional(),
});
export type EventChange = z.output<typeof EventChange>;

/** Reads the change, such as "from Wednesday to Friday at 11am". `before` has the words about the old time. */
export async function readEventChange(
  text: string,
  task: string,
  { request, timeZone }: PrepareScope,
): Promise<{ change: EventChange; before: string; assumptions: string[] }> {
  const plain = { before: "", assumptions: [] };
  if (/\brename\b/i.test(task)) return { change: { title: titleIn(text) }, ...plain };
  const [, amount] = /^\s*by (.+)$/is.exec(text) ?? [];
  const isLength = /\b(?:extend|shorten)\b/i.test(task);
  if (amount !== undefined) return { change: shiftBy(amount, task, isLength), ...plain };
  const [, before = "", target = text] = /^\s*from (.+?) (?:to|until) (.+)$/is.exec(text) ?? [];
  const { date, clock, endClock, minutes, assumptions } = await readNewTime(target, {
    nowMs: request.nowMs,
    timeZone,
  });
  const change = isLength
    ? { ...(clock === null ? {} : { end_clock: clock }) }
    : {
        ...(date === null ? {} : { date }),
        ...(clock === null ? {} : { clock }),
        ...(endClock === null ? {} : { end_clock: endClock }),
      };
  const length = minutes === null ? {} : { minutes };
  if (Object.keys({ ...change, ...length }).length === 0) {
    throw paramsError(
      "change",
      `${JSON.stringify(toLine(text))} names no new time`,
      "add a day or a time, such as `to Friday at 2 pm`",
    );
  }
  return { change: { ...change, ...length }, before, assumptions };
}

function titleIn(text: string): string {
  const title = toLine(text)
    .replace(/^\s*(?:to|as)\s+/i, "")
    .replace(/^["“'](.*)["”']$/, "$1");
  if (title !== "") return title;
  throw paramsError("change", "the request names no new title", "add it behind `to`");
}

function shiftBy(amount: string, task: string, isLength: boolean): EventChange {
  const minutes = takeDuration({ text: `for ${amount}`, assumptions: [] });
  if (minutes === null) {
    throw paramsError(
      "change",
      `${JSON.stringify(toLine(amount))} is not a length of time`,
      "write it like `by 30 minutes`",
    );
  }
  if (isLength) return { longer_minutes: /\bshorten\b/i.test(task) ? -minutes : minutes };
  return { shift_minutes: /\b(?:forward|earlier)\b/i.test(task) ? -minutes : minutes };
}

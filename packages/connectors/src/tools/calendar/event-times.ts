import { Temporal } from "temporal-polyfill";
import { ConnectorError } from "../../ports/connector-error.ts";
import type { EventTime } from "../../ports/event-time.ts";
import { dayOf, eventInstant } from "../../time/zoned-instant.ts";

/** Start and end of an event, with their instants. */
export interface EventSpan {
  start: EventTime;
  end: EventTime;
  fromMs: number;
  toMs: number;
}

/**
 * Reads the time of an event from its arguments. Throws `params` for a day that does not exist, for a time that the zone skips,
 * and for an end that is not after the start.
 *
 * @example
 * readSpan({ start: "2026-11-24T14:00", end: "2026-11-24T15:00" }, "Europe/Berlin");
 */
export function readSpan({ start, end }: { start: string; end: string }, timeZone: string): EventSpan {
  const [from, to] = [readTime(start, timeZone, "start"), readTime(end, timeZone, "end")];
  return spanOf(from, to, timeZone);
}

/** The span between two times. Days are days of `timeZone`. */
export function spanOf(start: EventTime, end: EventTime, timeZone: string): EventSpan {
  if ("date" in start !== "date" in end) {
    throw new ConnectorError("params", "start and end are not of the same kind", {
      param: "end",
      fix: "give both as a day or both as a time",
    });
  }
  const [fromMs, toMs] = [eventInstant(start, timeZone, "start"), eventInstant(end, timeZone, "end")];
  if (toMs > fromMs) return { start, end, fromMs, toMs };
  throw new ConnectorError("params", `the end, ${timeText(end)}, is not after the start, ${timeText(start)}`, {
    param: "end",
    fix: "date" in end ? "the end of an all-day event is the day after its last day" : "give a later end",
  });
}

/** Reads one time. */
export function readTime(text: string, timeZone: string, param: string): EventTime {
  try {
    if (!text.includes("T")) return { date: Temporal.PlainDate.from(text, { overflow: "reject" }).toString() };
    const wall = Temporal.PlainDateTime.from(text, { overflow: "reject" });
    return { dateTime: wall.toString({ smallestUnit: "second" }), timeZone };
  } catch (cause) {
    throw new ConnectorError("params", `${text} is not a time of the calendar`, {
      param,
      fix: "correct the day or the hour",
      cause,
    });
  }
}

/** Throws `params` for a new event in the past. Today's all-day event is not. */
export function refusePast(
  { start, fromMs }: EventSpan,
  { nowMs, timeZone }: { nowMs: number; timeZone: string },
): void {
  const isPast = "date" in start ? start.date < dayOf(nowMs, timeZone) : fromMs < nowMs;
  if (!isPast) return;
  const now = new Date(nowMs).toISOString().slice(0, 16);
  throw new ConnectorError("params", `${timeText(start)} is in the past: it is ${now} UTC`, {
    param: "start",
    fix: "give a start in the future",
  });
}

/** `2026-11-24T14:00:00`, or `2026-11-24`. */
export function wallText(time: EventTime): string {
  return "date" in time ? time.date : time.dateTime;
}

export function timeText(time: EventTime): string {
  return "date" in time ? time.date : `${time.dateTime.slice(0, 16).replace("T", " ")} ${time.timeZone}`;
}

import { ConnectorError } from "../ports/connector-error.ts";
import type { EventTime, ZonedTime } from "../ports/event-time.ts";
import { eventInstant } from "./zoned-instant.ts";

/** The instants of an event. Throws `params` for a time that the zone skips, and if the end is not after the start. */
export function eventSpan({ start, end }: { start: EventTime; end: EventTime }, timeZone: string) {
  if ("date" in start !== "date" in end) {
    throw new ConnectorError("params", "start and end have to be both days or both times", { param: "end" });
  }
  const startMs = eventInstant(start, timeZone, "start");
  const endMs = eventInstant(end, timeZone, "end");
  if (endMs > startMs) return { startMs, endMs };
  const message = `the event ends (${textOf(end)}) before or when it starts (${textOf(start)})`;
  throw new ConnectorError("params", message, {
    param: "end",
    ...("date" in end ? { fix: "the end of a day event is the day after its last day" } : {}),
  });
}

function textOf(time: EventTime): string {
  return "date" in time ? time.date : `${time.dateTime} ${time.timeZone}`;
}

/** The start of a series, as its rule needs it. A day begins at midnight in the zone of the calendar. */
export function wallStart(start: EventTime, timeZone: string): ZonedTime {
  return "dateTime" in start ? start : { dateTime: `${start.date}T00:00:00`, timeZone };
}

import { Temporal } from "temporal-polyfill";
import { instantOf, toIso, wallTimeOf } from "../../../time/zoned-instant.ts";
import { paramsError } from "../../base/call-failure.ts";
import { momentText } from "../../base/wording.ts";
import type { EventChange } from "./event-change.ts";
import type { FoundEvent } from "./found-events.ts";

/** The new time of an event. */
export interface MovedTime {
  /** Arguments of the change. */
  start: string;
  end: string;
  time_zone: string | undefined;
  /** ISO times. */
  startsAt: string;
  endsAt: string;
  oldStartsAt: string;
  oldEndsAt: string;
  isAllDay: boolean;
}

/** Applies a change to the time of an event. Throws `params` for a time that is over or that the zone skips. */
export function movedTime(
  event: FoundEvent,
  change: EventChange,
  { nowMs, timeZone: calendarZone }: { nowMs: number; timeZone: string },
): MovedTime {
  if (!event.start.includes("T")) return movedDay(event, change, calendarZone);
  const timeZone = event.time_zone ?? calendarZone;
  const [oldFromMs, oldToMs] = [event.start, event.end].map((dateTime) => instantOf({ dateTime, timeZone })) as [
    number,
    number,
  ];
  const [oldDate = "", oldClock = ""] = event.start.split("T");
  const isMoved = change.date !== undefined || change.clock !== undefined;
  const wall = `${change.date ?? oldDate}T${change.clock === undefined ? oldClock : `${change.clock}:00`}`;
  const fromMs =
    (isMoved ? instantOf({ dateTime: wall, timeZone }, "time") : oldFromMs) + minutesMs(change.shift_minutes);
  const day = wallTimeOf(fromMs, timeZone).dateTime.slice(0, 10);
  const toMs =
    change.end_clock === undefined
      ? fromMs +
        (change.minutes === undefined ? oldToMs - oldFromMs : minutesMs(change.minutes)) +
        minutesMs(change.longer_minutes)
      : instantOf({ dateTime: `${day}T${change.end_clock}:00`, timeZone }, "time");
  if (toMs <= fromMs) throw paramsError("time", "the event would end before it begins", "name a later end");
  const start = wallTimeOf(fromMs, timeZone).dateTime;
  if (fromMs < nowMs && fromMs !== oldFromMs) {
    throw paramsError("time", `${momentText(start, timeZone)} (${timeZone}) has passed`, "name a time in the future");
  }
  return {
    ...{ start, end: wallTimeOf(toMs, timeZone).dateTime, time_zone: timeZone, isAllDay: false },
    ...{ startsAt: toIso(fromMs), endsAt: toIso(toMs), oldStartsAt: toIso(oldFromMs), oldEndsAt: toIso(oldToMs) },
  };
}

const minutesMs = (minutes = 0): number => minutes * 60_000;

/** A day event keeps its number of days. A clock time makes no event of a day a shorter one. */
function movedDay(event: FoundEvent, change: EventChange, timeZone: string): MovedTime {
  if (change.date === undefined) {
    throw paramsError("time", "the event is all day, and the request names no day", "name its new day");
  }
  const [from, to, start] = [event.start, event.end, change.date].map((date) => Temporal.PlainDate.from(date)) as [
    Temporal.PlainDate,
    Temporal.PlainDate,
    Temporal.PlainDate,
  ];
  const end = start.add({ days: from.until(to).days });
  const instantAt = (date: Temporal.PlainDate): string => toIso(date.toZonedDateTime(timeZone).epochMilliseconds);
  return {
    ...{ start: start.toString(), end: end.toString(), time_zone: undefined, isAllDay: true },
    ...{ startsAt: instantAt(start), endsAt: instantAt(end), oldStartsAt: instantAt(from), oldEndsAt: instantAt(to) },
  };
}

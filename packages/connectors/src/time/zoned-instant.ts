import { Temporal } from "temporal-polyfill";
import { ConnectorError } from "../ports/connector-error.ts";
import type { EventTime, ZonedTime } from "../ports/event-time.ts";

/**
 * The instant of a wall clock time, in ms since 1970. A time that the zone repeats is the earlier one. Throws `params` for a
 * time that the zone skips.
 *
 * @example
 * instantOf({ dateTime: "2026-07-01T12:00:00", timeZone: "Europe/Berlin" }); // 1782900000000
 */
export function instantOf({ dateTime, timeZone }: ZonedTime, param?: string): number {
  const wall = Temporal.PlainDateTime.from(dateTime);
  const zoned = wall.toZonedDateTime(timeZone, { disambiguation: "earlier" });
  if (zoned.toPlainDateTime().equals(wall)) return zoned.epochMilliseconds;
  const after = wall.toZonedDateTime(timeZone, { disambiguation: "later" });
  const day = wall.toPlainDate().toString();
  throw new ConnectorError("params", `${clockOf(wall)} does not exist on ${day} in ${timeZone}`, {
    fix: `the clocks go forward then: use ${clockOf(after.toPlainDateTime())}`,
    ...(param === undefined ? {} : { param }),
  });
}

/** The instant of an event's time. A day begins at midnight in `calendarZone`, or at the first time that it has. */
export function eventInstant(time: EventTime, calendarZone: string, param?: string): number {
  if ("dateTime" in time) return instantOf(time, param);
  return Temporal.PlainDate.from(time.date).toZonedDateTime(calendarZone).epochMilliseconds;
}

/**
 * The wall clock time of an instant.
 *
 * @example
 * wallTimeOf(1782900000000, "Europe/Berlin"); // { dateTime: "2026-07-01T12:00:00", timeZone: "Europe/Berlin" }
 */
export function wallTimeOf(instantMs: number, timeZone: string): ZonedTime {
  const zoned = Temporal.Instant.fromEpochMilliseconds(instantMs).toZonedDateTimeISO(timeZone);
  return { dateTime: zoned.toPlainDateTime().toString({ smallestUnit: "second" }), timeZone };
}

/** The day of an instant in a zone, like `2026-07-01`. */
export function dayOf(instantMs: number, timeZone: string): string {
  return wallTimeOf(instantMs, timeZone).dateTime.slice(0, "2026-07-01".length);
}

/** An ISO time in UTC, like `2026-07-01T10:00:00.000Z`. */
export function toIso(instantMs: number): string {
  return new Date(instantMs).toISOString();
}

/**
 * The end of an event that begins at `start` and lasts as long as before. Of a day event, whole days count. `model` is an end
 * of the same kind as the result.
 */
export function shiftTime(start: EventTime, model: EventTime, durationMs: number): EventTime {
  if ("date" in start) {
    const days = Math.max(1, Math.round(durationMs / dayMs));
    return { date: Temporal.PlainDate.from(start.date).add({ days }).toString() };
  }
  const timeZone = "date" in model ? start.timeZone : model.timeZone;
  return wallTimeOf(instantOf(start) + durationMs, timeZone);
}

const dayMs = 86_400_000;

function clockOf(wall: Temporal.PlainDateTime): string {
  return wall.toPlainTime().toString({ smallestUnit: "minute" });
}

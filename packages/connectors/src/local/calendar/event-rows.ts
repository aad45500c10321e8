import type { CalendarEvent } from "../../ports/calendar.ts";
import type { EventTime } from "../../ports/event-time.ts";
import { dayOf, toIso, wallTimeOf } from "../../time/zoned-instant.ts";
import type { OfficeDatabase } from "../database/office-database.ts";
import type { EventRecord } from "./event-store.ts";

export interface EventRow {
  id: string;
  uid: string;
  series: string | null;
  original_ms: number | null;
  is_cancelled: number;
  title: string;
  description: string;
  location: string;
  organizer_name: string;
  organizer_address: string;
  /** JSON of an event's time. */
  start: string;
  end: string;
  start_ms: number;
  end_ms: number;
  recurrence: string | null;
  visibility: CalendarEvent["visibility"];
  show_as: CalendarEvent["showAs"];
}

/** An occurrence in the index. */
export interface OccurrenceSpan {
  original_ms: number;
  start_ms: number;
  end_ms: number;
}

/** The id of an occurrence, like `evt_1@20260303T130000Z`. */
export function occurrenceId(series: string, originalMs: number): string {
  return `${series}@${toIso(originalMs).replace(/[-:]|\.\d+/g, "")}`;
}

/** The parts of the id of an occurrence. Null for any other id. */
export function parseOccurrenceId(id: string): { series: string; originalMs: number } | null {
  const [, series, year, month, day, hour, minute, second] =
    /^(.+)@(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(id) ?? [];
  if (series === undefined) return null;
  return { series, originalMs: Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) };
}

/** The event of a row. With `occurrence`, that occurrence of a series. */
export function toEvent(
  database: OfficeDatabase,
  row: EventRow,
  timeZone: string,
  occurrence?: OccurrenceSpan,
): CalendarEvent {
  const ofSeries = occurrence !== undefined && row.recurrence !== null;
  const span = ofSeries ? occurrence : row;
  const start: EventTime = JSON.parse(row.start);
  const end: EventTime = JSON.parse(row.end);
  return {
    id: ofSeries ? occurrenceId(row.id, occurrence.original_ms) : row.id,
    series: ofSeries ? row.id : row.series,
    title: row.title,
    start: ofSeries ? timeLike(start, span.start_ms, timeZone) : start,
    end: ofSeries ? timeLike(end, span.end_ms, timeZone) : end,
    startsAt: toIso(span.start_ms),
    endsAt: toIso(span.end_ms),
    description: row.description,
    location: row.location,
    organizer: { name: row.organizer_name, address: row.organizer_address },
    attendees: attendeesOf(database, row.id),
    recurrence: ofSeries ? null : row.recurrence,
    visibility: row.visibility,
    showAs: row.show_as,
  };
}

/** The same instant in the form of another time: a day, or a wall clock time in its zone. */
function timeLike(model: EventTime, instantMs: number, calendarZone: string): EventTime {
  return "date" in model ? { date: dayOf(instantMs, calendarZone) } : wallTimeOf(instantMs, model.timeZone);
}

export function attendeesOf(database: OfficeDatabase, event: string): CalendarEvent["attendees"] {
  return database
    .all<CalendarEvent["attendees"][number]>(
      "SELECT name, address, response FROM attendees WHERE event = ? AND number >= 0 ORDER BY number",
      event,
    )
    .map((attendee) => ({ ...attendee }));
}

/** The stored form of an event that was read. */
export function toRecord(event: CalendarEvent, uid: string, exceptionOf: EventRecord["exceptionOf"]): EventRecord {
  const { id, title, description, location, organizer, attendees, start, end, recurrence, visibility, showAs } = event;
  const fields = { id, uid, title, description, location, organizer, attendees, start, end, recurrence };
  return { ...fields, visibility, showAs, exceptionOf, isCancelled: false };
}

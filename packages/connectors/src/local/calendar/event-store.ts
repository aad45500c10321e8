import { Temporal } from "temporal-polyfill";
import type { CalendarEvent } from "../../ports/calendar.ts";
import type { EventTime } from "../../ports/event-time.ts";
import type { Person } from "../../ports/person.ts";
import { eventSpan, wallStart } from "../../time/event-span.ts";
import { checkRecurrence, expandRecurrence } from "../../time/recurrence.ts";
import { dayOf, eventInstant } from "../../time/zoned-instant.ts";
import type { OfficeDatabase } from "../database/office-database.ts";

/** An event to store, of any origin. */
export interface EventRecord {
  id: string;
  uid: string;
  /** The series and the original start, for an occurrence that differs from its series. */
  exceptionOf: { series: string; originalMs: number } | null;
  isCancelled: boolean;
  title: string;
  description: string;
  location: string;
  organizer: Person;
  attendees: readonly CalendarEvent["attendees"][number][];
  start: EventTime;
  end: EventTime;
  recurrence: string | null;
  visibility: CalendarEvent["visibility"];
  showAs: CalendarEvent["showAs"];
}

/** A calendar with its zone and its present. */
export interface CalendarScope {
  database: OfficeDatabase;
  /** The zone in which a day begins. */
  timeZone: string;
  nowMs: number;
}

const dayMs = 86_400_000;
/** Recurring events are computed this far ahead of now when they are stored. */
const aheadMs = 400 * dayMs;
/** A longer occurrence is in another part of the index, so that a lookup of a day reads few rows. */
export const longMs = 7 * dayMs;

/** Stores an event, or replaces it, with all of its occurrences up to the horizon. */
export function putEvent(scope: CalendarScope, event: EventRecord): void {
  const { database } = scope;
  const { startMs, endMs } = eventSpan(event, scope.timeZone);
  if (event.recurrence !== null)
    checkRecurrence({ rule: event.recurrence, start: wallStart(event.start, scope.timeZone) });
  database.transaction(() => {
    database.run(
      `INSERT INTO events (id, uid, series, original_ms, is_cancelled, title, description, location, organizer_name,
         organizer_address, start, end, start_ms, end_ms, recurrence, expanded_to_ms, visibility, show_as)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET is_cancelled = excluded.is_cancelled, title = excluded.title,
         description = excluded.description, location = excluded.location, organizer_name = excluded.organizer_name,
         organizer_address = excluded.organizer_address, start = excluded.start, end = excluded.end,
         start_ms = excluded.start_ms, end_ms = excluded.end_ms, recurrence = excluded.recurrence,
         expanded_to_ms = excluded.expanded_to_ms, visibility = excluded.visibility, show_as = excluded.show_as`,
      ...[event.id, event.uid, event.exceptionOf?.series ?? null, event.exceptionOf?.originalMs ?? null],
      ...[Number(event.isCancelled), event.title, event.description, event.location],
      ...[event.organizer.name, event.organizer.address, JSON.stringify(event.start), JSON.stringify(event.end)],
      ...[startMs, endMs, event.recurrence, event.recurrence === null ? null : startMs, event.visibility, event.showAs],
    );
    putAttendees(database, event);
    putOccurrences(scope, event, { startMs, endMs });
  });
}

/** The organizer is busy as well, and so has a row, with a negative number if the list does not name the organizer. */
function putAttendees(database: OfficeDatabase, { id, organizer, attendees }: EventRecord): void {
  database.run("DELETE FROM attendees WHERE event = ?", id);
  const add = (number: number, { address, name, response }: EventRecord["attendees"][number]): void => {
    database.run(
      `INSERT INTO attendees (event, address, number, name, response) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (event, address) DO NOTHING`,
      ...[id, address, number, name, response],
    );
  };
  attendees.forEach((attendee, number) => {
    add(number, attendee);
  });
  add(-1, { ...organizer, response: "accepted" });
}

function putOccurrences(
  scope: CalendarScope,
  event: EventRecord,
  { startMs, endMs }: { startMs: number; endMs: number },
) {
  const { database, nowMs } = scope;
  database.run("DELETE FROM occurrences WHERE event = ?", event.id);
  if (event.exceptionOf) {
    const { series, originalMs } = event.exceptionOf;
    database.run("DELETE FROM occurrences WHERE event = ? AND original_ms = ?", series, originalMs);
  }
  if (event.isCancelled) return;
  if (event.recurrence === null) addOccurrence(database, event.id, { originalMs: startMs, startMs, endMs });
  else expandSeries(scope, event.id, Math.max(nowMs, startMs) + aheadMs);
}

interface Occurrence {
  originalMs: number;
  startMs: number;
  endMs: number;
}

function addOccurrence(database: OfficeDatabase, event: string, { originalMs, startMs, endMs }: Occurrence): void {
  database.run(
    `INSERT INTO occurrences (event, original_ms, start_ms, end_ms, is_long) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (event, original_ms) DO NOTHING`,
    ...[event, originalMs, startMs, endMs, Number(endMs - startMs > longMs)],
  );
}

interface SeriesRow {
  start: string;
  end: string;
  start_ms: number;
  end_ms: number;
  recurrence: string;
  expanded_to_ms: number;
}

/** Computes the occurrences of a recurring event up to a time. Occurrences with a row of their own are left out. */
function expandSeries(scope: CalendarScope, series: string, toMs: number): void {
  const { database } = scope;
  const row = database.get<SeriesRow>("SELECT * FROM events WHERE id = ?", series);
  if (!row || row.expanded_to_ms >= toMs) return;
  const exceptions = database.all<{ original_ms: number }>("SELECT original_ms FROM events WHERE series = ?", series);
  const replaced = new Set(exceptions.map(({ original_ms }) => original_ms));
  const recurrence = { rule: row.recurrence, start: wallStart(JSON.parse(row.start), scope.timeZone) };
  for (const startMs of expandRecurrence(recurrence, { fromMs: row.expanded_to_ms, toMs })) {
    if (replaced.has(startMs)) continue;
    addOccurrence(database, series, { originalMs: startMs, startMs, endMs: occurrenceEnd(row, startMs, scope) });
  }
  database.run("UPDATE events SET expanded_to_ms = ? WHERE id = ?", toMs, series);
}

/** Days are counted as days, because a day can have 23 or 25 hours. */
function occurrenceEnd(row: SeriesRow, startMs: number, { timeZone }: CalendarScope): number {
  const [start, end]: EventTime[] = [JSON.parse(row.start), JSON.parse(row.end)];
  if (!start || !end || !("date" in start) || !("date" in end)) return startMs + (row.end_ms - row.start_ms);
  const { days } = Temporal.PlainDate.from(start.date).until(end.date);
  const last = Temporal.PlainDate.from(dayOf(startMs, timeZone)).add({ days });
  return eventInstant({ date: last.toString() }, timeZone);
}

/** Makes sure that the occurrences of all recurring events before `toMs` are in the index. */
export function expandTo(scope: CalendarScope, toMs: number): void {
  const { database } = scope;
  const pending = "SELECT id FROM events WHERE recurrence IS NOT NULL AND expanded_to_ms < ? AND start_ms < ?";
  const rows = database.all<{ id: string }>(pending, toMs, toMs);
  if (rows.length === 0) return;
  database.transaction(() => {
    for (const { id } of rows) expandSeries(scope, id, toMs + aheadMs);
  });
}

import { z } from "zod";
import {
  AvailabilityQuery,
  type CalendarConnector,
  type CalendarEvent,
  EventChanges,
  EventQuery,
  NewEvent,
} from "../../ports/calendar.ts";
import { ChangeOptions } from "../../ports/connection.ts";
import { ConnectorError, parseParams } from "../../ports/connector-error.ts";
import type { Page } from "../../ports/page.ts";
import { horizonMs, parseWindow } from "../../time/query-window.ts";
import { shiftTime } from "../../time/zoned-instant.ts";
import { pageOf, wrongCursor } from "../database/cursor.ts";
import { actOnce, readReceipt } from "../database/receipts.ts";
import { type LocalAccount, localStatus } from "../local-account.ts";
import { shortHash } from "../mail/mail-store.ts";
import { readAvailability } from "./availability.ts";
import { attendeesOf, type EventRow, type OccurrenceSpan, parseOccurrenceId, toEvent, toRecord } from "./event-rows.ts";
import { type CalendarScope, type EventRecord, expandTo, putEvent } from "./event-store.ts";
import { windowHits, windowValues } from "./window.ts";

/** The calendar of a local office. All of its people share it; each sees the events that they organize or attend. */
export function createLocalCalendar(account: LocalAccount): CalendarConnector {
  const { database, clock, person, timeZone } = account;
  return {
    status: async () => localStatus(account, "invitations to people outside this office are not sent", true),
    timeZone: async () => timeZone,
    listEvents: async (query) => listEvents(account, parseParams(EventQuery, query)),
    getEvent: async (id) => readEvent(account, id).event,
    async createEvent(event, options) {
      const content = parseParams(NewEvent, event);
      const key = parseParams(ChangeOptions, options).idempotencyKey;
      const id = actOnce({ database, clock, account: person.address, kind: "event" }, key, content, () => {
        const created = `evt_${shortHash(`${person.address} ${key}`)}`;
        const attendees = content.attendees.map((attendee) => ({ ...attendee, response: "none" as const }));
        const own = { id: created, uid: `${created}@office.local`, organizer: person };
        putEvent(scopeOf(account), { ...content, ...own, attendees, exceptionOf: null, isCancelled: false });
        return created;
      });
      return readEvent(account, id).event;
    },
    async createdEvent(options) {
      const key = parseParams(ChangeOptions, options).idempotencyKey;
      const receipt = readReceipt({ database, clock, account: person.address, kind: "event" }, key);
      return receipt ? (findEvent(account, receipt.result)?.event ?? null) : null;
    },
    updateEvent: async (id, changes) => updateEvent(account, id, parseParams(EventChanges, changes)),
    deleteEvent: async (id) => database.transaction(() => deleteEvent(account, id)),
    checkAvailability: async (query) => readAvailability(account, parseParams(AvailabilityQuery, query)),
  };
}

function scopeOf({ database, clock, timeZone }: LocalAccount): CalendarScope {
  return { database, timeZone, nowMs: clock.now() };
}

interface FoundEvent {
  event: CalendarEvent;
  row: EventRow;
  /** Set for an occurrence of a series. */
  exceptionOf: EventRecord["exceptionOf"];
}

function readEvent(account: LocalAccount, id: string): FoundEvent {
  const found = findEvent(account, id);
  if (found) return found;
  throw new ConnectorError("params", `no event of this calendar has the id ${JSON.stringify(id)}`, {
    param: "id",
    fix: "list the events and use the id of one",
  });
}

/** An event that the user organizes or attends, or one occurrence of it. */
function findEvent(account: LocalAccount, id: string): FoundEvent | null {
  const { database, timeZone } = account;
  const row = visibleRow(account, id);
  const parts = parseOccurrenceId(id);
  if (row) return row.is_cancelled ? null : { row, event: toEvent(database, row, timeZone), exceptionOf: parts };
  const series = parts && visibleRow(account, parts.series);
  if (!series || series.recurrence === null) return null;
  const scope = scopeOf(account);
  if (parts.originalMs <= scope.nowMs + horizonMs) expandTo(scope, parts.originalMs + 1);
  const occurrence = database.get<OccurrenceSpan>(
    "SELECT original_ms, start_ms, end_ms FROM occurrences WHERE event = ? AND original_ms = ?",
    ...[series.id, parts.originalMs],
  );
  if (!occurrence) return null;
  return { row: series, event: toEvent(database, series, timeZone, occurrence), exceptionOf: parts };
}

function visibleRow({ database, person }: LocalAccount, id: string): EventRow | undefined {
  return database.get<EventRow>(
    "SELECT e.* FROM events e JOIN attendees a ON a.event = e.id AND a.address = ? WHERE e.id = ?",
    ...[person.address, id],
  );
}

const Position = z.tuple([z.number(), z.string(), z.number()]);

function listEvents(account: LocalAccount, query: z.output<typeof EventQuery>): Page<CalendarEvent> {
  const { database, clock, person, timeZone } = account;
  const window = parseWindow(query, clock.now());
  expandTo(scopeOf(account), window.toMs);
  const after = query.cursor === null ? [-Number.MAX_SAFE_INTEGER, "", 0] : readCursor(query.cursor);
  const words = query.text.toLowerCase().split(/\s+/).filter(Boolean).slice(0, wordsMax);
  const rows = database.all<EventRow & OccurrenceSpan & { at_ms: number; until_ms: number; original: number }>(
    `${windowHits}
     SELECT e.*, hits.start_ms AS at_ms, hits.end_ms AS until_ms, hits.original_ms AS original FROM hits
       CROSS JOIN attendees a ON a.event = hits.event AND a.address = ? AND a.response <> 'declined'
       CROSS JOIN events e ON e.id = hits.event
       WHERE (hits.start_ms, hits.event, hits.original_ms) > (?, ?, ?)
         AND (? IS NULL OR EXISTS (SELECT 1 FROM attendees b WHERE b.event = e.id AND b.address = ?))
         ${words.map(() => "AND instr(lower(e.title || ' ' || e.description || ' ' || e.location), ?) > 0").join(" ")}
       ORDER BY hits.start_ms, hits.event, hits.original_ms LIMIT ?`,
    ...windowValues(window),
    ...[person.address, ...after, query.attendee, query.attendee, ...words, query.limit + 1],
  );
  return pageOf(
    rows,
    query.limit,
    (row) => toEvent(database, row, timeZone, { original_ms: row.original, start_ms: row.at_ms, end_ms: row.until_ms }),
    (row) => Buffer.from(JSON.stringify([row.at_ms, row.id, row.original])).toString("base64url"),
  );
}

const wordsMax = 20;

function readCursor(cursor: string): z.infer<typeof Position> {
  try {
    return Position.parse(JSON.parse(Buffer.from(cursor, "base64url").toString()));
  } catch {
    throw wrongCursor(cursor);
  }
}

function updateEvent(account: LocalAccount, id: string, changes: z.output<typeof EventChanges>): CalendarEvent {
  const { database, person } = account;
  database.transaction(() => {
    const found = readEvent(account, id);
    const { event, row, exceptionOf } = found;
    if (event.organizer.address !== person.address) {
      throw new ConnectorError("permission", `only the organizer, ${event.organizer.address}, can change this event`);
    }
    if (exceptionOf && changes.recurrence) {
      throw new ConnectorError("params", "one occurrence cannot recur by itself", {
        param: "recurrence",
        fix: `change the series ${exceptionOf.series}`,
      });
    }
    if (!exceptionOf && (changes.start || changes.recurrence !== undefined)) {
      database.run("DELETE FROM events WHERE series = ?", id);
    }
    const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    const attendees = attendeesAfter(changes.attendees, attendeesOf(database, row.id));
    putEvent(scopeOf(account), { ...toRecord(movedEvent(found, changes), row.uid, exceptionOf), ...given, attendees });
  });
  return readEvent(account, id).event;
}

/** A new start without an end keeps the duration. */
function movedEvent({ event }: FoundEvent, { start, end }: z.output<typeof EventChanges>): CalendarEvent {
  if (!start || end) return event;
  const durationMs = Date.parse(event.endsAt) - Date.parse(event.startsAt);
  return { ...event, end: shiftTime(start, event.end, durationMs) };
}

/** Attendees who stay keep their response. */
function attendeesAfter(
  people: z.output<typeof EventChanges>["attendees"],
  before: CalendarEvent["attendees"],
): CalendarEvent["attendees"] {
  if (!people) return before;
  const responses = new Map(before.map(({ address, response }) => [address, response]));
  return people.map((each) => ({ ...each, response: responses.get(each.address) ?? "none" }));
}

/** The organizer deletes the event for all. For an attendee it is a refusal, and disappears from the own calendar only. */
function deleteEvent(account: LocalAccount, id: string): boolean {
  const { database, person } = account;
  const found = findEvent(account, id);
  if (!found || isDeclined(account, found.row.id)) return false;
  const { event, row, exceptionOf } = found;
  const isOrganizer = event.organizer.address === person.address;
  if (!exceptionOf && isOrganizer) return database.run("DELETE FROM events WHERE id = ?", id) > 0;
  const attendees = attendeesOf(database, row.id);
  const declined = attendees.map((each) =>
    each.address === person.address ? { ...each, response: "declined" as const } : each,
  );
  const record = toRecord(event, row.uid, exceptionOf);
  putEvent(scopeOf(account), isOrganizer ? { ...record, isCancelled: true } : { ...record, attendees: declined });
  return true;
}

function isDeclined({ database, person }: LocalAccount, event: string): boolean {
  const response = "SELECT response FROM attendees WHERE event = ? AND address = ?";
  return database.get<{ response: string }>(response, event, person.address)?.response === "declined";
}

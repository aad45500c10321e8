import { createHash } from "node:crypto";
import type { Clock } from "@troupe/core";
import { z } from "zod";
import { keyReused } from "../../idempotency/keyed-content.ts";
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
import type { EventTime } from "../../ports/event-time.ts";
import { eventSpan, wallStart } from "../../time/event-span.ts";
import { checkRecurrence } from "../../time/recurrence.ts";
import { shiftTime } from "../../time/zoned-instant.ts";
import { isMissing, statusOf, toConnectorError } from "../google-error.ts";
import { type GoogleSession, readAnswer } from "../google-session.ts";
import { digestOf } from "../once.ts";
import { readFreeBusy } from "./free-busy.ts";
import { GoogleEvent, isDeclined, toEvent, toGoogleFields, toGoogleId } from "./google-events.ts";
import { listGoogleEvents } from "./list-events.ts";

export interface GoogleCalendarOptions {
  session: GoogleSession;
  clock: Pick<Clock, "now">;
  /** Whether the user allowed to change events. */
  canWrite: boolean;
}

/** A calendar in use. Its zone is read once. */
export interface OpenCalendar extends GoogleCalendarOptions {
  zone(): Promise<string>;
}

/** The calendar that Google calls `primary`. Invitations and their changes are sent to all attendees. */
export function createGoogleCalendar(options: GoogleCalendarOptions): CalendarConnector {
  const { session, canWrite } = options;
  let zone: Promise<string> | null = null;
  const readZone = async (): Promise<string> => {
    zone ??= readTimeZone(session);
    try {
      return await zone;
    } catch (thrown) {
      zone = null;
      throw thrown;
    }
  };
  const calendar: OpenCalendar = { ...options, zone: readZone };
  return {
    status: () => session.status(canWrite, ({ calendar: api }) => api.events.list(zoneQuery)),
    refresh: () => session.refresh(),
    timeZone: readZone,
    listEvents: async (query) => await listGoogleEvents(calendar, parseParams(EventQuery, query)),
    getEvent: async (id) => toEvent(await readEvent(calendar, id), await readZone()),
    async createEvent(event, given) {
      const content = parseParams(NewEvent, event);
      return await createEvent(calendar, content, parseParams(ChangeOptions, given).idempotencyKey);
    },
    updateEvent: async (id, changes) => await updateEvent(calendar, id, parseParams(EventChanges, changes)),
    deleteEvent: (id) => deleteEvent(calendar, id),
    checkAvailability: async (query) => await readFreeBusy(calendar, parseParams(AvailabilityQuery, query)),
  };
}

const primary = { calendarId: "primary" };
const everyone = { sendUpdates: "all" };
/** The cheapest call that tells the zone. */
const zoneQuery = { ...primary, maxResults: 1, fields: "timeZone" };

async function readTimeZone(session: GoogleSession): Promise<string> {
  const schema = z.object({ timeZone: z.string() });
  const call = { what: "read the time zone of the calendar", schema };
  return (await session.call(call, ({ calendar }) => calendar.events.list(zoneQuery))).timeZone;
}

/** An event that exists. A deleted one is answered with the status `cancelled`. */
async function readEvent({ session }: OpenCalendar, id: string): Promise<GoogleEvent> {
  const found = await findEvent(session, id);
  if (found) return found;
  throw new ConnectorError("params", `no event of this calendar has the id ${JSON.stringify(id)}`, {
    param: "id",
    fix: "list the events and use the id of one",
  });
}

async function findEvent(session: GoogleSession, id: string): Promise<GoogleEvent | null> {
  const event = await getEvent(session, toGoogleId(id));
  return event === null || event.status === "cancelled" ? null : event;
}

async function getEvent(session: GoogleSession, eventId: string): Promise<GoogleEvent | null> {
  const what = `read the event ${JSON.stringify(eventId)}`;
  try {
    const { data } = await session.callRaw(({ calendar }) => calendar.events.get({ ...primary, eventId }));
    return readAnswer(GoogleEvent, data, what);
  } catch (thrown) {
    if (isMissing(thrown)) return null;
    throw toConnectorError(thrown, { what, param: "id", account: session.account });
  }
}

/** The property of the event that tells whether a repeated key has the same content. */
const digestName = "troupeContent";
const conflict = 409;

/** The id comes from the key, and Google takes each id once: the event exists once, whatever is repeated or killed. */
async function createEvent(
  calendar: OpenCalendar,
  content: z.output<typeof NewEvent>,
  key: string,
): Promise<CalendarEvent> {
  const { session } = calendar;
  const zone = await calendar.zone();
  checkTimes(content, content.recurrence, zone);
  const id = eventIdOf(session.account, key);
  const digest = digestOf(content);
  const own = { id, extendedProperties: { private: { [digestName]: digest } } };
  const what = "create the event";
  try {
    const { data } = await session.callRaw(({ calendar: api }) =>
      api.events.insert({ ...primary, ...everyone, requestBody: { ...toGoogleFields(content), ...own } }),
    );
    return toEvent(readAnswer(GoogleEvent, data, what), zone);
  } catch (thrown) {
    if (statusOf(thrown) !== conflict) throw toConnectorError(thrown, { what, account: session.account });
  }
  const known = await getEvent(session, id);
  if (known?.extendedProperties?.private[digestName] !== digest) throw keyReused(key);
  return toEvent(known, zone);
}

/** Base32hex: the letters and digits that Google allows in an id. */
function eventIdOf(account: string, key: string): string {
  const hash = createHash("sha256").update(`event ${account} ${key}`).digest("hex");
  return BigInt(`0x${hash}`).toString(32).padStart(52, "0");
}

function checkTimes(event: { start: EventTime; end: EventTime }, recurrence: string | null, zone: string): void {
  eventSpan(event, zone);
  if (recurrence !== null) checkRecurrence({ rule: recurrence, start: wallStart(event.start, zone) });
}

async function updateEvent(
  calendar: OpenCalendar,
  id: string,
  changes: z.output<typeof EventChanges>,
): Promise<CalendarEvent> {
  const { session } = calendar;
  const [found, zone] = [await readEvent(calendar, id), await calendar.zone()];
  if (found.organizer?.self === false) {
    const message = `only the organizer, ${found.organizer.email}, can change this event`;
    throw new ConnectorError("permission", message);
  }
  if (found.recurringEventId !== undefined && changes.recurrence) {
    throw new ConnectorError("params", "one occurrence cannot recur by itself", {
      param: "recurrence",
      fix: `change the series ${found.recurringEventId}`,
    });
  }
  const before = toEvent(found, zone);
  const moved = withEnd(before, changes);
  const { start = before.start, end = before.end, recurrence = before.recurrence } = moved;
  checkTimes({ start, end }, recurrence, zone);
  const call = { what: "change the event", param: "id", schema: GoogleEvent };
  const requestBody = toGoogleFields(moved, found);
  const after = await session.call(call, ({ calendar: api }) =>
    api.events.patch({ ...primary, ...everyone, eventId: found.id, requestBody }),
  );
  return toEvent(after, zone);
}

/** A new start without an end keeps the duration. */
function withEnd(before: CalendarEvent, changes: z.output<typeof EventChanges>): z.output<typeof EventChanges> {
  if (!changes.start || changes.end) return changes;
  const durationMs = Date.parse(before.endsAt) - Date.parse(before.startsAt);
  return { ...changes, end: shiftTime(changes.start, before.end, durationMs) };
}

/** The organizer deletes the event for all. An attendee declines. */
async function deleteEvent(calendar: OpenCalendar, id: string): Promise<boolean> {
  const { session } = calendar;
  const found = await findEvent(session, id);
  if (found === null || isDeclined(found)) return false;
  const target = { ...primary, ...everyone, eventId: found.id };
  const failed = { what: "delete the event", param: "id", account: session.account };
  try {
    if (found.organizer?.self !== false) await session.callRaw(({ calendar: api }) => api.events.delete(target));
    else await session.callRaw(({ calendar: api }) => api.events.patch({ ...target, requestBody: declined(found) }));
    return true;
  } catch (thrown) {
    if (isMissing(thrown)) return false;
    throw toConnectorError(thrown, failed);
  }
}

function declined({ attendees }: GoogleEvent) {
  return { attendees: attendees.map((each) => (each.self ? { ...each, responseStatus: "declined" } : each)) };
}

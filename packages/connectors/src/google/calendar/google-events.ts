import { z } from "zod";
import type { CalendarEvent, EventChanges, NewEvent } from "../../ports/calendar.ts";
import type { EventTime } from "../../ports/event-time.ts";
import { type Person, toLine } from "../../ports/person.ts";
import { eventInstant, instantOf, toIso, wallTimeOf } from "../../time/zoned-instant.ts";

const GoogleTime = z.object({
  date: z.iso.date().optional(),
  dateTime: z.iso.datetime({ offset: true }).optional(),
  timeZone: z.string().optional(),
});
type GoogleTime = z.infer<typeof GoogleTime>;

const GooglePerson = z.object({
  email: z.string().default(""),
  displayName: z.string().default(""),
  self: z.boolean().default(false),
});

const responses = { accepted: "accepted", declined: "declined", tentative: "tentative", needsAction: "none" } as const;

const GoogleAttendee = GooglePerson.extend({
  responseStatus: z.enum(["accepted", "declined", "tentative", "needsAction"]).catch("needsAction"),
  /** A room, not a person. */
  resource: z.boolean().default(false),
});

/** An event as the API returns it. */
export const GoogleEvent = z.object({
  id: z.string(),
  status: z.string().default("confirmed"),
  summary: z.string().default(""),
  description: z.string().default(""),
  location: z.string().default(""),
  start: GoogleTime.default({}),
  end: GoogleTime.default({}),
  recurrence: z.array(z.string()).default([]),
  recurringEventId: z.string().optional(),
  originalStartTime: GoogleTime.optional(),
  organizer: GooglePerson.optional(),
  attendees: z.array(GoogleAttendee).default([]),
  visibility: z.enum(["default", "public", "private", "confidential"]).catch("default"),
  transparency: z.enum(["opaque", "transparent"]).catch("opaque"),
  extendedProperties: z.object({ private: z.record(z.string(), z.string()).default({}) }).optional(),
});
export type GoogleEvent = z.infer<typeof GoogleEvent>;

/** Google has a longer name for a private event in some accounts. */
const visibilities = { default: "default", public: "public", private: "private", confidential: "private" } as const;

export function toEvent(event: GoogleEvent, zone: string): CalendarEvent {
  const [start, end] = [toTime(event.start, zone), toTime(event.end, zone)];
  return {
    id: toPortId(event),
    series: event.recurringEventId ?? null,
    title: toLine(event.summary),
    start,
    end,
    startsAt: toIso(instantOfTime(event.start, zone)),
    endsAt: toIso(instantOfTime(event.end, zone)),
    description: event.description,
    location: toLine(event.location),
    organizer: toPerson(event.organizer ?? { email: "", displayName: "" }),
    attendees: event.attendees
      .filter(({ resource }) => !resource)
      .map((attendee) => ({ ...toPerson(attendee), response: responses[attendee.responseStatus] })),
    recurrence: event.recurrence.find((line) => line.startsWith(rulePrefix))?.slice(rulePrefix.length) ?? null,
    visibility: visibilities[event.visibility],
    showAs: event.transparency === "transparent" ? "free" : "busy",
  };
}

export const rulePrefix = "RRULE:";

function toPerson({ email, displayName }: { email: string; displayName: string }): Person {
  return { name: toLine(displayName, 200), address: email.toLowerCase() };
}

/** The wall clock time of the event's own zone: the offset in the answer is the calendar's. */
function toTime(time: GoogleTime, zone: string): EventTime {
  if (time.date !== undefined) return { date: time.date };
  return wallTimeOf(instantOfTime(time, zone), time.timeZone ?? zone);
}

function instantOfTime({ date, dateTime }: GoogleTime, zone: string): number {
  return date === undefined ? Date.parse(dateTime ?? "1970-01-01T00:00:00Z") : eventInstant({ date }, zone);
}

/** Google joins the id of a series and the original start with `_`, this port with `@`. */
function toPortId({ id, recurringEventId }: GoogleEvent): string {
  if (recurringEventId === undefined || !id.startsWith(`${recurringEventId}_`)) return id;
  return `${recurringEventId}@${id.slice(recurringEventId.length + 1)}`;
}

export function toGoogleId(id: string): string {
  return id.replace(/@(\d{8}(?:T\d{6}Z)?)$/, "_$1");
}

/** The time with its offset, so that a time that a zone repeats is the earlier one. */
export function toGoogleTime(time: EventTime) {
  // A patch keeps the fields that it does not name, so the other kind of time is removed by name.
  if ("date" in time) return { date: time.date, dateTime: null, timeZone: null };
  return { date: null, dateTime: toIso(instantOf(time)), timeZone: time.timeZone };
}

type EventFields = z.output<typeof NewEvent> | z.output<typeof EventChanges>;

/** The fields that are present, as Google names them. `before`: the attendees whose responses stay. */
export function toGoogleFields(fields: EventFields, before: GoogleEvent | null = null) {
  const { title, start, end, description, location, attendees, recurrence, visibility, showAs } = fields;
  const responsesBefore = new Map(before?.attendees.map((each) => [each.email.toLowerCase(), each.responseStatus]));
  const otherRules = before?.recurrence.filter((line) => !line.startsWith(rulePrefix)) ?? [];
  return {
    ...(title === undefined ? {} : { summary: title }),
    ...(start === undefined ? {} : { start: toGoogleTime(start) }),
    ...(end === undefined ? {} : { end: toGoogleTime(end) }),
    ...(description === undefined ? {} : { description }),
    ...(location === undefined ? {} : { location }),
    ...(attendees === undefined
      ? {}
      : { attendees: attendees.map((person) => toGoogleAttendee(person, responsesBefore.get(person.address))) }),
    ...(recurrence === undefined
      ? {}
      : { recurrence: recurrence === null ? [] : [`${rulePrefix}${recurrence}`, ...otherRules] }),
    ...(visibility === undefined ? {} : { visibility }),
    ...(showAs === undefined ? {} : { transparency: showAs === "free" ? "transparent" : "opaque" }),
  };
}

function toGoogleAttendee({ name, address }: Person, responseStatus = "needsAction") {
  return { email: address, responseStatus, ...(name === "" ? {} : { displayName: name }) };
}

/** Whether the user declined the event. */
export function isDeclined({ attendees }: GoogleEvent): boolean {
  return attendees.some(({ self, responseStatus }) => self && responseStatus === "declined");
}

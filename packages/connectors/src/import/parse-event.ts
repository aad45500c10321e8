import ICAL from "ical.js";
import { occurrenceId } from "../local/calendar/event-rows.ts";
import type { EventRecord } from "../local/calendar/event-store.ts";
import type { LocalAccount } from "../local/local-account.ts";
import { shortHash } from "../local/mail/mail-store.ts";
import { type EventTime, TimeZone } from "../ports/event-time.ts";
import { toLine } from "../ports/person.ts";
import { eventInstant, shiftTime, wallTimeOf } from "../time/zoned-instant.ts";

export interface ParsedEvent {
  event: EventRecord;
  name: string;
  /** Occurrences that do not happen (EXDATE). */
  cancelledMs: { id: string; originalMs: number }[];
  problems: string[];
}

/** An event without an end and without a duration lasts this long. */
const durationMsDefault = 1_800_000;
const dayMs = 86_400_000;
const attendeesMax = 500;

/** Reads an event of iCalendar. Throws for one that cannot be stored. */
export function parseEvent(component: ICAL.Component, account: LocalAccount): ParsedEvent {
  const problems: string[] = [];
  const scope: ZoneScope = { calendarZone: account.timeZone, problems };
  const text = (name: string) => String(component.getFirstPropertyValue(name) ?? "");
  const startProperty = component.getFirstProperty("dtstart");
  if (!startProperty) throw new Error("has no start");
  const start = timeOf(startProperty, scope);
  const uid = toLine(text("uid")) || `${shortHash(component.toString())}@import.local`;
  const series = eventIdOf(uid);
  const recurrenceId = component.getFirstProperty("recurrence-id");
  const originalMs = recurrenceId && eventInstant(timeOf(recurrenceId, scope), account.timeZone);
  const exceptionOf = originalMs ? { series, originalMs } : null;
  if (component.getFirstProperty("rdate")) problems.push("additional dates (RDATE) were left out");
  const event: EventRecord = {
    id: exceptionOf ? occurrenceId(series, exceptionOf.originalMs) : series,
    uid,
    exceptionOf,
    isCancelled: text("status").toUpperCase() === "CANCELLED",
    title: toLine(text("summary")) || "(no title)",
    description: text("description").replaceAll("\0", "").slice(0, 100_000),
    location: toLine(text("location")),
    ...peopleOf(component, account),
    start,
    end: endOf(component, start, scope),
    recurrence: exceptionOf ? null : ruleOf(component),
    visibility: visibilityOf(text("class")),
    showAs: text("transp").toUpperCase() === "TRANSPARENT" ? "free" : "busy",
  };
  const cancelledMs = component
    .getAllProperties("exdate")
    .flatMap((property) => timesOf(property, scope))
    .map((time) => eventInstant(time, account.timeZone))
    .map((cancelled) => ({ id: occurrenceId(series, cancelled), originalMs: cancelled }));
  return { event, name: `event ${JSON.stringify(event.title)}`, cancelledMs, problems };
}

/** The id of the event with this UID. */
export function eventIdOf(uid: string): string {
  return `evt_${shortHash(`import ${uid}`)}`;
}

interface ZoneScope {
  calendarZone: string;
  problems: string[];
}

function timeOf(property: ICAL.Property, scope: ZoneScope): EventTime {
  const [time] = timesOf(property, scope);
  if (!time) throw new Error(`${property.name} is not a time`);
  return time;
}

function timesOf(property: ICAL.Property, { calendarZone, problems }: ZoneScope): EventTime[] {
  return property.getValues().map((value: unknown) => {
    if (!(value instanceof ICAL.Time)) throw new Error(`${property.name} is not a time`);
    const local = value.toString().replace(/Z$/, "");
    if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d)?$/.test(local)) throw new Error(`${property.name} is not a time`);
    if (value.isDate) return { date: local };
    const zone = zoneOf(property, value);
    if (zone !== null) return { dateTime: local, timeZone: zone };
    const name = String(property.getParameter("tzid") ?? "");
    // A zone with another program's name has its rules in the file.
    if (name !== "" && value.zone && value.zone.tzid === name)
      return wallTimeOf(value.toJSDate().getTime(), calendarZone);
    if (name !== "") problems.push(`the zone ${JSON.stringify(name)} is unknown, so the zone of the calendar is used`);
    return { dateTime: local, timeZone: calendarZone };
  });
}

/** The IANA name of the zone; null if the time has none. */
function zoneOf(property: ICAL.Property, time: ICAL.Time): string | null {
  if (time.zone === ICAL.Timezone.utcTimezone) return "Etc/UTC";
  const name = TimeZone.safeParse(String(property.getParameter("tzid") ?? ""));
  return name.success && name.data !== "" ? name.data : null;
}

function endOf(component: ICAL.Component, start: EventTime, scope: ZoneScope): EventTime {
  const end = component.getFirstProperty("dtend");
  if (end) return timeOf(end, scope);
  const duration: unknown = component.getFirstPropertyValue("duration");
  const lastsMs = duration instanceof ICAL.Duration ? duration.toSeconds() * 1_000 : 0;
  return shiftTime(start, start, lastsMs > 0 ? lastsMs : "date" in start ? dayMs : durationMsDefault);
}

function ruleOf(component: ICAL.Component): string | null {
  const rule: unknown = component.getFirstPropertyValue("rrule");
  return rule instanceof ICAL.Recur ? rule.toString() : null;
}

function visibilityOf(kind: string): EventRecord["visibility"] {
  const known = { PRIVATE: "private", CONFIDENTIAL: "private", PUBLIC: "default" } as const;
  return known[kind.toUpperCase() as keyof typeof known] ?? "default";
}

type Attendee = EventRecord["attendees"][number];

/** The user imports the file into the own calendar, and so attends every event of it. */
function peopleOf(component: ICAL.Component, { person }: LocalAccount): Pick<EventRecord, "organizer" | "attendees"> {
  const organizerProperty = component.getFirstProperty("organizer");
  const organizer = (organizerProperty && personOf(organizerProperty)) ?? person;
  const invited = component.getAllProperties("attendee").slice(0, attendeesMax).flatMap(attendeeOf);
  const attendees = [...new Map(invited.map((attendee) => [attendee.address, attendee])).values()];
  const isInvited = [organizer, ...attendees].some(({ address }) => address === person.address);
  return { organizer, attendees: isInvited ? attendees : [...attendees, { ...person, response: "accepted" }] };
}

function personOf(property: ICAL.Property): { name: string; address: string } | null {
  const [, address] = /^mailto:\s*([^\s@]+@[^\s@]+)$/i.exec(String(property.getFirstValue() ?? "")) ?? [];
  if (address === undefined) return null;
  return { name: toLine(String(property.getParameter("cn") ?? ""), 200), address: address.toLowerCase().slice(0, 254) };
}

const responses: Readonly<Record<string, Attendee["response"]>> = {
  ACCEPTED: "accepted",
  DECLINED: "declined",
  TENTATIVE: "tentative",
};

function attendeeOf(property: ICAL.Property): Attendee[] {
  const person = personOf(property);
  if (!person) return [];
  return [{ ...person, response: responses[String(property.getParameter("partstat") ?? "").toUpperCase()] ?? "none" }];
}

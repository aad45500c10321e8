import ICAL from "ical.js";
import { parseEvent } from "../../import/parse-event.ts";
import type { EventRecord } from "../../local/calendar/event-store.ts";
import type { LocalAccount } from "../../local/local-account.ts";
import type { EventTime } from "../../ports/event-time.ts";
import { dayOf, wallTimeOf } from "../../time/zoned-instant.ts";
import { zoneRules } from "./zone-rules.ts";

/** An event with its changed and deleted occurrences. */
export interface EventSeries {
  master: EventRecord;
  exceptions: readonly EventRecord[];
}

/** The property with the hash of the content that an idempotency key was used with. */
export const contentProperty = "x-troupe-content";

/**
 * The text of an event for its server. In an existing object, it changes only differing fields, so properties of other programs
 * stay, such as reminders.
 */
export function writeEvent(before: string | null, { master, exceptions }: EventSeries, account: LocalAccount): string {
  const calendar = before === null ? newCalendar() : new ICAL.Component(ICAL.parse(before));
  const events = calendar.getAllSubcomponents("vevent");
  const known = events.map((component) => ({ component, event: parseEvent(component, account).event }));
  const root = known.find(({ event }) => event.exceptionOf === null) ?? {
    component: addEvent(calendar, master.uid),
    event: null,
  };
  applyRecord(root.component, root.event, master, account);
  root.component.removeAllProperties("exdate");
  for (const { component, event } of known) {
    if (event.exceptionOf && !isStillChanged(exceptions, event)) calendar.removeSubcomponent(component);
  }
  for (const exception of exceptions) {
    const originalMs = exception.exceptionOf?.originalMs ?? 0;
    if (exception.isCancelled) {
      root.component.addProperty(timeProperty("exdate", timeLike(master.start, originalMs, account)));
      continue;
    }
    const same = known.find(({ event }) => event.exceptionOf?.originalMs === originalMs);
    const component =
      same?.component ?? addOccurrence(calendar, root.component, timeLike(master.start, originalMs, account));
    applyRecord(component, same?.event ?? null, exception, account);
  }
  addZones(calendar, master);
  return calendar.toString();
}

function newCalendar(): ICAL.Component {
  const calendar = new ICAL.Component("vcalendar");
  calendar.addPropertyWithValue("version", "2.0");
  calendar.addPropertyWithValue("prodid", "-//troupe//connectors//EN");
  return calendar;
}

function addEvent(calendar: ICAL.Component, uid: string): ICAL.Component {
  const component = new ICAL.Component("vevent");
  component.addPropertyWithValue("uid", uid);
  calendar.addSubcomponent(component);
  return component;
}

function addOccurrence(calendar: ICAL.Component, root: ICAL.Component, original: EventTime): ICAL.Component {
  const component = new ICAL.Component(ICAL.parse(root.toString()));
  for (const name of ["rrule", "rdate", "exdate", contentProperty]) component.removeAllProperties(name);
  component.addProperty(timeProperty("recurrence-id", original));
  calendar.addSubcomponent(component);
  return component;
}

function isStillChanged(exceptions: readonly EventRecord[], { exceptionOf }: EventRecord): boolean {
  return exceptions.some((each) => !each.isCancelled && each.exceptionOf?.originalMs === exceptionOf?.originalMs);
}

/** An instant in the form of another time: a day, or a wall clock time in its zone. */
function timeLike(model: EventTime, instantMs: number, { timeZone }: LocalAccount): EventTime {
  return "date" in model ? { date: dayOf(instantMs, timeZone) } : wallTimeOf(instantMs, model.timeZone);
}

function applyRecord(
  component: ICAL.Component,
  before: EventRecord | null,
  after: EventRecord,
  account: LocalAccount,
): void {
  const differs = (name: keyof EventRecord) => !before || JSON.stringify(before[name]) !== JSON.stringify(after[name]);
  const setText = (name: string, text: string) => {
    if (text === "") component.removeAllProperties(name);
    else component.updatePropertyWithValue(name, text);
  };
  if (differs("title")) setText("summary", after.title);
  if (differs("description")) setText("description", after.description);
  if (differs("location")) setText("location", after.location);
  if (differs("start") || differs("end")) {
    for (const name of ["dtstart", "dtend", "duration"]) component.removeAllProperties(name);
    component.addProperty(timeProperty("dtstart", after.start));
    component.addProperty(timeProperty("dtend", after.end));
  }
  if (differs("recurrence")) {
    component.removeAllProperties("rrule");
    if (after.recurrence !== null) component.addPropertyWithValue("rrule", ICAL.Recur.fromString(after.recurrence));
  }
  if (differs("visibility")) setText("class", after.visibility === "default" ? "" : after.visibility.toUpperCase());
  if (differs("showAs")) setText("transp", after.showAs === "free" ? "TRANSPARENT" : "OPAQUE");
  if (differs("attendees")) writePeople(component, after, account);
  writeVersion(component, account, before === null);
}

function timeProperty(name: string, time: EventTime): ICAL.Property {
  const property = new ICAL.Property(name);
  if ("date" in time) {
    property.setValue(ICAL.Time.fromDateString(time.date));
    return property;
  }
  const isUtc = time.timeZone === "UTC" || time.timeZone === "Etc/UTC";
  property.setValue(ICAL.Time.fromDateTimeString(isUtc ? `${time.dateTime}Z` : time.dateTime));
  if (!isUtc) property.setParameter("tzid", time.timeZone);
  return property;
}

/** People who stay keep everything that the server knows of them. The user is not an attendee of the own event. */
function writePeople(component: ICAL.Component, { organizer, attendees }: EventRecord, { person }: LocalAccount): void {
  const before = new Map(component.getAllProperties("attendee").map((each) => [addressOf(each), each]));
  component.removeAllProperties("attendee");
  const isOwn = organizer.address === person.address;
  const invited = attendees.filter(({ address }) => before.has(address) || !isOwn || address !== person.address);
  for (const { name, address, response } of invited) {
    const property = before.get(address) ?? personProperty("attendee", { name, address });
    property.setParameter(
      "partstat",
      { none: "NEEDS-ACTION", accepted: "ACCEPTED", declined: "DECLINED", tentative: "TENTATIVE" }[response],
    );
    component.addProperty(property);
  }
  if (invited.length > 0 && !component.getFirstProperty("organizer")) {
    component.addProperty(personProperty("organizer", organizer));
  }
}

function addressOf(property: ICAL.Property): string {
  return String(property.getFirstValue() ?? "")
    .replace(/^mailto:\s*/i, "")
    .toLowerCase();
}

/** A name in a parameter can have no double quotes. */
function personProperty(kind: string, { name, address }: { name: string; address: string }): ICAL.Property {
  const property = new ICAL.Property(kind);
  property.setValue(`mailto:${address}`);
  if (name !== "") property.setParameter("cn", name.replaceAll('"', "'"));
  return property;
}

function writeVersion(component: ICAL.Component, { clock }: LocalAccount, isNew: boolean): void {
  const now = ICAL.Time.fromJSDate(new Date(clock.now()), true);
  component.updatePropertyWithValue("dtstamp", now);
  component.updatePropertyWithValue("last-modified", now);
  const sequence = Number(component.getFirstPropertyValue("sequence") ?? 0);
  component.updatePropertyWithValue("sequence", isNew ? sequence : sequence + 1);
}

/** A zone that an event names needs its rules in the same text. */
function addZones(calendar: ICAL.Component, { start }: EventRecord): void {
  const year = Number(("date" in start ? start.date : start.dateTime).slice(0, 4));
  const known = new Set(calendar.getAllSubcomponents("vtimezone").map((zone) => zone.getFirstPropertyValue("tzid")));
  for (const component of calendar.getAllSubcomponents("vevent")) {
    for (const name of ["dtstart", "dtend", "recurrence-id", "exdate"]) {
      for (const property of component.getAllProperties(name)) {
        const zone = property.getParameter("tzid");
        if (typeof zone !== "string" || known.has(zone)) continue;
        known.add(zone);
        calendar.addSubcomponent(zoneRules(zone, year));
      }
    }
  }
}

import type { CallPreview } from "@troupe/core";
import type { CalendarEvent } from "../../ports/calendar.ts";
import type { EventTime } from "../../ports/event-time.ts";
import type { Person } from "../../ports/person.ts";
import type { OfficeCall } from "../calls/office-call.ts";
import type { OfficeResult } from "../calls/office-tool.ts";
import { externalAddresses } from "../risk/own-domains.ts";
import { personText } from "../text/arguments.ts";
import { plainLine, plainText } from "../text/plain-text.ts";
import { timeText, wallText } from "./event-times.ts";

/** An event as JSON. */
export function eventOutput(event: CalendarEvent) {
  const { id, series, title, start, end, startsAt, endsAt, description, location, organizer } = event;
  return {
    ...{ event_id: id, series_id: series, title, start: wallText(start), end: wallText(end) },
    ...{ time_zone: "date" in start ? null : start.timeZone, all_day: "date" in start },
    ...{ starts_at: startsAt, ends_at: endsAt, attendees: event.attendees, organizer, location, description },
    ...{ recurrence: event.recurrence, visibility: event.visibility, show_as: event.showAs },
  };
}

/** The sources of events: the calendar is private, and other people wrote the events that they organize. */
export function eventSources(
  account: string,
  events: readonly Pick<CalendarEvent, "organizer">[],
): Pick<OfficeResult, "untrusted" | "private"> {
  if (events.length === 0) return {};
  const authors = new Set(events.map(({ organizer }) => organizer.address).filter((address) => address !== account));
  return { untrusted: [...authors].map((address) => `event of <${address}>`), private: [`calendar <${account}>`] };
}

/** The parts of an event that a preview shows. */
export type ShownEvent = Pick<CalendarEvent, "title" | "description" | "location" | "recurrence" | "visibility"> & {
  start: EventTime;
  end: EventTime;
  attendees: readonly Person[];
};

const lineCharactersMax = 200;
const descriptionCharactersMax = 5_000;

/** The event as a calendar shows it. */
export function eventPreview(
  event: ShownEvent,
  {
    action,
    account,
    before = null,
  }: { action: "create" | "update" | "delete"; account: string; before?: ShownEvent | null },
  { deps }: OfficeCall,
): CallPreview & { kind: "event" } {
  const isExternal = externalAddresses({ account, ownDomains: deps.ownDomains });
  const people = [
    ...new Map([...event.attendees, ...(before?.attendees ?? [])].map((each) => [each.address, each])).values(),
  ];
  return {
    ...{ kind: "event", action, title: plainLine(event.title, lineCharactersMax), when: whenText(event) },
    repeats: event.recurrence === null ? null : plainLine(event.recurrence, lineCharactersMax),
    location: event.location === "" ? null : plainLine(event.location, lineCharactersMax),
    description: event.description === "" ? null : plainText(event.description, descriptionCharactersMax),
    attendees: event.attendees.map((person) => plainLine(personText(person), lineCharactersMax)),
    // People who are taken off the event get a message as well.
    external: people.map(({ address }) => address).filter(isExternal),
    visibility: event.visibility === "public" ? "public" : "private",
    changes: before === null ? [] : changesOf(before, event),
  };
}

/** `2026-11-24 14:00 to 15:00 Europe/Berlin`. */
export function whenText({ start, end }: Pick<ShownEvent, "start" | "end">): string {
  if ("date" in start || "date" in end) return `${wallText(start)} to ${wallText(end)}, all day, the end excluded`;
  const [from, to] = [timeText(start), timeText(end)];
  const isSameDay = start.dateTime.slice(0, 10) === end.dateTime.slice(0, 10) && start.timeZone === end.timeZone;
  if (!isSameDay) return `${from} to ${to}`;
  return `${from.slice(0, 16)} to ${end.dateTime.slice(11, 16)} ${start.timeZone}`;
}

/** The fields that differ, as texts. */
export function changesOf(before: ShownEvent, after: ShownEvent): { field: string; before: string; after: string }[] {
  const fields: Record<string, (event: ShownEvent) => string> = {
    title: ({ title }) => title,
    when: whenText,
    attendees: ({ attendees }) => attendees.map(({ address }) => address).join(", "),
    description: ({ description }) => description,
    location: ({ location }) => location,
    recurrence: ({ recurrence }) => recurrence ?? "",
    visibility: ({ visibility }) => visibility,
  };
  return Object.entries(fields)
    .map(([field, text]) => ({ field, before: text(before), after: text(after) }))
    .filter((change) => change.before !== change.after)
    .map(({ field, before: old, after: now }) => ({
      ...{ field, before: plainText(old, descriptionCharactersMax), after: plainText(now, descriptionCharactersMax) },
    }));
}

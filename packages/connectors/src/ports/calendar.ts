import { z } from "zod";
import type { ChangeOptions, Connector } from "./connection.ts";
import { EventTime, TimeZone } from "./event-time.ts";
import { type Page, pageFields } from "./page.ts";
import { blockText, EmailAddress, LineText, Person } from "./person.ts";

const instant = z.iso.datetime({ offset: true, error: "is not a time with an offset, such as 2026-03-03T14:00:00Z" });

/** Events between two times. */
export const EventQuery = z.strictObject({
  from: instant,
  /** At most five years after `from`. */
  to: instant,
  /** Words of the title, the description or the location. */
  text: z.string().max(500).default(""),
  /** An address of the organizer or of an attendee. */
  attendee: EmailAddress.nullable().default(null),
  ...pageFields,
});
export type EventQuery = z.input<typeof EventQuery>;

const eventFields = {
  title: LineText.min(1, "is empty"),
  start: EventTime,
  /** Exclusive. Of the same kind as `start`. */
  end: EventTime,
  description: blockText(100_000),
  location: LineText,
  attendees: z.array(Person).max(200),
  /** An RRULE of RFC 5545 without its name, like `FREQ=WEEKLY;BYDAY=TU`. Null: the event happens once. */
  recurrence: z.string().max(500).nullable(),
  /** `public`: people outside can see it. */
  visibility: z.enum(["default", "private", "public"]),
  /** `free`: does not block the time. */
  showAs: z.enum(["busy", "free"]),
};

/** An event to create. */
export const NewEvent = z.strictObject({
  ...eventFields,
  description: eventFields.description.default(""),
  location: eventFields.location.default(""),
  attendees: eventFields.attendees.default([]),
  recurrence: eventFields.recurrence.default(null),
  visibility: eventFields.visibility.default("default"),
  showAs: eventFields.showAs.default("busy"),
});
export type NewEvent = z.input<typeof NewEvent>;

/** Changes of an event. Absent fields stay. */
export const EventChanges = z
  .strictObject(eventFields)
  .partial()
  .refine((changes) => Object.values(changes).some((value) => value !== undefined), "names nothing to change");
export type EventChanges = z.input<typeof EventChanges>;

/** One event, or one occurrence of a recurring event. */
export interface CalendarEvent {
  /** Of an occurrence: the id of its series, `@`, and its original start in UTC. */
  id: string;
  /** The id of the recurring event that this is an occurrence of. Null for any other event, and for the series itself. */
  series: string | null;
  title: string;
  start: EventTime;
  end: EventTime;
  /** ISO times in UTC. Of a day: midnight in the zone of the calendar. */
  startsAt: string;
  endsAt: string;
  description: string;
  location: string;
  organizer: Person;
  attendees: (Person & { response: "accepted" | "declined" | "tentative" | "none" })[];
  recurrence: string | null;
  visibility: "default" | "private" | "public";
  showAs: "busy" | "free";
}

/** A question about free time. */
export const AvailabilityQuery = z.strictObject({
  from: instant,
  to: instant,
  /** Addresses. Empty: the account. */
  people: z.array(EmailAddress).max(50).default([]),
  /** Also proposes free times of this length. */
  slotMinutes: z.int().min(5).max(1_440).nullable().default(null),
  /** Working hours of proposed times. */
  workingHours: z
    .strictObject({ from: z.iso.time({ precision: -1 }), to: z.iso.time({ precision: -1 }), timeZone: TimeZone })
    .nullable()
    .default(null),
});
export type AvailabilityQuery = z.input<typeof AvailabilityQuery>;

/** A span of time, as ISO times in UTC. */
export interface TimeSpan {
  startsAt: string;
  endsAt: string;
}

/** Busy times of people. */
export interface Availability {
  /** Whether all people are known and free for the whole span. */
  isFree: boolean;
  people: {
    address: string;
    /** False if the calendar does not know the person's times. Then `busy` is empty and says nothing. */
    isKnown: boolean;
    /** Merged, in order. */
    busy: TimeSpan[];
  }[];
  /** The first free times of all known people, at most 10. Empty without `slotMinutes`. */
  slots: TimeSpan[];
}

/** The calendar of one account. */
export interface CalendarConnector extends Connector {
  /** The zone of the account: the meaning of "2 pm" without a zone. */
  timeZone(): Promise<string>;
  /** Occurrences in the order of their start. */
  listEvents(query: EventQuery): Promise<Page<CalendarEvent>>;
  /** Throws `params` if no such event exists. */
  getEvent(id: string): Promise<CalendarEvent>;
  /** Does not look for conflicts: call `checkAvailability` before. */
  createEvent(event: NewEvent, options: ChangeOptions): Promise<CalendarEvent>;
  /**
   * The event that a call with this key created. Null if none did, or if it was deleted. A repeated call must not find a
   * conflict with its own event. Absent: it cannot be told.
   */
  createdEvent?(options: ChangeOptions): Promise<CalendarEvent | null>;
  /** Changes an event, a whole series, or one occurrence, by its id. The result is the same for a repeated call. */
  updateEvent(id: string, changes: EventChanges): Promise<CalendarEvent>;
  /** Deletes an event, a whole series, or one occurrence. Deleting it again is not an error, and returns false. */
  deleteEvent(id: string): Promise<boolean>;
  checkAvailability(query: AvailabilityQuery): Promise<Availability>;
}

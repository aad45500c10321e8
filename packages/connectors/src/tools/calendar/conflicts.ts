import type { CalendarConnector, TimeSpan } from "../../ports/calendar.ts";
import { ConnectorError } from "../../ports/connector-error.ts";
import { toIso, wallTimeOf } from "../../time/zoned-instant.ts";
import type { OfficeConnection } from "../calls/office-call.ts";
import type { EventSpan } from "./event-times.ts";

/** A busy time of a person. */
export interface Conflict {
  person: string;
  starts_at: string;
  ends_at: string;
}

/** The most people that one question can name. */
const peopleMax = 50;
const dayMs = 86_400_000;
const shownMax = 3;
const searchDays = 7;
/** Of proposed times. */
export const workingHours = { from: "09:00", to: "17:00" };

/** A time to check. `own` is the present time of a moved event, which is busy because of the event itself. */
export interface PlannedTime {
  span: EventSpan;
  people: readonly string[];
  timeZone: string;
  own: TimeSpan | null;
}

/**
 * Throws `params` if a person is busy then. The message names people and times, and the next free times of all. An all-day
 * event does not conflict: most are notes of a day.
 */
export async function refuseConflict(
  calendar: OfficeConnection<CalendarConnector>,
  planned: PlannedTime,
): Promise<void> {
  const { span, timeZone } = planned;
  if ("date" in span.start) return;
  const conflicts = await findConflicts(calendar, planned);
  if (conflicts.length === 0) return;
  const free = await nextFree(calendar, planned);
  const shown = conflicts.slice(0, shownMax).map((each) => conflictText(each, timeZone));
  const more = conflicts.length - shown.length;
  const busy = shown.join(", ") + (more > 0 ? ` and ${more} more` : "");
  const times = free.map(({ startsAt }) => clockText(startsAt, timeZone)).join(", ");
  throw new ConnectorError("params", `the time is not free: ${busy}`, {
    param: "start",
    fix: `${times === "" ? "" : `free for all in ${timeZone}: ${times}; or `}set even_if_busy`,
  });
}

/** Busy times of people within a span. */
export async function findConflicts(
  calendar: OfficeConnection<CalendarConnector>,
  { span, people, own }: PlannedTime,
): Promise<Conflict[]> {
  const window = { from: toIso(span.fromMs), to: toIso(span.toMs) };
  const conflicts: Conflict[] = [];
  for (let first = 0; first < people.length; first += peopleMax) {
    const some = people.slice(first, first + peopleMax);
    const { people: found } = await calendar.call((port) => port.checkAvailability({ ...window, people: [...some] }));
    for (const { address, busy } of found) {
      const spans = own === null ? busy : busy.flatMap((each) => without(each, own));
      conflicts.push(
        ...spans.map(({ startsAt, endsAt }) => ({ person: address, starts_at: startsAt, ends_at: endsAt })),
      );
    }
  }
  return conflicts;
}

/** The parts of a span that are outside of another one. */
function without({ startsAt, endsAt }: TimeSpan, own: TimeSpan): TimeSpan[] {
  const [ownFrom, ownTo] = [own.startsAt, own.endsAt];
  if (endsAt <= ownFrom || startsAt >= ownTo) return [{ startsAt, endsAt }];
  return [
    { startsAt, endsAt: ownFrom },
    { startsAt: ownTo, endsAt },
  ].filter((part) => part.startsAt < part.endsAt);
}

async function nextFree(
  calendar: OfficeConnection<CalendarConnector>,
  { span, people, timeZone }: PlannedTime,
): Promise<TimeSpan[]> {
  const slotMinutes = Math.ceil((span.toMs - span.fromMs) / 60_000);
  if (slotMinutes < 5 || slotMinutes > 8 * 60) return [];
  const { slots } = await calendar.call((port) =>
    port.checkAvailability({
      ...{ from: toIso(span.fromMs), to: toIso(span.fromMs + searchDays * dayMs) },
      ...{ people: people.slice(0, peopleMax), slotMinutes, workingHours: { ...workingHours, timeZone } },
    }),
  );
  return slots.slice(0, shownMax);
}

function conflictText({ person, starts_at, ends_at }: Conflict, timeZone: string): string {
  return `${person} is busy from ${clockText(starts_at, timeZone)} to ${clockText(ends_at, timeZone).slice(-5)}`;
}

/** `2026-11-24 14:00` in a zone. */
function clockText(instant: string, timeZone: string): string {
  return wallTimeOf(Date.parse(instant), timeZone).dateTime.slice(0, 16).replace("T", " ");
}

import { Temporal } from "temporal-polyfill";
import type { z } from "zod";
import type { Availability, AvailabilityQuery, TimeSpan } from "../ports/calendar.ts";
import type { QueryWindow } from "./query-window.ts";
import { toIso } from "./zoned-instant.ts";

type ParsedQuery = z.output<typeof AvailabilityQuery>;

/** The busy times of one person. */
export interface BusyPerson {
  address: string;
  isKnown: boolean;
  /** Merged, in order. */
  busy: QueryWindow[];
}

/** The answer to a query: the busy times of people, and the times when all of them are free. */
export function composeAvailability(
  people: readonly BusyPerson[],
  window: QueryWindow,
  query: ParsedQuery,
): Availability {
  const all = mergeSpans(people.flatMap(({ busy }) => busy));
  return {
    isFree: people.every(({ isKnown, busy }) => isKnown && busy.length === 0),
    people: people.map(({ busy, ...rest }) => ({ ...rest, busy: busy.map(toSpan) })),
    slots: query.slotMinutes === null ? [] : freeSlots(all, window, query.slotMinutes, query.workingHours).map(toSpan),
  };
}

function toSpan({ fromMs, toMs }: QueryWindow): TimeSpan {
  return { startsAt: toIso(fromMs), endsAt: toIso(toMs) };
}

/** In order, and spans that touch become one. */
export function mergeSpans(spans: readonly QueryWindow[]): QueryWindow[] {
  const merged: QueryWindow[] = [];
  for (const span of spans.toSorted((a, b) => a.fromMs - b.fromMs)) {
    const last = merged.at(-1);
    if (last && span.fromMs <= last.toMs) last.toMs = Math.max(last.toMs, span.toMs);
    else if (span.toMs > span.fromMs) merged.push({ ...span });
  }
  return merged;
}

const slotsMax = 10;
/** Proposed times begin at a quarter of an hour. */
const gridMs = 900_000;

function freeSlots(
  busy: readonly QueryWindow[],
  window: QueryWindow,
  slotMinutes: number,
  hours: ParsedQuery["workingHours"],
): QueryWindow[] {
  const slotMs = slotMinutes * 60_000;
  const slots: QueryWindow[] = [];
  for (const open of openTimes(window, hours)) {
    for (const gap of gapsOf(open, busy)) {
      for (let fromMs = Math.ceil(gap.fromMs / gridMs) * gridMs; fromMs + slotMs <= gap.toMs; fromMs += slotMs) {
        slots.push({ fromMs, toMs: fromMs + slotMs });
        if (slots.length === slotsMax) return slots;
      }
    }
  }
  return slots;
}

function gapsOf(open: QueryWindow, busy: readonly QueryWindow[]): QueryWindow[] {
  const gaps: QueryWindow[] = [];
  let fromMs = open.fromMs;
  for (const { fromMs: busyFromMs, toMs } of busy) {
    if (toMs <= fromMs || busyFromMs >= open.toMs) continue;
    if (busyFromMs > fromMs) gaps.push({ fromMs, toMs: busyFromMs });
    fromMs = toMs;
  }
  return fromMs < open.toMs ? [...gaps, { fromMs, toMs: open.toMs }] : gaps;
}

/** The parts of a window that are within working hours, from Monday to Friday. */
function* openTimes(window: QueryWindow, hours: ParsedQuery["workingHours"]): Iterable<QueryWindow> {
  if (hours === null) return yield window;
  const firstDay = Temporal.Instant.fromEpochMilliseconds(window.fromMs).toZonedDateTimeISO(hours.timeZone);
  for (let day = firstDay.toPlainDate(); ; day = day.add({ days: 1 })) {
    const [fromMs, toMs] = [hours.from, hours.to].map(
      (time) => day.toZonedDateTime({ timeZone: hours.timeZone, plainTime: time }).epochMilliseconds,
    );
    if (fromMs === undefined || toMs === undefined || fromMs >= window.toMs) return;
    const open = { fromMs: Math.max(fromMs, window.fromMs), toMs: Math.min(toMs, window.toMs) };
    if (day.dayOfWeek <= fridayNumber && open.toMs > open.fromMs) yield open;
  }
}

const fridayNumber = 5;

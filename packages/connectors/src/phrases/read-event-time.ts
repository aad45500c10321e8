import { Temporal } from "temporal-polyfill";
import type { EventTime } from "../ports/event-time.ts";
import { expandRecurrence, type Recurrence } from "../time/recurrence.ts";
import { eventInstant, instantOf, shiftTime, toIso, wallTimeOf } from "../time/zoned-instant.ts";
import { weekdayNumber, weekdayPattern } from "./named-days.ts";
import { type NamedTime, type PartOfDay, parseDates } from "./parse-dates.ts";
import { missing, type Phrase, type PhraseScope, takeMatch } from "./phrase.ts";
import { checkWeekday, comingDay, dateText, rewriteWords, todayOf } from "./rewrite-words.ts";
import { type ClockTime, clockText, firstHour, takeClockRange } from "./take-clock-range.ts";
import { takeDuration } from "./take-duration.ts";
import { takeRecurrence } from "./take-recurrence.ts";
import { takeZone } from "./take-zone.ts";

/** The time of an event, as a request names it. */
export interface EventTimePhrase {
  start: EventTime;
  end: EventTime;
  /** ISO times in UTC. */
  startsAt: string;
  endsAt: string;
  recurrence: string | null;
  /** For people, such as `Tuesday, 10 March 2026, 14:00–15:00 (Europe/Berlin)`. */
  label: string;
  /** Sentences about everything that the request leaves open. */
  assumptions: string[];
}

/** Options of `readEventTime`. */
export interface EventTimeOptions extends PhraseScope {
  /** The length of an event whose request names none. Default: 60. */
  minutesDefault?: number;
}

/**
 * Reads the time of an event from a request in English. Everything that it assumes is stated. Throws `params` if the request
 * names no time, no hour, several times, a time in the past, or one that the zone skips; the message says what is missing.
 *
 * @example
 * const scope = { nowMs: Date.UTC(2026, 2, 2, 11), timeZone: "Europe/Berlin" };
 * const { label } = await readEventTime("lunch with Ana tomorrow at 12:30 for 45 minutes", scope);
 * // "Tuesday, 3 March 2026, 12:30–13:15 (Europe/Berlin)"
 */
export async function readEventTime(text: string, options: EventTimeOptions): Promise<EventTimePhrase> {
  const phrase: Phrase = { text: text.slice(0, charactersMax), assumptions: [] };
  const timeZone = takeZone(phrase, options) ?? options.timeZone;
  const scope: PhraseScope = { nowMs: options.nowMs, timeZone };
  const isAllDay = takeMatch(phrase, /\b(?:all[- ]day|the whole day|full[- ]day)\b/i) !== null;
  const minutes = takeDuration(phrase);
  const recurrence = takeRecurrence(phrase);
  const range = takeClockRange(phrase);
  rewriteWords(phrase, scope);
  const named = chooseTimes(await parseDates(phrase.text, scope, true));
  if (isAllDay) return allDay(phrase, named, scope, recurrence);
  const start = startOf(phrase, named, scope, recurrence);
  const end = endOf(phrase, start, { range, minutes, minutesDefault: options.minutesDefault ?? 60 });
  return toPhrase({ start, end, recurrence, scope, assumptions: phrase.assumptions });
}

/** Longer requests are read in part: a time stands near the beginning. */
const charactersMax = 5_000;

/** The one date and the one time of a request. */
interface ChosenTimes {
  day: NamedTime | null;
  clock: NamedTime | null;
}

function chooseTimes(all: readonly NamedTime[]): ChosenTimes {
  const days = all.filter(({ date }) => date !== null);
  const clocks = all.filter(
    ({ clock, partOfDay, instantMs }) => clock !== null || partOfDay !== null || instantMs !== null,
  );
  const differentDays = new Set(days.map(({ date }) => date?.toString()));
  if (differentDays.size > 1) throw ambiguous("several days", days);
  const exact = clocks.filter(({ clock, instantMs }) => clock !== null || instantMs !== null);
  if (new Set(exact.map(({ clock, instantMs }) => (clock ? clockText(clock) : instantMs))).size > 1) {
    throw ambiguous("several times", exact);
  }
  return { day: days[0] ?? null, clock: exact[0] ?? clocks[0] ?? null };
}

function ambiguous(what: string, times: readonly NamedTime[]) {
  const words = times.map(({ text }) => JSON.stringify(text)).join(" and ");
  return missing("time", `the request names ${what}: ${words}`, "name one of them");
}

const nothingNamed = () =>
  missing("time", "the request names no time", "add a day and a time, such as `on Tuesday at 2 pm`");

/** Hours of the parts of a day. */
const partHours: Readonly<Record<PartOfDay, number>> = {
  ...{ morning: 9, noon: 12, afternoon: 14, evening: 18, tonight: 19, night: 20, midnight: 0 },
};

function startOf(
  phrase: Phrase,
  { day, clock }: ChosenTimes,
  scope: PhraseScope,
  recurrence: string | null,
): EventTime {
  if (clock?.instantMs != null) return wallTimeOf(roundUpToMinute(clock.instantMs), scope.timeZone);
  if (!day && !clock) throw nothingNamed();
  if (day?.isWholeMonth) throw missing("time", `${JSON.stringify(day.text)} names a month, but no day`, "name a day");
  if (!clock) {
    const which = day?.date ? ` (${dateText(day.date)})` : "";
    throw missing("time", `the request names a day${which}, but no time`, "add a time such as `at 2 pm`, or `all day`");
  }
  const time = clockOf(phrase, clock);
  const date = day?.date ? namedDate(day, day.date, time, scope) : impliedDate(phrase, time, scope, recurrence);
  if (day?.date) stateDay(phrase, day, date, scope);
  const start = { dateTime: `${firstMatch(date, recurrence)}T${clockText(time)}:00`, timeZone: scope.timeZone };
  const startMs = instantOf(start, "time");
  stateRepeatedTime(phrase, start, startMs);
  if (startMs > scope.nowMs) return start;
  if (recurrence !== null) return nextOccurrence({ rule: recurrence, start }, scope);
  const when = `${dateText(Temporal.PlainDate.from(date))}, ${clockText(time)}`;
  throw missing("time", `${when} (${scope.timeZone}) has passed`, "name a time in the future");
}

/** A series whose first time has passed begins with the next one. */
function nextOccurrence(series: Recurrence, { nowMs, timeZone }: PhraseScope): EventTime {
  const [next] = expandRecurrence(series, { fromMs: nowMs + 1, toMs: nowMs + yearMs });
  if (next === undefined) throw missing("time", "the series has no time in the next year", "name its first day");
  return wallTimeOf(next, timeZone);
}

const yearMs = 366 * 86_400_000;

function roundUpToMinute(instantMs: number): number {
  return Math.ceil(instantMs / 60_000) * 60_000;
}

export function clockOf(phrase: Phrase, { clock, partOfDay }: NamedTime): ClockTime {
  if (!clock) {
    const hour = partHours[partOfDay ?? "morning"];
    if (partOfDay !== "noon" && partOfDay !== "midnight") phrase.assumptions.push(`${partOfDay} is read as ${hour}:00`);
    return { hour, minute: 0 };
  }
  const { hour, minute, isAmbiguous } = clock;
  if (!isAmbiguous || hour >= firstHour) return { hour, minute };
  phrase.assumptions.push(
    `${hour}${minute ? `:${String(minute).padStart(2, "0")}` : ""} is read as ${clockText({ hour: hour + 12, minute })}`,
  );
  return { hour: hour + 12, minute };
}

/** A weekday is the next one whose time is still to come. */
export function namedDate(
  { weekday }: NamedTime,
  date: Temporal.PlainDate,
  time: ClockTime,
  scope: PhraseScope,
): Temporal.PlainDate {
  if (weekday === null) return date;
  const coming = comingDay(todayOf(scope), weekday);
  const startMs = coming.toZonedDateTime({ timeZone: scope.timeZone, plainTime: time }).epochMilliseconds;
  return startMs > scope.nowMs ? coming : coming.add({ days: 7 });
}

/** Without a day, the next moment with this time. */
function impliedDate(
  phrase: Phrase,
  time: ClockTime,
  scope: PhraseScope,
  recurrence: string | null,
): Temporal.PlainDate {
  const today = todayOf(scope);
  const atMs = instantOf({ dateTime: `${today}T${clockText(time)}:00`, timeZone: scope.timeZone }, "time");
  const date = atMs > scope.nowMs ? today : today.add({ days: 1 });
  if (recurrence === null) {
    const name = date.equals(today) ? "today" : "tomorrow";
    phrase.assumptions.push(`no day is named, so it is ${name}, ${dateText(date)}`);
  }
  return date;
}

/** A series on certain weekdays begins on the first of them. */
function firstMatch(date: Temporal.PlainDate, recurrence: string | null): Temporal.PlainDate {
  const days = /FREQ=WEEKLY.*BYDAY=([A-Z,]+)/.exec(recurrence ?? "")?.[1]?.split(",");
  if (!days) return date;
  const wait = days.map((day) => (weekdayNumber(day) - date.dayOfWeek + 7) % 7);
  return date.add({ days: Math.min(...wait) });
}

function stateDay(phrase: Phrase, { text }: NamedTime, date: Temporal.PlainDate, scope: PhraseScope): void {
  const weekday = new RegExp(`\\b${weekdayPattern}\\b`, "i").exec(text)?.[0];
  if (weekday !== undefined) checkWeekday(weekday, date);
  const slashed = /\b(\d{1,2})\/(\d{1,2})\b/.exec(text);
  if (slashed && Number(slashed[1]) <= 12 && Number(slashed[2]) <= 12 && slashed[1] !== slashed[2]) {
    phrase.assumptions.push(`${slashed[0]} is read as ${dateText(date)}: the month first`);
  }
  const daysAhead = todayOf(scope).until(date).days;
  if (weekday !== undefined && /\bnext\b/i.test(text))
    phrase.assumptions.push(`${text.match(/next \w+/i)?.[0]} is read as ${dateText(date)}`);
  else if (weekday !== undefined && daysAhead === 7)
    phrase.assumptions.push(`${weekday} is read as ${dateText(date)}, and not as today`);
}

function stateRepeatedTime(phrase: Phrase, start: { dateTime: string; timeZone: string }, startMs: number): void {
  const later = Temporal.PlainDateTime.from(start.dateTime).toZonedDateTime(start.timeZone, {
    disambiguation: "later",
  });
  if (later.epochMilliseconds === startMs) return;
  phrase.assumptions.push(
    `${start.dateTime.slice(11, 16)} happens twice on that day in ${start.timeZone}: the first is used`,
  );
}

interface EndHints {
  range: { from: ClockTime; to: ClockTime } | null;
  minutes: number | null;
  minutesDefault: number;
}

function endOf(phrase: Phrase, start: EventTime, { range, minutes, minutesDefault }: EndHints): EventTime {
  if (range && "dateTime" in start) {
    const day = Temporal.PlainDate.from(start.dateTime.slice(0, 10));
    const isNextDay = clockText(range.to) <= clockText(range.from);
    const end = { ...start, dateTime: `${isNextDay ? day.add({ days: 1 }) : day}T${clockText(range.to)}:00` };
    instantOf(end, "time");
    return end;
  }
  if (minutes === null) phrase.assumptions.push(`no length is named, so it lasts ${minutesDefault} minutes`);
  return shiftTime(start, start, (minutes ?? minutesDefault) * 60_000);
}

function allDay(phrase: Phrase, { day }: ChosenTimes, scope: PhraseScope, recurrence: string | null): EventTimePhrase {
  if (!day?.date) throw missing("time", "the request names no day", "add a day, such as `on Friday`");
  const today = todayOf(scope);
  const first = day.weekday === null || day.endDate ? day.date : comingDay(today, day.weekday);
  if (Temporal.PlainDate.compare(first, today) < 0) {
    throw missing("time", `${dateText(first)} has passed`, "name a day in the future");
  }
  stateDay(phrase, day, first, scope);
  const last = day.endDate ?? first;
  const start = { date: firstMatch(first, recurrence).toString() };
  return toPhrase({
    start,
    end: { date: last.add({ days: 1 }).toString() },
    recurrence,
    scope,
    assumptions: phrase.assumptions,
  });
}

function toPhrase({
  scope,
  ...fields
}: Pick<EventTimePhrase, "start" | "end" | "recurrence" | "assumptions"> & { scope: PhraseScope }): EventTimePhrase {
  const [startsAt, endsAt] = [fields.start, fields.end].map((time) => toIso(eventInstant(time, scope.timeZone)));
  return { ...fields, startsAt: startsAt ?? "", endsAt: endsAt ?? "", label: labelOf(fields.start, fields.end) };
}

function labelOf(start: EventTime, end: EventTime): string {
  if ("date" in start || "date" in end) {
    const first = Temporal.PlainDate.from("date" in start ? start.date : start.dateTime.slice(0, 10));
    const last = Temporal.PlainDate.from("date" in end ? end.date : end.dateTime.slice(0, 10)).subtract({ days: 1 });
    return first.equals(last) ? `${dateText(first)}, all day` : `${dateText(first)} to ${dateText(last)}`;
  }
  const day = dateText(Temporal.PlainDate.from(start.dateTime.slice(0, 10)));
  return `${day}, ${start.dateTime.slice(11, 16)}–${end.dateTime.slice(11, 16)} (${start.timeZone})`;
}

import { Temporal } from "temporal-polyfill";
import { instantOf, toIso } from "../time/zoned-instant.ts";
import { type NamedTime, parseDates } from "./parse-dates.ts";
import { missing, numberOf, numberPattern, type Phrase, type PhraseScope, takeMatch } from "./phrase.ts";
import { comingDay, dateText, mondayOf, rewriteWords, todayOf } from "./rewrite-words.ts";
import { clockText, takeClockRange } from "./take-clock-range.ts";
import { takeZone } from "./take-zone.ts";

/** A span of time that a request names. */
export interface TimeRangePhrase {
  /** ISO times in UTC. `to` is exclusive. */
  from: string;
  to: string;
  assumptions: string[];
}

/** Options of `readTimeRange`. */
export interface TimeRangeOptions extends PhraseScope {
  /** `past`: "Monday" is the last one, as in a search. `future`: the next one, as in a calendar. */
  direction: "past" | "future";
}

/**
 * Reads a span of time from a request in English: "last 7 days", "next week", "since Monday", "Tuesday between 2 and 4".
 * Null if the request names none. Throws `params` for a span that ends before it begins, or that the zone does not have.
 *
 * @example
 * const scope = { nowMs: Date.UTC(2026, 2, 4, 11), timeZone: "Europe/Berlin", direction: "past" } as const;
 * await readTimeRange("mails from Ana since Monday", scope);
 * // { from: "2026-03-01T23:00:00.000Z", to: "2026-03-04T11:00:00.000Z", assumptions: [] }
 */
export async function readTimeRange(text: string, options: TimeRangeOptions): Promise<TimeRangePhrase | null> {
  const phrase: Phrase = { text: text.slice(0, charactersMax), assumptions: [] };
  const timeZone = takeZone(phrase, options) ?? options.timeZone;
  const scope = { ...options, timeZone };
  const span = takeCount(phrase, scope) ?? takePeriod(phrase, scope) ?? (await namedSpan(phrase, scope));
  if (span === null) return null;
  // Without a year, the parser moves an end that is too early to the next year.
  const isMoved = span.toMs - span.fromMs > impliedSpanMsMax && !/\d{4}|year/i.test(text) && span.fromMs > 0;
  if (isMoved || span.toMs <= span.fromMs)
    throw missing("range", "the span of time ends before it begins", "name its start first");
  return { from: toIso(span.fromMs), to: toIso(span.toMs), assumptions: phrase.assumptions };
}

const charactersMax = 5_000;
const impliedSpanMsMax = 300 * 86_400_000;

interface Span {
  fromMs: number;
  toMs: number;
}

const counted = new RegExp(
  String.raw`\b(last|past|previous|recent|next|coming|following)\s+(${numberPattern})\s+(minute|hour|day|week|month|year)s?\b`,
  "i",
);
const bareCount = /\b(\d+)\s*(d|h|w)\b/i;

/** "last 7 days" ends now, "next 2 weeks" begins now. */
function takeCount(phrase: Phrase, scope: TimeRangeOptions): Span | null {
  const match = takeMatch(phrase, counted);
  if (match) {
    const [, word = "", count = "", unit = ""] = match;
    return fromNow(numberOf(count), `${unit.toLowerCase()}s`, !/^(?:next|coming|following)$/i.test(word), scope);
  }
  const [, count, letter] = takeMatch(phrase, bareCount) ?? [];
  const unit = { d: "days", h: "hours", w: "weeks" }[letter?.toLowerCase() ?? ""];
  return unit === undefined ? null : fromNow(Number(count), unit, scope.direction === "past", scope);
}

function fromNow(count: number, unit: string, isPast: boolean, { nowMs, timeZone }: TimeRangeOptions): Span {
  const now = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timeZone);
  const other = now.add({ [unit]: isPast ? -count : count }).epochMilliseconds;
  return isPast ? { fromMs: other, toMs: nowMs } : { fromMs: nowMs, toMs: other };
}

const period = /\b(this|next|last|previous|past|coming|current)\s+(week|month|quarter|year|weekend)\b/i;
const steps: Readonly<Record<string, number>> = { next: 1, coming: 1, last: -1, previous: -1, past: -1 };

/** Whole weeks, months and years of the calendar. */
function takePeriod(phrase: Phrase, scope: TimeRangeOptions): Span | null {
  // "the end of next month" is a day, and the words of a part of a period are not the period.
  if (/\b(?:start|beginning|end|first|last \w+day) (?:\w+ )?(?:of|in)\b/i.test(phrase.text)) return null;
  const match = takeMatch(phrase, period);
  if (!match) return null;
  const [, word = "", unit = ""] = match;
  const step = steps[word.toLowerCase()] ?? 0;
  const today = todayOf(scope);
  switch (unit.toLowerCase()) {
    case "week":
      return days(mondayOf(today).add({ weeks: step }), { weeks: 1 }, scope);
    case "weekend":
      return days(mondayOf(today).add({ weeks: step, days: 5 }), { days: 2 }, scope);
    case "month":
      return days(today.with({ day: 1 }).add({ months: step }), { months: 1 }, scope);
    case "quarter": {
      const first = today.with({ day: 1, month: Math.floor((today.month - 1) / 3) * 3 + 1 });
      return days(first.add({ months: 3 * step }), { months: 3 }, scope);
    }
    default:
      return days(today.with({ day: 1, month: 1 }).add({ years: step }), { years: 1 }, scope);
  }
}

function days(first: Temporal.PlainDate, length: Temporal.DurationLike, { timeZone }: PhraseScope): Span {
  const [from, to] = [first, first.add(length)].map((day) => day.toZonedDateTime(timeZone).epochMilliseconds);
  return { fromMs: from ?? 0, toMs: to ?? 0 };
}

/** Everything that names days: "since Monday", "between 1 and 5 March", "Tuesday from 2 to 4", "in March". */
async function namedSpan(phrase: Phrase, scope: TimeRangeOptions): Promise<Span | null> {
  shareMonth(phrase);
  const clocks = takeClockRange(phrase);
  rewriteWords(phrase, scope);
  const lead = /\b(since|after|from|until|till|before|by|up to)\s+(?=[\w/-])/i.exec(phrase.text);
  const forward = scope.direction === "future" && !/^since$/i.test(lead?.[1] ?? "");
  const named = (await parseDates(phrase.text, scope, forward)).map((time) =>
    nearestDate(time, phrase.text, scope, forward),
  );
  const [first, second] = named;
  if (!first) return null;
  const span = spanOf(first, clocks, scope);
  if (first.endDate) return { fromMs: span.fromMs, toMs: days(first.endDate, { days: 1 }, scope).toMs };
  if (second && isJoined(phrase.text, first, second))
    return { fromMs: span.fromMs, toMs: spanOf(second, null, scope).toMs };
  if (!lead || lead.index > first.index || clocks) return span;
  return ledSpan(lead[1]?.toLowerCase() ?? "", span, scope);
}

/** "1 to 5 March" becomes "1 March to 5 March". */
function shareMonth(phrase: Phrase): void {
  const month = "((?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*)";
  const ordinal = "(?:st|nd|rd|th)?";
  const after = new RegExp(
    String.raw`\b(\d{1,2})${ordinal}\s*(-|–|to|and|until)\s*(\d{1,2})${ordinal}\s+(?:of\s+)?${month}\b`,
    "i",
  );
  phrase.text = phrase.text.replace(after, "$1 $4 $2 $3 $4");
  const before = new RegExp(
    String.raw`\b${month}\s+(\d{1,2})${ordinal}\s*(-|–|to|and|until)\s*(\d{1,2})${ordinal}(?![\d:])`,
    "i",
  );
  phrase.text = phrase.text.replace(before, "$2 $1 $3 $4 $1");
}

/** The next weekday, or the last one. The parser reads "last Tuesday" as any Tuesday. */
function nearestDate(time: NamedTime, text: string, scope: TimeRangeOptions, forward: boolean): NamedTime {
  const isLast = scope.direction === "past" || /\b(?:last|past)\s+\w+day\b/i.test(text);
  const isWeekday = /\b(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\b/i.test(time.text);
  const today = todayOf(scope);
  if (forward && !isLast && time.weekday !== null && !time.endDate)
    return { ...time, date: comingDay(today, time.weekday) };
  if (!isLast || !isWeekday || !time.date || Temporal.PlainDate.compare(time.date, today) <= 0) return time;
  const weeks = Math.ceil(today.until(time.date).days / 7);
  const move = (date: Temporal.PlainDate) => date.subtract({ weeks });
  return { ...time, date: move(time.date), endDate: time.endDate && move(time.endDate) };
}

const hourMs = 3_600_000;

/** A day, a month, or an hour. */
function spanOf(time: NamedTime, clocks: ReturnType<typeof takeClockRange>, scope: TimeRangeOptions): Span {
  if (time.instantMs !== null) return { fromMs: time.instantMs, toMs: time.instantMs + hourMs };
  const date = time.date ?? todayOf(scope);
  if (time.isWholeMonth) return days(date.with({ day: 1 }), { months: 1 }, scope);
  const at = (clock: string) => instantOf({ dateTime: `${date}T${clock}:00`, timeZone: scope.timeZone }, "range");
  if (clocks) return { fromMs: at(clockText(clocks.from)), toMs: at(clockText(clocks.to)) };
  const part = time.partOfDay && partSpans[time.partOfDay];
  if (part) return { fromMs: at(part[0]), toMs: at(part[1]) };
  if (time.clock) {
    const fromMs = at(clockText(time.clock));
    return { fromMs, toMs: fromMs + hourMs };
  }
  return days(date, { days: 1 }, scope);
}

const partSpans: Readonly<Record<string, readonly [string, string]>> = {
  morning: ["06:00", "12:00"],
  afternoon: ["12:00", "18:00"],
  evening: ["18:00", "22:00"],
  tonight: ["18:00", "23:59"],
  night: ["18:00", "23:59"],
};

function isJoined(text: string, first: NamedTime, second: NamedTime): boolean {
  const between = text.slice(first.index + first.text.length, second.index);
  return (
    /^\s*(?:-|–|to|and|until|till|through)(?:\s+the)?\s*$/i.test(between) && first.date !== null && second.date !== null
  );
}

/** A span that is open on one side: it ends or begins now. */
function ledSpan(word: string, span: Span, { nowMs, direction }: TimeRangeOptions): Span {
  if (word === "since") return { fromMs: span.fromMs, toMs: nowMs };
  if (word === "after")
    return direction === "past"
      ? { fromMs: span.toMs, toMs: nowMs }
      : { fromMs: span.toMs, toMs: span.toMs + 30 * 24 * hourMs };
  if (word === "before")
    return direction === "past" ? { fromMs: 0, toMs: span.fromMs } : { fromMs: nowMs, toMs: span.fromMs };
  if (word === "from") return span;
  return direction === "past" ? { fromMs: 0, toMs: span.toMs } : { fromMs: nowMs, toMs: span.toMs };
}

/** A span for people, such as `Monday, 2 March 2026 to Friday, 6 March 2026`. */
export function rangeText({ from, to }: Pick<TimeRangePhrase, "from" | "to">, timeZone: string): string {
  const dates = [Date.parse(from), Date.parse(to) - 1].map((atMs) =>
    Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(timeZone).toPlainDate(),
  );
  const [first = "", last = ""] = dates.map(dateText);
  return first === last ? first : `${first} to ${last}`;
}

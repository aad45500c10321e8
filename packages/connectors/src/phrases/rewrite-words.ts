import { Temporal } from "temporal-polyfill";
import { ordinals, weekdayNumber, weekdayPattern } from "./named-days.ts";
import { missing, type Phrase, type PhraseScope } from "./phrase.ts";

const monthNames = [
  "january",
  "february",
  "march",
  "april",
  "may",
  "june",
  "july",
  "august",
  "september",
  "october",
  "november",
  "december",
];
/** The day of the phrase's scope. */
export function todayOf({ nowMs, timeZone }: PhraseScope): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timeZone).toPlainDate();
}

/**
 * Replaces words that the date parser does not know by words that it knows: "half past 2", "14h30", "the 15th", "end of
 * the week", "EOD", "the first Monday of April". Throws `params` for a weekday that is not on its date.
 */
export function rewriteWords(phrase: Phrase, scope: PhraseScope): void {
  const today = todayOf(scope);
  const replace = (pattern: RegExp, by: (...groups: string[]) => string): void => {
    phrase.text = phrase.text.replace(pattern, (_, ...groups) =>
      by(...groups.filter((each) => typeof each === "string")),
    );
  };
  phrase.text = phrase.text.replace(
    /\b(half|quarter) (past|to) (\d{1,2})(?!\d)/gi,
    (_, part: string, side: string, hour: string) => {
      const minute = part.toLowerCase() === "half" ? 30 : 15;
      return side.toLowerCase() === "past" ? `${hour}:${minute}` : `${((Number(hour) + 22) % 12) + 1}:${60 - minute}`;
    },
  );
  // The parser would read "13, 10" as a day and a year.
  replace(/(\d(?:st|nd|rd|th)?),\s*(?=\d{1,2}(?::\d\d)?\s*(?:[ap]\.?m|$))/gi, (day = "") => `${day} at `);
  replace(/\b(\d{1,2})h(\d\d)\b/gi, (hour = "", minute = "") => `${hour}:${minute}`);
  replace(/\b(\d{1,2})h\b(?!\s*(?:ours?|long))/gi, (hour = "") => `${hour}:00`);
  replace(/\b(\d{1,2}) o'?clock\b/gi, (hour = "") => `${hour}:00`);
  replace(/\b(?:eod|cob|(?:the )?end of (?:the )?(?:business )?day|close of business)\b/gi, () => {
    phrase.assumptions.push("the end of the day is read as 17:00");
    return "at 17:00";
  });
  rewriteEnds(phrase, today);
  rewriteOrdinals(phrase, today);
}

function rewriteEnds(phrase: Phrase, today: Temporal.PlainDate): void {
  const ends: readonly [RegExp, () => Temporal.PlainDate][] = [
    [/\b(?:eow|(?:the )?end of (?:the |this )?week)\b/gi, () => comingDay(today, 5)],
    [/\b(?:the )?end of next week\b/gi, () => mondayOf(today).add({ days: 11 })],
    [/\b(?:eom|(?:the )?end of (?:the |this )?month)\b/gi, () => today.with({ day: today.daysInMonth })],
    [/\b(?:the )?end of next month\b/gi, () => lastDay(today.with({ day: 1 }).add({ months: 1 }))],
    [/\b(?:the )?(?:start|beginning) of next month\b/gi, () => today.with({ day: 1 }).add({ months: 1 })],
    [/\b(?:the )?(?:start|beginning) of next week\b/gi, () => mondayOf(today).add({ days: 7 })],
    [
      /\b(?:eoq|(?:the )?end of (?:the |this )?quarter)\b/gi,
      () => lastDay(today.with({ day: 1, month: Math.ceil(today.month / 3) * 3 })),
    ],
    [/\b(?:eoy|(?:the )?end of (?:the |this )?year)\b/gi, () => today.with({ month: 12, day: 31 })],
  ];
  for (const [pattern, dateOf] of ends) phrase.text = phrase.text.replace(pattern, () => dateOf().toString());
}

function rewriteOrdinals(phrase: Phrase, today: Temporal.PlainDate): void {
  const nth = new RegExp(
    String.raw`\b(?:the )?(${Object.keys(ordinals).join("|")}) (${weekdayPattern}) (?:of|in) (?:(the|this|next) month|(${monthNames.join("|")})(?: (\d{4}))?)\b`,
    "gi",
  );
  phrase.text = phrase.text.replace(
    nth,
    (_, ordinal: string, day: string, relative?: string, month?: string, year?: string) => {
      const first = monthStart(today, relative, month, year);
      const found = nthWeekday(first, ordinals[ordinal.toLowerCase()] ?? 1, weekdayNumber(day));
      if (Temporal.PlainDate.compare(found, today) >= 0 || year !== undefined) return found.toString();
      const later = month === undefined ? first.add({ months: 1 }) : first.add({ years: 1 });
      return nthWeekday(later, ordinals[ordinal.toLowerCase()] ?? 1, weekdayNumber(day)).toString();
    },
  );
  const dayOfMonth = new RegExp(
    String.raw`\b(?:(${weekdayPattern}),? )?(?:on )?the (\d{1,2})(?:st|nd|rd|th)\b(?! of)(?! (?:${monthNames.join("|")}))`,
    "gi",
  );
  phrase.text = phrase.text.replace(dayOfMonth, (whole, day: string | undefined, number: string) => {
    const date = nextDayOfMonth(today, Number(number));
    if (date === null) return whole;
    if (day !== undefined) checkWeekday(day, date);
    return date.toString();
  });
}

/** Throws `params` if the date is on another weekday. */
export function checkWeekday(word: string, date: Temporal.PlainDate): void {
  const expected = weekdayNumber(word);
  if (expected === 0 || expected === date.dayOfWeek) return;
  const actual = dateText(date);
  throw missing("time", `the request says ${word}, but that date is ${actual}`, "name the day or the date alone");
}

/** A date for people, such as `Tuesday, 3 March 2026`. */
export function dateText(date: Temporal.PlainDate): string {
  return date
    .toLocaleString("en-GB", { weekday: "long", day: "numeric", month: "long", year: "numeric" })
    .replace(/^(\w+) /, "$1, ");
}

export function mondayOf(date: Temporal.PlainDate): Temporal.PlainDate {
  return date.subtract({ days: date.dayOfWeek - 1 });
}

/** The next date of a weekday, today included. 1 is Monday. */
export function comingDay(today: Temporal.PlainDate, dayOfWeek: number): Temporal.PlainDate {
  return today.add({ days: (dayOfWeek - today.dayOfWeek + 7) % 7 });
}

function lastDay(date: Temporal.PlainDate): Temporal.PlainDate {
  return date.with({ day: date.daysInMonth });
}

function monthStart(today: Temporal.PlainDate, relative?: string, month?: string, year?: string): Temporal.PlainDate {
  const first = today.with({ day: 1 });
  if (month === undefined) return relative?.toLowerCase() === "next" ? first.add({ months: 1 }) : first;
  return first.with({
    month: monthNames.indexOf(month.toLowerCase()) + 1,
    ...(year === undefined ? {} : { year: Number(year) }),
  });
}

function nthWeekday(first: Temporal.PlainDate, position: number, dayOfWeek: number): Temporal.PlainDate {
  if (position > 0) return comingDay(first, dayOfWeek).add({ days: (position - 1) * 7 });
  const last = lastDay(first);
  return last.subtract({ days: (last.dayOfWeek - dayOfWeek + 7) % 7 });
}

/** The next date with this number, today included. Null if no month has it. */
function nextDayOfMonth(today: Temporal.PlainDate, day: number): Temporal.PlainDate | null {
  if (day < 1 || day > 31) return null;
  for (let first = today.with({ day: 1 }); ; first = first.add({ months: 1 })) {
    if (day > first.daysInMonth) continue;
    const date = first.with({ day });
    if (Temporal.PlainDate.compare(date, today) >= 0) return date;
  }
}

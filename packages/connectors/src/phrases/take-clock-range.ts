import { type Phrase, takeMatch } from "./phrase.ts";

/** A time of a day. */
export interface ClockTime {
  hour: number;
  minute: number;
}

const clock = String.raw`(\d{1,2})(?:[:.h](\d\d))?\s*([ap]\.?m\b\.?)?`;
const months = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec";
const range = new RegExp(
  String.raw`(?<![\d/.-])\b(?:(from|between|at)\s+)?${clock}\s*(-|–|—|to|until|till|and)\s*${clock}(?![\d/.:-]|\s*(?:${months}|days?|weeks?|hours?|minutes?|mins?|people|st\b|nd\b|rd\b|th\b))`,
  "i",
);

/**
 * Takes a span of clock times, such as "from 2 to 4pm" or "9:00-10:30", and leaves its start as `at 14:00`. Null: none.
 */
export function takeClockRange(phrase: Phrase): { from: ClockTime; to: ClockTime } | null {
  const match = range.exec(phrase.text);
  if (!match) return null;
  const [, word, hour1, minute1, half1, joint = "", hour2, minute2, half2] = match;
  // "2 and 3" alone names two things. A dash between two bare numbers needs a time somewhere.
  if (joint === "and" && word?.toLowerCase() !== "between") return null;
  const from = toClock(hour1, minute1, half1 ?? inherited(hour1, hour2, half2));
  const to = toClock(hour2, minute2, half2 ?? (half1 && Number(hour2) > Number(hour1) ? half1 : undefined));
  if (!from || !to) return null;
  const isBare = !half1 && !half2;
  if (isBare && from.hour >= 1 && from.hour < firstHour && !hour1?.startsWith("0")) {
    phrase.assumptions.push(`${from.hour} is read as ${from.hour + 12}:00, in the afternoon`);
    from.hour += 12;
  }
  if (!half2 && to.hour <= from.hour && to.hour + 12 > from.hour) to.hour += 12;
  takeMatch(phrase, range, `at ${clockText(from)}`);
  return { from, to };
}

/** A bare hour before this one means the afternoon. */
export const firstHour = 7;

export function clockText({ hour, minute }: ClockTime): string {
  return `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
}

/** In "2 to 4pm" both are in the afternoon, in "11 to 1pm" the first is not. */
function inherited(hour1 = "", hour2 = "", half2?: string): string | undefined {
  if (half2 === undefined) return undefined;
  const isBefore = Number(hour1) % 12 < Number(hour2) % 12;
  return isBefore ? half2 : half2.toLowerCase().startsWith("p") ? "am" : "pm";
}

function toClock(hourText = "", minuteText = "00", half?: string): ClockTime | null {
  const [hour, minute] = [Number(hourText), Number(minuteText)];
  if (minute > 59 || hour > 24 || (half && (hour < 1 || hour > 12))) return null;
  if (!half) return hour === 24 ? null : { hour, minute };
  return { hour: (hour % 12) + (half.toLowerCase().startsWith("p") ? 12 : 0), minute };
}

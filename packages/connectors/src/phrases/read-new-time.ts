import { parseDates } from "./parse-dates.ts";
import type { Phrase, PhraseScope } from "./phrase.ts";
import { clockOf, namedDate } from "./read-event-time.ts";
import { rewriteWords } from "./rewrite-words.ts";
import { clockText, takeClockRange } from "./take-clock-range.ts";
import { takeDuration } from "./take-duration.ts";

/** The new time of an event, as a request names it. Absent parts stay as they are. */
export interface NewTimePhrase {
  /** Like `2026-03-03`. */
  date: string | null;
  /** Like `14:00`. */
  clock: string | null;
  endClock: string | null;
  minutes: number | null;
  assumptions: string[];
}

/**
 * Reads a day, a time of the day, or both: "Friday", "9:30", "next Monday from 2 to 4pm".
 *
 * @example
 * await readNewTime("Friday at 10am", { nowMs: Date.UTC(2026, 2, 2, 11), timeZone: "Europe/Berlin" });
 * // { date: "2026-03-06", clock: "10:00", endClock: null, minutes: null, assumptions: [] }
 */
export async function readNewTime(text: string, scope: PhraseScope): Promise<NewTimePhrase> {
  // The date parser reads no hour behind "until".
  const phrase: Phrase = { text: text.replace(/^\s*(?:until|till)\s+(?=\d)/i, "at "), assumptions: [] };
  const minutes = takeDuration(phrase);
  const range = takeClockRange(phrase);
  rewriteWords(phrase, scope);
  const named = await parseDates(phrase.text, scope, true);
  const day = named.find(({ date, isWholeMonth }) => date !== null && !isWholeMonth);
  const hour = named.find(({ clock, partOfDay }) => clock !== null || partOfDay !== null);
  const clock = hour ? clockOf(phrase, hour) : null;
  const date = day?.date ? namedDate(day, day.date, clock ?? { hour: 23, minute: 59 }, scope) : null;
  return {
    date: date?.toString() ?? null,
    clock: clock && clockText(clock),
    endClock: range && clockText(range.to),
    minutes,
    assumptions: phrase.assumptions,
  };
}

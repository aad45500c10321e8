import { Temporal } from "temporal-polyfill";
import { rangeText } from "../../phrases/read-time-range.ts";
import { dateText } from "../../phrases/rewrite-words.ts";

/**
 * A list in a sentence.
 *
 * @example
 * listOf(["Mara", "Ruth", "Leon"]); // "Mara, Ruth and Leon"
 */
export function listOf(items: readonly string[]): string {
  if (items.length < 2) return items.join("");
  return `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}

/**
 * The beginning of a long list in a sentence.
 *
 * @example
 * someOf(["a", "b", "c", "d", "e"], 3); // "a, b, c and 2 more"
 */
export function someOf(items: readonly string[], shownMax = 5): string {
  if (items.length <= shownMax) return listOf(items);
  return listOf([...items.slice(0, shownMax), `${items.length - shownMax} more`]);
}

/**
 * A number with its noun.
 *
 * @example
 * countOf(1, "message"); // "1 message"
 * countOf(0, "reply", "replies"); // "no replies"
 */
export function countOf(count: number, noun: string, plural = `${noun}s`): string {
  return `${count === 0 ? "no" : count} ${count === 1 ? noun : plural}`;
}

/** A title or a subject in a sentence. */
export function quoted(text: string): string {
  return `“${oneLine(text)}”`;
}

/** A text without line breaks, and not longer than one line of a list. */
export function oneLine(text: string, charactersMax = 200): string {
  const line = text.replace(/[\p{Cc}\u2028\u2029\s]+/gu, " ").trim();
  return line.length <= charactersMax ? line : `${line.slice(0, charactersMax - 1).trimEnd()}…`;
}

/** A text of a stranger as a quote: no line of it is a heading or a list of the answer. */
export function blockQuote(text: string, charactersMax = 4_000): string {
  const shown = text.length <= charactersMax ? text : `${text.slice(0, charactersMax)}…`;
  return shown
    .split(/\r?\n/)
    .map((line) => (line.trim() === "" ? ">" : `> ${line}`))
    .join("\n");
}

export function bullets(items: readonly string[]): string {
  return items.map((item) => `- ${item}`).join("\n");
}

export function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}

export function uncapitalized(text: string): string {
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}

/**
 * A moment for people: an instant in this zone, a wall clock time as it is, or a day.
 *
 * @example
 * momentText("2026-03-03T13:00:00Z", "Europe/Berlin"); // "Tuesday, 3 March 2026, 14:00"
 */
export function momentText(time: string, timeZone: string): string {
  const { date, clock } = partsOf(time, timeZone);
  return clock === null ? dateText(date) : `${dateText(date)}, ${clock}`;
}

/**
 * A span for people, with its zone.
 *
 * @example
 * spanText("2026-03-03T13:00:00Z", "2026-03-03T14:00:00Z", "Europe/Berlin"); // "Tuesday, 3 March 2026, 14:00–15:00 (Europe/Berlin)"
 */
export function spanText(start: string, end: string, timeZone: string): string {
  const [from, to] = [partsOf(start, timeZone), partsOf(end, timeZone)];
  if (from.clock === null) {
    const last = to.clock === null ? to.date.subtract({ days: 1 }) : to.date;
    const isOneDay = Temporal.PlainDate.compare(last, from.date) <= 0;
    return isOneDay ? `${dateText(from.date)}, all day` : `${dateText(from.date)} to ${dateText(last)}`;
  }
  const isSameDay = from.date.equals(to.date);
  const separator = isSameDay ? "–" : " to ";
  const until = isSameDay ? (to.clock ?? "24:00") : `${dateText(to.date)}, ${to.clock ?? "00:00"}`;
  return `${dateText(from.date)}, ${from.clock}${separator}${until} (${timeZone})`;
}

/** A span of days in a sentence: "on" a day, or "from" one "to" another. */
export function rangeWords(range: { from: string; to: string }, timeZone: string): string {
  const text = rangeText(range, timeZone);
  return `${text.includes(" to ") ? "from" : "on"} ${text}`;
}

function partsOf(time: string, timeZone: string): { date: Temporal.PlainDate; clock: string | null } {
  if (/^\d{4}-\d\d-\d\d$/.test(time)) return { date: Temporal.PlainDate.from(time), clock: null };
  const isInstant = /(?:Z|[+-]\d\d:?\d\d)$/.test(time);
  const wall = isInstant
    ? Temporal.Instant.from(time).toZonedDateTimeISO(timeZone).toPlainDateTime()
    : Temporal.PlainDateTime.from(time);
  return { date: wall.toPlainDate(), clock: wall.toPlainTime().toString({ smallestUnit: "minute" }) };
}

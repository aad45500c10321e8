import { ordinals, weekdayPattern } from "./named-days.ts";
import { type Phrase, takeMatch } from "./phrase.ts";

const weekday = `${weekdayPattern}s?`;
const list = String.raw`${weekday}(?:(?:\s*,\s*|\s+and\s+|\s*&\s*|\s*,\s*and\s+)${weekday})*`;

const monthly = new RegExp(
  String.raw`\b(?:monthly on|every month on|on|every)\s+(?:the\s+)?(${Object.keys(ordinals).join("|")})\s+(${weekday})\s+(?:of\s+)?(?:each|every|the)\s+month\b|\bmonthly on the (${Object.keys(ordinals).join("|")}) (${weekday})\b`,
  "i",
);
const monthDay = /\b(?:monthly|every month) on the (\d{1,2})(?:st|nd|rd|th)\b/i;
const everyOther = new RegExp(
  String.raw`\b(?:every (?:other|second|2nd)|biweekly on|fortnightly on)\s+(${list})\b`,
  "i",
);
const everyDays = new RegExp(String.raw`\b(?:every|each|weekly on|weekly every)\s+(${list})\b`, "i");

const plainForms: readonly { pattern: RegExp; rule: string }[] = [
  {
    pattern: /\b(?:(?:on )?(?:every )?(?:weekdays|workdays)|every (?:weekday|workday|working day)|each weekday)\b/i,
    rule: "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR",
  },
  { pattern: /\b(?:every (?:other|second) day)\b/i, rule: "FREQ=DAILY;INTERVAL=2" },
  { pattern: /\b(?:every day|each day|daily)\b/i, rule: "FREQ=DAILY" },
  {
    pattern: /\b(?:every (?:other|second|two|2) weeks?|biweekly|fortnightly|bi-weekly)\b/i,
    rule: "FREQ=WEEKLY;INTERVAL=2",
  },
  { pattern: /\b(?:every week|each week|weekly)\b/i, rule: "FREQ=WEEKLY" },
  { pattern: /\b(?:every (?:three|3) months|quarterly)\b/i, rule: "FREQ=MONTHLY;INTERVAL=3" },
  { pattern: /\b(?:every month|each month|monthly)\b/i, rule: "FREQ=MONTHLY" },
  { pattern: /\b(?:every year|each year|yearly|annually)\b/i, rule: "FREQ=YEARLY" },
];

/** Takes the words of a repetition, such as "every other Friday", and leaves the day of its start. Null: none. */
export function takeRecurrence(phrase: Phrase): string | null {
  const ordinal = monthly.exec(phrase.text);
  if (ordinal) {
    const [position = "", day = ""] = [ordinal[1] ?? ordinal[3], ordinal[2] ?? ordinal[4]];
    takeMatch(phrase, monthly, `${position} ${day} of the month`);
    return `FREQ=MONTHLY;BYDAY=${ordinals[position.toLowerCase()]}${codeOf(day)}`;
  }
  const number = monthDay.exec(phrase.text)?.[1];
  if (number !== undefined) {
    takeMatch(phrase, monthDay, `the ${number}th`);
    return `FREQ=MONTHLY;BYMONTHDAY=${number}`;
  }
  const other = everyOther.exec(phrase.text)?.[1];
  if (other !== undefined) return takeDays(phrase, everyOther, other, "FREQ=WEEKLY;INTERVAL=2");
  const days = everyDays.exec(phrase.text)?.[1];
  if (days !== undefined) return takeDays(phrase, everyDays, days, "FREQ=WEEKLY");
  return plainForms.find(({ pattern }) => takeMatch(phrase, pattern) !== null)?.rule ?? null;
}

/** The first day of the list stays in the text: the series begins on it. */
function takeDays(phrase: Phrase, pattern: RegExp, days: string, rule: string): string {
  const all = days.match(new RegExp(weekday, "gi")) ?? [];
  takeMatch(phrase, pattern, all.length === 1 ? (all[0] ?? "").replace(/s$/i, "") : "");
  return `${rule};BYDAY=${[...new Set(all.map(codeOf))].join(",")}`;
}

/** The name of a weekday in a rule: its first two letters. */
function codeOf(day: string): string {
  return day.slice(0, 2).toUpperCase();
}

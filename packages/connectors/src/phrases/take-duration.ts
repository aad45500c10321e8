import { numberOf, numberPattern, type Phrase, takeMatch } from "./phrase.ts";

const hours = String.raw`(?:hours?|hrs?|h)\b`;
const minutes = String.raw`(?:minutes?|mins?|m)\b`;
const lead = String.raw`(?:\b(?:for|block|reserve|hold|keep|lasting|lasts?|duration(?: of)?:?|takes?)\s+(?:about\s+)?)`;
/** A length without a leading word stands before a noun: "a 30 minute meeting". */
const noun = String.raw`(?=\s*(?:-\s*)?(?:long\s+)?(?:\w+\s+)?(?:meeting|call|chat|sync|session|slot|event|appointment|interview|review|slots))`;

const forms: readonly { pattern: RegExp; minutesOf: (match: RegExpExecArray) => number }[] = [
  { pattern: new RegExp(`${lead}half an hour\\b`, "i"), minutesOf: () => 30 },
  { pattern: new RegExp(`\\b(?:a )?half[- ]hour(?:ly)?${noun}`, "i"), minutesOf: () => 30 },
  {
    pattern: new RegExp(`${lead}(${numberPattern})\\s*${hours}\\s+and\\s+a\\s+half\\b`, "i"),
    minutesOf: ([, count = ""]) => numberOf(count) * 60 + 30,
  },
  {
    pattern: new RegExp(`${lead}(\\d+)\\s*(?:hours?|hrs?|h)\\s*(?:and\\s+)?(\\d+)(?:\\s*${minutes}|\\b)`, "i"),
    minutesOf: ([, whole = "", rest = ""]) => Number(whole) * 60 + Number(rest),
  },
  {
    pattern: new RegExp(`${lead}(${numberPattern})\\s*-?\\s*${hours}`, "i"),
    minutesOf: ([, count = ""]) => numberOf(count) * 60,
  },
  {
    pattern: new RegExp(`${lead}(${numberPattern})\\s*-?\\s*${minutes}`, "i"),
    minutesOf: ([, count = ""]) => numberOf(count),
  },
  {
    pattern: new RegExp(`\\b(${numberPattern})[\\s-]*${hours}${noun}`, "i"),
    minutesOf: ([, count = ""]) => numberOf(count) * 60,
  },
  {
    pattern: new RegExp(`\\b(${numberPattern})[\\s-]*${minutes}${noun}`, "i"),
    minutesOf: ([, count = ""]) => numberOf(count),
  },
];

const minutesMax = 24 * 60;

/** Takes the length that the request names, such as "for an hour and a half". Null: none. */
export function takeDuration(phrase: Phrase): number | null {
  for (const { pattern, minutesOf } of forms) {
    const match = pattern.exec(phrase.text);
    if (!match) continue;
    const found = Math.round(minutesOf(match));
    if (!(found > 0 && found <= minutesMax)) continue;
    takeMatch(phrase, pattern);
    return found;
  }
  return null;
}

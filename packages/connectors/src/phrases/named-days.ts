const weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/** A part of a pattern: a weekday or its short form. */
export const weekdayPattern = `(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?`;

/** 1 is Monday, 0 an unknown word. The two letters of a rule, such as `TU`, are a weekday, too. */
export function weekdayNumber(word: string): number {
  return weekdays.findIndex((day) => day.startsWith(word.toLowerCase().slice(0, 3))) + 1;
}

/** The position of a weekday in its month, as in "the second Tuesday". -1 is the last one. */
export const ordinals: Readonly<Record<string, number>> = {
  first: 1,
  "1st": 1,
  second: 2,
  "2nd": 2,
  third: 3,
  "3rd": 3,
  fourth: 4,
  "4th": 4,
  last: -1,
};

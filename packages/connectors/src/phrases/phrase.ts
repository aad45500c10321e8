import { ConnectorError } from "../ports/connector-error.ts";

/** The moment and place of a request, for words such as "tomorrow". */
export interface PhraseScope {
  nowMs: number;
  timeZone: string;
}

/** A request that is read part by part. Each reader takes its words out of the text. */
export interface Phrase {
  /** The words that are left. */
  text: string;
  /** Everything that was assumed, as sentences for people. */
  assumptions: string[];
}

/** Takes the first match of a pattern out of the text. */
export function takeMatch(phrase: Phrase, pattern: RegExp, replacement = " "): RegExpExecArray | null {
  const match = pattern.exec(phrase.text);
  if (match) phrase.text = phrase.text.replace(match[0], () => ` ${replacement} `);
  return match;
}

export function missing(param: string, message: string, fix: string): ConnectorError {
  return new ConnectorError("params", message, { param, fix });
}

const numberWords: Readonly<Record<string, number>> = {
  ...{ a: 1, an: 1, one: 1, two: 2, three: 3, four: 4, five: 5, six: 6, seven: 7, eight: 8, nine: 9, ten: 10 },
  ...{ eleven: 11, twelve: 12, fifteen: 15, twenty: 20, thirty: 30, forty: 40, fortyfive: 45, sixty: 60, ninety: 90 },
  couple: 2,
};

/** A part of a pattern that `numberOf` can read. */
export const numberPattern = String.raw`(?:\d+(?:\.\d+)?|forty[- ]five|(?:a )?couple(?: of)?|${Object.keys(numberWords).join("|")})`;

/** The number of digits or of a word. */
export function numberOf(text: string): number {
  const word = text
    .toLowerCase()
    .replace(/^a couple|couple of$/, "couple")
    .replace(/[- ](?:five|of)$/, (end) => (end.endsWith("five") ? "five" : ""));
  return numberWords[word.trim()] ?? Number(text);
}

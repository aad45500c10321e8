import { TroupeError } from "@troupe/core";
import { searchCharsMax } from "@troupe/core/internal";

const termsMax = 32;
const usage = 'troupe search "flaky test"   # words, "a phrase", or a beginning such as migrat*';

/** The characters that the index keeps: letters, digits, and those of private alphabets. */
const indexed = /[\p{L}\p{N}\p{Co}]/u;

/**
 * An expression of FTS5 from the words of a user. Each word becomes a quoted string, so no character of it is an operator,
 * and no input can be a syntax error. All terms have to occur. Throws `USAGE` without a term.
 */
export function searchExpression(words: string): string {
  if (words.length > searchCharsMax) {
    throw new TroupeError("USAGE", `the search has ${words.length} characters, and the limit is ${searchCharsMax}`, {
      fix: usage,
    });
  }
  const terms = termsOf(words).filter(({ text }) => indexed.test(text));
  if (terms.length === 0) {
    throw new TroupeError("USAGE", `the search ${JSON.stringify(words)} has no word with a letter or a digit`, {
      fix: usage,
    });
  }
  if (terms.length > termsMax) {
    throw new TroupeError("USAGE", `the search has ${terms.length} words, and the limit is ${termsMax}`, {
      fix: usage,
    });
  }
  return terms.map(({ text, isPrefix }) => `${quoted(text)}${isPrefix ? "*" : ""}`).join(" AND ");
}

/** A string of FTS5. It ends at a zero character, so none is kept. */
export function quoted(text: string): string {
  return `"${text.replaceAll("\0", " ").replaceAll('"', '""')}"`;
}

/** A quote without its end reaches to the end of the text. */
function termsOf(words: string): { text: string; isPrefix: boolean }[] {
  const found = words.matchAll(/"([^"]*)(?:"|$)|([^\s"]+)/g);
  return [...found].map(([, phrase, word = ""]) => {
    if (phrase !== undefined) return { text: phrase, isPrefix: false };
    return { text: word.replace(/\*+$/, ""), isPrefix: word.endsWith("*") };
  });
}

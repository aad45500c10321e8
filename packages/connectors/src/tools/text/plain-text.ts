/** Control characters, and invisible ones that reorder or hide text. A person must read the same text as the recipient. */
const hiddenCharacters = /[^\P{Cc}\n\t]|[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * A text for a preview: without hidden characters, and not longer than a person reads. The rest is counted.
 *
 * @example
 * plainText("see\u202E you", 5_000); // "see you"
 */
export function plainText(text: string, charactersMax: number): string {
  const plain = text.replace(/\r\n?/g, "\n").replace(hiddenCharacters, "");
  const more = plain.length - charactersMax;
  if (more <= 0) return plain;
  return `${plain.slice(0, charactersMax)}\n[${more} more characters]`;
}

/** The same as one line. */
export function plainLine(text: string, charactersMax: number): string {
  const line = text
    .replace(/[\s\u2028\u2029]+/gu, " ")
    .replace(hiddenCharacters, "")
    .trim();
  return line.length <= charactersMax ? line : `${line.slice(0, charactersMax - 1)}…`;
}

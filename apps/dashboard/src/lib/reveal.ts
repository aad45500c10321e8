/**
 * Characters that change how a text looks without being seen: control characters, those that turn the writing
 * direction round, those of no width, other line ends. Line feed and tab are what they seem.
 */
const unseen = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * A text in which nothing hides: what somebody allows must be what they read.
 *
 * @example
 * reveal("rm \u202etxt.a"); // "rm ⟨U+202E⟩txt.a"
 */
export function reveal(text: string): string {
  return text.replaceAll("\r\n", "\n").replaceAll(unseen, (character) => {
    return `⟨U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

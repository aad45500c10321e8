/**
 * The query of FTS5 for a text of a person. Every word must occur, and a part in double quotes as it is. Operators and signs
 * of FTS5 in the text have no meaning. Null if the text has no word.
 *
 * @example
 * fullTextQuery('budget "next year"'); // '"budget" "next year"'
 */
export function fullTextQuery(text: string, { prefixes = false }: { prefixes?: boolean } = {}): string | null {
  const parts = [...text.matchAll(/"([^"]*)"|([^\s"]+)/g)].map(([, phrase, word]) => phrase ?? word ?? "");
  const words = parts.filter((part) => /[\p{L}\p{N}]/u.test(part)).slice(0, partsMax);
  if (words.length === 0) return null;
  return words.map((word) => `"${word.replaceAll('"', "")}"${prefixes ? "*" : ""}`).join(" ");
}

/** More words make no search more exact. */
const partsMax = 32;

/** The same, within some columns. Empty if the text has no word. */
export function columnQuery(columns: string, text: string): string[] {
  const query = fullTextQuery(text);
  return query === null ? [] : [`{${columns}} : (${query})`];
}

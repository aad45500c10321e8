/**
 * Cuts a text into at most so many pieces, at the ends of words. Joined, they are the text again.
 *
 * @example
 * splitText("one two three", 2); // ["one two ", "three"]
 */
export function splitText(text: string, pieces: number): string[] {
  const words = text.match(/\s*\S+\s*|\s+/g) ?? [];
  const count = Math.min(pieces, words.length);
  return Array.from({ length: count }, (_, i) => words.slice(boundary(i), boundary(i + 1)).join(""));

  function boundary(piece: number): number {
    return Math.ceil((piece * words.length) / count);
  }
}

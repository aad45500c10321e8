import { startWithinBytes } from "@troupe/core/internal";

/** A part of a text that has to fit. */
export interface Section {
  title: string;
  /** Its share of the room, beside the weights of the others. A title alone needs none. */
  weight: number;
  lines: Line[];
}

export interface Line {
  text: string;
  /** The least is kept longest; order on the page is another matter. */
  rank: number;
}

const moreLineBytes = Buffer.byteLength("… 99999 more\n");

/** Puts sections one below the other within a number of bytes: each gives up its least telling lines. */
export function fitSections(sections: readonly Section[], bytesMax: number): string {
  const shown = sections.filter(({ lines, weight }) => lines.length > 0 || weight === 0);
  const titles = shown.reduce((sum, { title }) => sum + Buffer.byteLength(title) + 2, 0);
  const rooms = shareRoom(shown, Math.max(0, bytesMax - titles));
  const text = shown
    .map((section, i) => [section.title, ...linesWithin(section, rooms[i] ?? 0)].join("\n"))
    .join("\n\n");
  return startWithinBytes(text, bytesMax, "…");
}

/** By weight; what one does not need the others share, until nobody has too much. */
function shareRoom(sections: readonly Section[], bytesMax: number): number[] {
  const needs = sections.map(({ lines }) => lines.reduce((sum, { text }) => sum + bytesOf(text), 0));
  const rooms = sections.map(() => 0);
  let open = sections.map((_, i) => i);
  let left = bytesMax;
  while (open.length > 0) {
    const weights = open.reduce((sum, i) => sum + (sections[i]?.weight ?? 0), 0) || 1;
    const shareOf = (i: number): number => Math.floor((left * (sections[i]?.weight ?? 0)) / weights);
    const content = open.filter((i) => (needs[i] ?? 0) <= shareOf(i));
    for (const i of content.length > 0 ? content : open) rooms[i] = content.length > 0 ? (needs[i] ?? 0) : shareOf(i);
    if (content.length === 0) break;
    left -= content.reduce((sum, i) => sum + (needs[i] ?? 0), 0);
    open = open.filter((i) => !content.includes(i));
  }
  return rooms;
}

function linesWithin({ lines }: Section, bytesMax: number): string[] {
  const whole = lines.reduce((sum, { text }) => sum + bytesOf(text), 0);
  if (whole <= bytesMax) return lines.map(({ text }) => text);
  const byRank = lines.map((line, i) => ({ ...line, i })).sort((a, b) => a.rank - b.rank || a.i - b.i);
  const kept = new Set<number>();
  let left = bytesMax - moreLineBytes;
  for (const { text, i } of byRank) {
    left -= bytesOf(text);
    if (left < 0) break;
    kept.add(i);
  }
  return [...lines.filter((_, i) => kept.has(i)).map(({ text }) => text), `… ${lines.length - kept.size} more`];
}

function bytesOf(line: string): number {
  return Buffer.byteLength(line) + 1;
}

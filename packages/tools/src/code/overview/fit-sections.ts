import { startWithinBytes } from "@troupe/core/internal";

/** A part of an output that has a size limit. */
export interface OutputSection {
  title: string;
  /** Share of the size limit, relative to the other sections. 0 for a section that is only a title. */
  weight: number;
  lines: RankedLine[];
}

export interface RankedLine {
  text: string;
  /** Lines with a high rank are dropped first. The rank does not change the order of the output. */
  rank: number;
}

const moreLineBytes = Buffer.byteLength("… 99999 more\n");

/** Joins sections within a number of bytes. Each section drops its least important lines. */
export function fitSections(sections: readonly OutputSection[], bytesMax: number): string {
  const shown = sections.filter(({ lines, weight }) => lines.length > 0 || weight === 0);
  const titleBytes = shown.reduce((sum, { title }) => sum + Buffer.byteLength(title) + 2, 0);
  const allotted = allotBytes(shown, Math.max(0, bytesMax - titleBytes));
  const text = shown
    .map((section, i) => [section.title, ...linesWithin(section, allotted[i] ?? 0)].join("\n"))
    .join("\n\n");
  return startWithinBytes(text, bytesMax, "…");
}

/** Allots bytes by weight. The bytes that a section does not need are shared by the others. */
function allotBytes(sections: readonly OutputSection[], bytesMax: number): number[] {
  const needs = sections.map(({ lines }) => lines.reduce((sum, { text }) => sum + bytesOf(text), 0));
  const allotted = sections.map(() => 0);
  let open = sections.map((_, i) => i);
  let left = bytesMax;
  while (open.length > 0) {
    const weights = open.reduce((sum, i) => sum + (sections[i]?.weight ?? 0), 0) || 1;
    const shareOf = (i: number): number => Math.floor((left * (sections[i]?.weight ?? 0)) / weights);
    const satisfied = open.filter((i) => (needs[i] ?? 0) <= shareOf(i));
    if (satisfied.length === 0) {
      for (const i of open) allotted[i] = shareOf(i);
      break;
    }
    for (const i of satisfied) allotted[i] = needs[i] ?? 0;
    left -= satisfied.reduce((sum, i) => sum + (needs[i] ?? 0), 0);
    open = open.filter((i) => !satisfied.includes(i));
  }
  return allotted;
}

function linesWithin({ lines }: OutputSection, bytesMax: number): string[] {
  const total = lines.reduce((sum, { text }) => sum + bytesOf(text), 0);
  if (total <= bytesMax) return lines.map(({ text }) => text);
  const byRank = lines.map((line, i) => ({ ...line, i })).sort((a, b) => a.rank - b.rank || a.i - b.i);
  const included = new Set<number>();
  let left = bytesMax - moreLineBytes;
  for (const { text, i } of byRank) {
    left -= bytesOf(text);
    if (left < 0) break;
    included.add(i);
  }
  const shown = lines.filter((_, i) => included.has(i)).map(({ text }) => text);
  return [...shown, `… ${lines.length - included.size} more`];
}

function bytesOf(line: string): number {
  return Buffer.byteLength(line) + 1;
}

/** Puts a text on one line, up to a length. */
export function shorten(text: string, lengthMax: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > lengthMax ? `${line.slice(0, lengthMax - 1)}…` : line;
}

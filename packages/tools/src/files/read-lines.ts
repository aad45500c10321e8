import { failure } from "../workspace/workspace-path.ts";

/** Some lines of a text, and what is to be said of them. */
export interface TextPart {
  text: string;
  notes: string[];
}

export interface PartAsked {
  /** The first line, counted from 1. */
  offset: number;
  limit: number;
  shown: string;
}

/** Less than a host keeps of an output, so that a part ends with a line and says how to go on. */
export const partCharactersMax = 48_000;

const lineCharactersMax = 2_000;

/** Lines of a text that is there as a whole. */
export function partOf(text: string, asked: PartAsked): TextPart {
  const { offset, limit, shown } = asked;
  if (text === "") return { text: "", notes: [`${shown} is empty`] };
  const endsInside = !text.endsWith("\n");
  const { lines, count } = linesWithin(text, offset, limit);
  if (offset > count) throw noSuchLine(shown, offset, `it has ${count} lines`);
  const part = gather(lines, asked);
  const last = offset - 1 + part.count;
  const isAll = offset === 1 && last === count;
  const next = last < count ? [`go on with offset ${last + 1}`] : [];
  const where = isAll ? [] : [`lines ${offset} to ${last} of ${count}`, ...next];
  const open = endsInside && last === count ? ["no line end at its end"] : [];
  return {
    text: part.text + (endsInside && last === count ? "" : "\n"),
    notes: [...where, ...open, ...part.notes],
  };
}

/** Some lines of a text, and how many it has: of a large one, only these are cut out. */
function linesWithin(text: string, offset: number, limit: number): { lines: string[]; count: number } {
  const lines: string[] = [];
  let count = 0;
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start);
    count += 1;
    if (count >= offset && count < offset + limit) lines.push(text.slice(start, end === -1 ? text.length : end));
    start = end === -1 ? text.length : end + 1;
  }
  return { lines, count };
}

/** As many of the lines as a part may have, the long ones cut. */
export function gather(lines: readonly string[], { limit, offset }: PartAsked): TextPart & { count: number } {
  const lengthMax = limit === 1 ? partCharactersMax : lineCharactersMax;
  const shown: string[] = [];
  const cut: number[] = [];
  let characters = 0;
  for (const line of lines) {
    const one = cutLine(line, lengthMax);
    if (shown.length > 0 && characters + one.length > partCharactersMax) break;
    if (one !== line) cut.push(offset + shown.length);
    shown.push(one);
    characters += one.length + 1;
  }
  const notes =
    cut.length > 0 ? [`cut, being long: line ${cut.slice(0, 10).join(", ")}${cut.length > 10 ? "…" : ""}`] : [];
  return { text: shown.join("\n"), notes, count: shown.length };
}

function cutLine(line: string, lengthMax: number): string {
  if (line.length <= lengthMax) return line;
  return `${line.slice(0, lengthMax)}[… ${line.length - lengthMax} more characters]`;
}

export function noSuchLine(shown: string, offset: number, reason: string) {
  return failure("params", `${shown} cannot be read: ${reason}, so there is no line ${offset}`);
}

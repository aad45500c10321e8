import { badGlob, expandBraces } from "./expand-braces.ts";

/** Whether a path, relative and with `/`, is what a pattern describes. */
export type GlobMatcher = (path: string) => boolean;

/** One place of a segment: a character, any character, any number of them, or one of a class. */
type Piece = "any" | "many" | { is: string } | CharacterClass;

interface CharacterClass {
  isNegated: boolean;
  ranges: [from: string, to: string][];
}

type Segment = Piece[] | "deep";

/**
 * A matcher for a glob pattern: `*` and `?` within a name, `**` for any number of folders, `[a-z]`, `[!a-z]`, `{a,b}`,
 * and `\` before what is meant as it is. Names that begin with a dot are names like others. Throws a `RunFailure` for a
 * pattern that is none.
 *
 * It is no regular expression: a pattern comes from a model, and `*a*a*a*a*b` must not take for ever.
 *
 * @example
 * const isSource = globMatcher("src/**\/*.{ts,tsx}");
 * isSource("src/deep/a.ts"); // true
 */
export function globMatcher(pattern: string, { ignoreCase = false } = {}): GlobMatcher {
  const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  const alternatives = expandBraces(fold(pattern)).map((text) =>
    segmentsOf(text).map((segment) => (segment === "**" ? "deep" : piecesOf(segment, pattern))),
  );
  return (path) => {
    const names = fold(path).split("/");
    return alternatives.some((segments) => matchesPath(segments, names));
  };
}

/** What a matcher is asked about has no empty names and no `.` in it, so a pattern needs none. */
function segmentsOf(pattern: string): string[] {
  return pattern.split("/").filter((segment) => segment !== "" && segment !== ".");
}

/**
 * Goes on greedily; where it fails, the last `**` takes one name more. No earlier one has to be tried again: what it
 * could take, the last one can take too.
 */
function matchesPath(segments: readonly Segment[], names: readonly string[]): boolean {
  return matchesInOrder(segments, names, {
    isMany: (segment) => segment === "deep",
    fits: (segment, name) => segment !== "deep" && matchesName(segment, [...name]),
  });
}

function matchesName(pieces: readonly Piece[], characters: readonly string[]): boolean {
  return matchesInOrder(pieces, characters, { isMany: (piece) => piece === "many", fits: fitsCharacter });
}

function fitsCharacter(piece: Piece, character: string): boolean {
  if (typeof piece === "string") return true;
  if ("is" in piece) return piece.is === character;
  return piece.isNegated !== piece.ranges.some(([from, to]) => from <= character && character <= to);
}

/** Whether the items are what the parts say one after another, where some parts stand for any number of items. */
function matchesInOrder<Part, Item>(
  parts: readonly Part[],
  items: readonly Item[],
  { isMany, fits }: { isMany: (part: Part) => boolean; fits: (part: Part, item: Item) => boolean },
): boolean {
  let part = 0;
  let item = 0;
  let many = -1;
  let taken = 0;
  while (item < items.length) {
    const here = parts[part];
    if (here !== undefined && isMany(here)) {
      many = part;
      taken = item;
      part += 1;
    } else if (here !== undefined && fits(here, items[item] as Item)) {
      part += 1;
      item += 1;
    } else {
      if (many === -1) return false;
      taken += 1;
      item = taken;
      part = many + 1;
    }
  }
  return parts.slice(part).every(isMany);
}

function piecesOf(segment: string, pattern: string): Piece[] {
  const characters = [...segment];
  const pieces: Piece[] = [];
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i] as string;
    if (character === "*") {
      if (pieces.at(-1) !== "many") pieces.push("many");
    } else if (character === "?") {
      pieces.push("any");
    } else if (character === "[") {
      const { piece, end } = classAt(characters, i, pattern);
      pieces.push(piece);
      i = end;
    } else {
      if (character === "\\") i += 1;
      pieces.push({ is: characters[i] ?? "\\" });
    }
  }
  return pieces;
}

/** `]` as the first character of a class is one of it. */
function classAt(characters: readonly string[], start: number, pattern: string): { piece: Piece; end: number } {
  const isNegated = ["!", "^"].includes(characters[start + 1] ?? "");
  const first = start + (isNegated ? 2 : 1);
  const end = characters.indexOf("]", first + 1);
  if (end === -1) throw badGlob(pattern, "a [ in it is never closed; write \\[ for the character itself");
  const ranges: CharacterClass["ranges"] = [];
  for (let i = first; i < end; i++) {
    const from = characters[i] as string;
    const isRange = characters[i + 1] === "-" && i + 2 < end;
    ranges.push([from, isRange ? (characters[i + 2] as string) : from]);
    if (isRange) i += 2;
  }
  return { piece: { isNegated, ranges }, end };
}

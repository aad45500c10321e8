import { isAbsolute } from "node:path";
import { RunFailure } from "@troupe/core";

/** Tests a relative path with `/` separators. */
export type GlobMatcher = (path: string) => boolean;

/** An element of a segment: any character, any number of characters, one character, or a class. */
type Piece = "any" | "many" | { is: string } | CharacterClass;

interface CharacterClass {
  isNegated: boolean;
  ranges: [from: string, to: string][];
}

type Segment = Piece[] | "deep";

/**
 * Creates a matcher for a glob pattern: `*` and `?` within a name, `**` for any number of folders, `[a-z]`, `[!a-z]`,
 * `{a,b}`, and `\` before a literal character. Names that start with a dot match like other names. Throws a `RunFailure`
 * for an invalid pattern.
 *
 * It does not compile to a regular expression. Patterns come from models, and picomatch needs seconds for
 * `*a*a*a*a*a*a*b` and a name of 60 characters, because its regular expression backtracks. This matcher takes at most
 * pattern length times path length steps.
 *
 * @example
 * const isSource = globMatcher("src/**\/*.{ts,tsx}");
 * isSource("src/deep/a.ts"); // true
 */
export function globMatcher(pattern: string, { ignoreCase = false } = {}): GlobMatcher {
  const fold = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  const alternatives = expandBraces(fold(pattern)).map((text) =>
    segmentsOf(text).map((segment) => (segment === "**" ? "deep" : parseSegment(segment, pattern))),
  );
  return (path) => {
    const names = fold(path).split("/");
    return alternatives.some((segments) => matchesPath(segments, names));
  };
}

/** Creates a matcher of workspace paths for a pattern that is relative to a folder (`.` or `./a/b`). */
export function matcherBelow(root: string, pattern: string, options?: { ignoreCase: boolean }): GlobMatcher {
  const matches = globMatcher(pattern, options);
  const folder = root.replace(/^\.\/?/, "");
  const prefix = folder === "" ? "" : `${folder}/`;
  return (path) => matches(path.startsWith(prefix) ? path.slice(prefix.length) : path);
}

/**
 * Makes a pattern relative to the searched folder: it removes `./` and the absolute path of the workspace. Throws a
 * `RunFailure` for a pattern that leads out of the workspace.
 */
export function relativePattern(pattern: string, workspace: string): string {
  const inside = pattern.startsWith(`${workspace}/`) ? pattern.slice(workspace.length + 1) : pattern;
  const relative = inside.startsWith("./") ? inside.slice(2) : inside;
  if (isAbsolute(relative) || relative.split("/").includes("..")) {
    throw new RunFailure({
      type: "permission",
      message:
        `${JSON.stringify(pattern.slice(0, 100))} leads out of the workspace: give a pattern relative to it, ` +
        "without ..",
      recoverable: false,
    });
  }
  return relative;
}

/** Paths have no empty names and no `.`, so these segments of a pattern are dropped. */
function segmentsOf(pattern: string): string[] {
  return pattern.split("/").filter((segment) => segment !== "" && segment !== ".");
}

function matchesPath(segments: readonly Segment[], names: readonly string[]): boolean {
  return matchesInOrder(segments, names, {
    isMany: (segment) => segment === "deep",
    matches: (segment, name) => segment !== "deep" && matchesName(segment, [...name]),
  });
}

function matchesName(pieces: readonly Piece[], characters: readonly string[]): boolean {
  return matchesInOrder(pieces, characters, { isMany: (piece) => piece === "many", matches: matchesCharacter });
}

function matchesCharacter(piece: Piece, character: string): boolean {
  if (typeof piece === "string") return true;
  if ("is" in piece) return piece.is === character;
  return piece.isNegated !== piece.ranges.some(([from, to]) => from <= character && character <= to);
}

/**
 * Matches items against parts in order, where some parts match any number of items. On a mismatch the last such part
 * takes one more item. Earlier ones need no retry, because the last one can take every item that they could take.
 */
function matchesInOrder<Part, Item>(
  parts: readonly Part[],
  items: readonly Item[],
  { isMany, matches }: { isMany: (part: Part) => boolean; matches: (part: Part, item: Item) => boolean },
): boolean {
  let part = 0;
  let item = 0;
  let lastMany = -1;
  let itemAfterMany = 0;
  while (item < items.length) {
    const current = parts[part];
    if (current !== undefined && isMany(current)) {
      lastMany = part;
      itemAfterMany = item;
      part += 1;
    } else if (current !== undefined && matches(current, items[item] as Item)) {
      part += 1;
      item += 1;
    } else {
      if (lastMany === -1) return false;
      itemAfterMany += 1;
      item = itemAfterMany;
      part = lastMany + 1;
    }
  }
  return parts.slice(part).every(isMany);
}

function parseSegment(segment: string, pattern: string): Piece[] {
  const characters = [...segment];
  const pieces: Piece[] = [];
  for (let i = 0; i < characters.length; i++) {
    const character = characters[i] as string;
    if (character === "*") {
      if (pieces.at(-1) !== "many") pieces.push("many");
    } else if (character === "?") {
      pieces.push("any");
    } else if (character === "[") {
      const { piece, end } = parseClass(characters, i, pattern);
      pieces.push(piece);
      i = end;
    } else {
      if (character === "\\") i += 1;
      pieces.push({ is: characters[i] ?? "\\" });
    }
  }
  return pieces;
}

/** `]` as the first character of a class is a member of it. */
function parseClass(
  characters: readonly string[],
  start: number,
  pattern: string,
): { piece: CharacterClass; end: number } {
  const isNegated = ["!", "^"].includes(characters[start + 1] ?? "");
  const first = start + (isNegated ? 2 : 1);
  const end = characters.indexOf("]", first + 1);
  if (end === -1) throw invalidGlob(pattern, "a [ in it is never closed; write \\[ for the character itself");
  const ranges: CharacterClass["ranges"] = [];
  for (let i = first; i < end; i++) {
    const from = characters[i] as string;
    const isRange = characters[i + 1] === "-" && i + 2 < end;
    ranges.push([from, isRange ? (characters[i + 2] as string) : from]);
    if (isRange) i += 2;
  }
  return { piece: { isNegated, ranges }, end };
}

const alternativesMax = 200;

/** `a{b,c{d,e}}` gives `ab`, `acd`, `ace`. Throws a `RunFailure` for unclosed braces and for too many alternatives. */
function expandBraces(pattern: string): string[] {
  const start = indexOfUnescaped(pattern, "{", 0);
  if (start === -1) return [pattern];
  const { end, options } = optionsAt(pattern, start);
  const tails = expandBraces(pattern.slice(end + 1));
  const expanded = options
    .flatMap(expandBraces)
    .flatMap((middle) => tails.map((tail) => pattern.slice(0, start) + middle + tail));
  if (expanded.length > alternativesMax) {
    throw invalidGlob(pattern, `its braces give more than ${alternativesMax} patterns; use fewer at once`);
  }
  return expanded;
}

/** The texts between the commas of a group. Nested groups are not expanded. */
function optionsAt(pattern: string, start: number): { end: number; options: string[] } {
  const options: string[] = [];
  let depth = 0;
  let from = start + 1;
  for (let at = start; at !== -1; at = indexOfUnescaped(pattern, "{,}", at + 1)) {
    const character = pattern[at];
    if (character === "{") depth += 1;
    if (character === "}") depth -= 1;
    if (depth > 1 || (character === "}" && depth > 0) || at === start) continue;
    options.push(pattern.slice(from, at));
    from = at + 1;
    if (depth === 0) return { end: at, options };
  }
  throw invalidGlob(pattern, "a { in it is never closed; write \\{ for the character itself");
}

/** Index of the next of the characters without a `\` before it. -1 where there is none. */
function indexOfUnescaped(pattern: string, characters: string, from: number): number {
  for (let at = from; at < pattern.length; at++) {
    if (pattern[at] === "\\") at += 1;
    else if (characters.includes(pattern[at] as string)) return at;
  }
  return -1;
}

function invalidGlob(pattern: string, why: string): RunFailure {
  return new RunFailure({
    type: "params",
    message: `${JSON.stringify(pattern.slice(0, 100))} is not a glob pattern: ${why}`,
    recoverable: false,
  });
}

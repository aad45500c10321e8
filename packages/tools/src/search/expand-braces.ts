import { RunFailure } from "@troupe/core";

const alternativesMax = 200;

/** `a{b,c{d,e}}` is `ab`, `acd`, `ace`. Throws a `RunFailure` for braces that are not closed, or stand for too much. */
export function expandBraces(pattern: string): string[] {
  const start = nextOf(pattern, "{", 0);
  if (start === -1) return [pattern];
  const { end, options } = optionsAt(pattern, start);
  const rests = expandBraces(pattern.slice(end + 1));
  const expanded = options
    .flatMap(expandBraces)
    .flatMap((middle) => rests.map((rest) => pattern.slice(0, start) + middle + rest));
  if (expanded.length > alternativesMax) {
    throw badGlob(pattern, `its braces stand for more than ${alternativesMax} patterns; ask for fewer at once`);
  }
  return expanded;
}

/** What is between the commas of a group, as it is: groups within it are not looked at. */
function optionsAt(pattern: string, start: number): { end: number; options: string[] } {
  const options: string[] = [];
  let depth = 0;
  let from = start + 1;
  for (let at = start; at !== -1; at = nextOf(pattern, "{,}", at + 1)) {
    const character = pattern[at];
    if (character === "{") depth += 1;
    if (character === "}") depth -= 1;
    if (depth > 1 || (character === "}" && depth > 0) || at === start) continue;
    options.push(pattern.slice(from, at));
    from = at + 1;
    if (depth === 0) return { end: at, options };
  }
  throw badGlob(pattern, "a { in it is never closed; write \\{ for the character itself");
}

/** Where the next of some characters is that has no `\\` before it; -1 where there is none. */
function nextOf(pattern: string, characters: string, from: number): number {
  for (let at = from; at < pattern.length; at++) {
    if (pattern[at] === "\\") at += 1;
    else if (characters.includes(pattern[at] as string)) return at;
  }
  return -1;
}

export function badGlob(pattern: string, why: string): RunFailure {
  return new RunFailure({
    type: "params",
    message: `${JSON.stringify(pattern.slice(0, 100))} is no glob pattern: ${why}`,
    recoverable: false,
  });
}

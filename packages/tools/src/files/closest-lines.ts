const linesShown = 12;

/** A larger file is only looked through this far: what is not found is an error soon, and no long search. */
const linesLooked = 50_000;

/**
 * What of a text is most like one that is not in it, to tell a model: whether it differs in white space or line ends
 * alone, and the lines that it probably meant.
 */
export function nearestLines(text: string, wanted: string): string {
  const lines = text.split("\n", linesLooked);
  const target = withoutBlankEnds(wanted.split("\n"));
  const same = sameButSpace(lines, target);
  if (same !== -1) {
    const isOnlyReturns = text.includes(wanted.replaceAll("\r\n", "\n"));
    return ` It differs in ${isOnlyReturns ? "line ends" : "white space"} alone from:${excerpt(lines, same, target.length)}`;
  }
  const near = mostAlike(lines, target);
  if (near === -1) return " Nothing in it is like that; read the file again.";
  return ` The lines that are most like it:${excerpt(lines, near, target.length)}`;
}

function withoutBlankEnds(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => line.trim() !== "");
  const last = lines.findLastIndex((line) => line.trim() !== "");
  return first === -1 ? [""] : lines.slice(first, last + 1);
}

/** Where lines are the same but for white space: the first may begin, and the last may end, within a line. */
function sameButSpace(lines: readonly string[], target: readonly string[]): number {
  const bare = lines.map(withoutSpace);
  const wanted = target.map(withoutSpace);
  if (wanted.join("") === "") return -1;
  const [first = "", last = ""] = [wanted[0], wanted.at(-1)];
  return bare.findIndex((line, at) => {
    if (wanted.length === 1) return line.includes(first);
    const middle = wanted.slice(1, -1);
    return (
      line.endsWith(first) &&
      bare[at + wanted.length - 1]?.startsWith(last) === true &&
      middle.every((one, i) => bare[at + 1 + i] === one)
    );
  });
}

const likenessMin = 0.4;

/** Where the longest line of what was wanted has its likest; -1 where nothing is like it. */
function mostAlike(lines: readonly string[], target: readonly string[]): number {
  const anchor = target.reduce((longest, line, i) => (line.length > (target[longest]?.length ?? 0) ? i : longest), 0);
  const words = wordsOf(target[anchor] ?? "");
  let best = { at: -1, likeness: likenessMin };
  for (const [at, line] of lines.entries()) {
    const own = wordsOf(line);
    const shared = own.filter((word) => words.includes(word)).length;
    const likeness = (2 * shared) / Math.max(1, own.length + words.length);
    if (likeness > best.likeness) best = { at, likeness };
  }
  return best.at === -1 ? -1 : Math.max(0, best.at - anchor);
}

function excerpt(lines: readonly string[], at: number, length: number): string {
  const shown = lines.slice(at, at + Math.min(length, linesShown));
  const more = length > linesShown ? "\n…" : "";
  return shown.map((line, i) => `\n${at + i + 1}: ${line.slice(0, 300)}`).join("") + more;
}

function withoutSpace(line: string): string {
  return line.replaceAll(/\s+/g, "");
}

function wordsOf(line: string): string[] {
  return line
    .slice(0, 1_000)
    .split(/\W+/)
    .filter((word) => word !== "");
}

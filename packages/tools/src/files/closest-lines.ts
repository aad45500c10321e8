const linesShown = 12;

/** Only the first lines of a large file are compared, so that the error comes quickly. */
const linesCompared = 50_000;

/**
 * Describes, for an error message, the lines of a text that are most like a text that is not in it. It says so where only
 * white space or line ends differ.
 */
export function describeClosestLines(text: string, wanted: string): string {
  const lines = text.split("\n", linesCompared);
  const target = withoutBlankEnds(wanted.split("\n"));
  const same = indexIgnoringSpace(lines, target);
  if (same !== -1) {
    const differsInReturns = text.includes(wanted.replaceAll("\r\n", "\n"));
    const what = differsInReturns ? "line ends" : "white space";
    return ` Only ${what} ${differsInReturns ? "differ" : "differs"} from:${excerpt(lines, same, target.length)}`;
  }
  const closest = indexOfMostSimilar(lines, target);
  if (closest === -1) return " No line is similar; read the file again.";
  return ` The most similar lines:${excerpt(lines, closest, target.length)}`;
}

function withoutBlankEnds(lines: readonly string[]): string[] {
  const first = lines.findIndex((line) => line.trim() !== "");
  const last = lines.findLastIndex((line) => line.trim() !== "");
  return first === -1 ? [""] : lines.slice(first, last + 1);
}

/** Finds the lines without regard to white space. The first may start, and the last may end, within a line. */
function indexIgnoringSpace(lines: readonly string[], target: readonly string[]): number {
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

const similarityMin = 0.4;

/** Finds the line that is most similar to the longest line of the target. -1 where none is similar enough. */
function indexOfMostSimilar(lines: readonly string[], target: readonly string[]): number {
  const anchor = target.reduce((longest, line, i) => (line.length > (target[longest]?.length ?? 0) ? i : longest), 0);
  const words = wordsOf(target[anchor] ?? "");
  let best = { at: -1, similarity: similarityMin };
  for (const [at, line] of lines.entries()) {
    const own = wordsOf(line);
    const shared = own.filter((word) => words.includes(word)).length;
    const similarity = (2 * shared) / Math.max(1, own.length + words.length);
    if (similarity > best.similarity) best = { at, similarity };
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

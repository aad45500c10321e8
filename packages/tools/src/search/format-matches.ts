import type { MatchedFile, MatchedLine } from "./matched-lines.ts";
import { type FoundFile, firstByPath, shownPath } from "./ripgrep-output.ts";
import type { SearchInput } from "./search-input.ts";

/** What a search has found. */
export interface Found {
  files: FoundFile[];
  /** Whether there is more than was counted. */
  isCut: boolean;
  unreadable: string[];
}

/** Grouped by file, each match with its line's number, and what is left out said at the end. */
export function showLines(
  files: readonly MatchedFile[],
  { counted, input }: { counted: Found; input: SearchInput },
): string {
  let left = input.limit;
  let shown = 0;
  const groups: string[] = [];
  for (const file of files) {
    const lines = upTo(file.lines, left);
    const matches = lines.filter(({ isMatch }) => isMatch).length;
    left -= matches;
    shown += file.note === null ? matches : file.count;
    groups.push(groupOf(file, lines, matches));
    if (left <= 0) break;
  }
  const total = counted.files.reduce((sum, { count }) => sum + count, 0);
  const isAll = shown >= total && groups.length === counted.files.length;
  const what = `${totalOf(total, counted)} matching lines in ${filesOf(counted)}`;
  const narrow = "; narrow it with path, glob, type or a longer pattern, or raise limit";
  return [...groups, isAll ? `[${what}]` : `[${shown} of ${what}${narrow}]`].join("\n");
}

export function showPaths(found: Found, limit: number): string {
  const shown = firstByPath(found.files, limit);
  return [...shown.map(({ path }) => shownPath(path)), footer(shown.length, found)].join("\n");
}

export function showCounts(found: Found, limit: number): string {
  const shown = firstByPath(found.files, limit);
  const total = found.files.reduce((sum, { count }) => sum + count, 0);
  const lines = shown.map(({ path, count }) => `${shownPath(path)}: ${count}`);
  return [...lines, `${footer(shown.length, found)} [${totalOf(total, found)} matching lines]`].join("\n");
}

/** No match, and what to try: what was asked for may be there, written in another way or left out. */
export function showNothing({ pattern, path, glob, type, ignoreCase, literal, ignored }: SearchInput): string {
  const shown = JSON.stringify(pattern.length > 100 ? `${pattern.slice(0, 100)}…` : pattern);
  const where = [
    path === "." ? "" : ` in ${path}`,
    glob ? ` in files like ${glob}` : "",
    type ? ` of type ${type}` : "",
  ].join("");
  const ways = [
    ...(ignoreCase || pattern.toLowerCase() === pattern.toUpperCase() ? [] : ["ignoreCase"]),
    ...(literal || !/[()[\]{}.*+?|^$\\]/.test(pattern) ? [] : ["literal, where it is plain text"]),
    ...(path === "." && !glob && !type ? [] : ["other files"]),
    ...(ignored ? [] : ["ignored, for what .gitignore leaves out"]),
  ];
  return `nothing matches ${shown}${where}${ways.length > 0 ? `; try ${ways.join("; ")}` : ""}`;
}

/** The lines up to the last match that is still to be shown, with what follows it. */
function upTo(lines: readonly MatchedLine[], matchesMax: number): readonly MatchedLine[] {
  let matches = 0;
  const end = lines.findIndex(({ isMatch }) => isMatch && ++matches > matchesMax);
  return end === -1 ? lines : lines.slice(0, end);
}

function groupOf(file: MatchedFile, lines: readonly MatchedLine[], matches: number): string {
  const head = shownPath(file.path);
  if (lines.length === 0) return `${head}\n  [${file.note ?? "it was changed while it was searched"}]`;
  const rows = lines.flatMap(({ number, isMatch, text }, i) => {
    const previous = lines[i - 1]?.number;
    const hasContext = lines.some((line) => !line.isMatch);
    const gap = hasContext && previous !== undefined && number > previous + 1 ? ["  …"] : [];
    return [...gap, `  ${number}${isMatch ? ":" : "-"} ${text}`];
  });
  const rest = file.count - matches;
  return [head, ...rows, ...(rest > 0 ? [`  [${rest} more in this file]`] : [])].join("\n");
}

function footer(shown: number, found: Found): string {
  if (shown === found.files.length) return `[${filesOf(found)}]`;
  return `[${shown} of ${filesOf(found)}; narrow it with path, glob or type, or raise limit]`;
}

function filesOf({ files, isCut }: Found): string {
  const least = isCut ? "more than " : "";
  return files.length === 1 ? `${least}1 file` : `${least}${files.length} files`;
}

function totalOf(total: number, { isCut }: Found): string {
  return isCut ? `more than ${total}` : `${total}`;
}

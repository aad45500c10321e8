/** A file that ripgrep reported, and its number of matches. */
export interface MatchCount {
  path: string;
  count: number;
}

/** Parses `--files --null`: paths, each followed by NUL, in no order. */
export function parsePaths(stdout: string): string[] {
  return stdout.split("\0").slice(0, -1).map(withoutDot);
}

/** Parses `--count --null`: lines of a path, NUL and a count, in no order. */
export function parseCounts(stdout: string): MatchCount[] {
  const counts: MatchCount[] = [];
  let from = 0;
  for (;;) {
    const nul = stdout.indexOf("\0", from);
    const end = nul === -1 ? -1 : stdout.indexOf("\n", nul);
    if (end === -1) break;
    const count = Number(stdout.slice(nul + 1, end));
    if (Number.isInteger(count)) counts.push({ path: withoutDot(stdout.slice(from, nul)), count });
    from = end + 1;
  }
  return counts;
}

/** Parses `--null --only-matching`: lines of `./path`, NUL and a text. */
export function parseMatches(stdout: string): { path: string; text: string }[] {
  return stdout.split("\n").flatMap((record) => {
    const nul = record.indexOf("\0");
    return nul > 2 ? [{ path: record.slice(2, nul), text: record.slice(nul + 1) }] : [];
  });
}

const sortedAtOnce = 2_000;

/** The first files by path. It does not sort all of them, because tens of thousands would block the event loop. */
export function firstByPath(files: readonly MatchCount[], countMax: number): MatchCount[] {
  let first: MatchCount[] = [];
  for (let from = 0; from < files.length; from += sortedAtOnce) {
    const last = first.length < countMax ? null : (first.at(-1)?.path ?? null);
    const earlier = files.slice(from, from + sortedAtOnce).filter(({ path }) => last === null || path < last);
    first = [...first, ...earlier].sort((a, b) => (a.path < b.path ? -1 : 1)).slice(0, countMax);
  }
  return first;
}

/** A path on one line. Names can contain line breaks and invalid UTF-8. */
export function shownPath(path: string): string {
  return /\p{Cc}/u.test(path) ? JSON.stringify(path) : path;
}

/** True when the decoded path still names its file. */
export function isNameable(path: string): boolean {
  return !path.includes("\uFFFD") && !path.includes("\n");
}

/** Escapes a text for a regular expression. */
export function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

const unreadableShown = 3;

/** A note on files and folders that ripgrep could not read. The results are complete otherwise. */
export function unreadableNotes(unreadable: readonly string[]): string[] {
  if (unreadable.length === 0) return [];
  const some = unreadable.slice(0, unreadableShown).join("; ");
  const more = unreadable.length > unreadableShown ? `; and ${unreadable.length - unreadableShown} more` : "";
  return [`[could not be read: ${some}${more}]`];
}

function withoutDot(path: string): string {
  return path.startsWith("./") ? path.slice(2) : path;
}

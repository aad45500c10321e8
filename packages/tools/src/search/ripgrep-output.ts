/** A file that ripgrep named, and how often it matched. */
export interface FoundFile {
  path: string;
  count: number;
}

/** What `--files --null` says: each path, and a NUL after it. In no order. */
export function parsePaths(stdout: string): string[] {
  return stdout.split("\0").slice(0, -1).map(withoutDot);
}

/** What `--count --null` says: a path, a NUL, its count and a line break. In no order. */
export function parseCounts(stdout: string): FoundFile[] {
  const found: FoundFile[] = [];
  let from = 0;
  for (;;) {
    const nul = stdout.indexOf("\0", from);
    const end = nul === -1 ? -1 : stdout.indexOf("\n", nul);
    if (end === -1) break;
    const count = Number(stdout.slice(nul + 1, end));
    if (Number.isInteger(count)) found.push({ path: withoutDot(stdout.slice(from, nul)), count });
    from = end + 1;
  }
  return found;
}

const sortedAtOnce = 2_000;

/**
 * The first of them by path. Tens of thousands are not sorted for the sake of a hundred, since the event loop would wait
 * for that.
 */
export function firstByPath(files: readonly FoundFile[], countMax: number): FoundFile[] {
  let first: FoundFile[] = [];
  for (let from = 0; from < files.length; from += sortedAtOnce) {
    const last = first.length < countMax ? null : (first.at(-1)?.path ?? null);
    const nearer = files.slice(from, from + sortedAtOnce).filter(({ path }) => last === null || path < last);
    first = [...first, ...nearer].sort((a, b) => (a.path < b.path ? -1 : 1)).slice(0, countMax);
  }
  return first;
}

/** A path on one line: names may have line breaks in them, and bytes that are no text. */
export function shownPath(path: string): string {
  return /\p{Cc}/u.test(path) ? JSON.stringify(path) : path;
}

/** Whether the path, as it was decoded, still names its file. */
export function isNameable(path: string): boolean {
  return !path.includes("\uFFFD") && !path.includes("\n");
}

function withoutDot(path: string): string {
  return path.startsWith("./") ? path.slice(2) : path;
}

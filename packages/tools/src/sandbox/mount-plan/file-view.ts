import { type Dirent, lstatSync, readdirSync, readlinkSync, realpathSync, type Stats } from "node:fs";

/** Questions about the machine's files, and whether their answers still hold. */
export interface FileView {
  /** Null for a path that does not exist. */
  stats(path: string): Stats | null;
  /** The path with all links followed; null if it leads nowhere. */
  real(path: string): string | null;
  target(link: string): string;
  /** The names in a folder; none if it cannot be read. */
  names(folder: string): readonly string[];
  /** The names of the files and folders in a folder, without links. */
  ownNames(folder: string): readonly string[];
  /** Whether every answer would be the same now. Costs a few microseconds per question. */
  isCurrent(): boolean;
}

/**
 * Asks the machine and remembers the answers. A plan that was made from them is valid as long as they are, so it need
 * not be made anew for each command.
 */
export function createFileView(): FileView {
  const answers: { ask: (path: string) => string; path: string; answer: string }[] = [];
  const seen = new Set<string>();
  const remember = (ask: (path: string) => string, path: string): string => {
    const answer = ask(path);
    const key = `${ask.name} ${path}`;
    if (!seen.has(key)) answers.push({ ask, path, answer });
    seen.add(key);
    return answer;
  };
  return {
    stats(path) {
      remember(kindOf, path);
      return statsOf(path);
    },
    real(path) {
      // A missing path is the usual case, and an error is slow.
      if (remember(kindOf, path) === "") return null;
      return remember(realPathOf, path) || null;
    },
    target: (link) => remember(targetOf, link),
    names: (folder) => remember(namesIn, folder).split("\0").filter(Boolean),
    ownNames: (folder) => remember(ownNamesIn, folder).split("\0").filter(Boolean),
    isCurrent: () => answers.every(({ ask, path, answer }) => ask(path) === answer),
  };
}

/** Type and permissions. Contents may change: a mount shows the present ones. */
function kindOf(path: string): string {
  const stats = statsOf(path);
  return stats === null ? "" : String(stats.mode);
}

function realPathOf(path: string): string {
  return attempt(() => realpathSync.native(path));
}

function targetOf(link: string): string {
  return attempt(() => readlinkSync(link));
}

function namesIn(folder: string): string {
  return attempt(() => readdirSync(folder).join("\0"));
}

function ownNamesIn(folder: string): string {
  const isOwn = (entry: Dirent): boolean => entry.isFile() || entry.isDirectory();
  return attempt(() =>
    readdirSync(folder, { withFileTypes: true })
      .flatMap((entry) => (isOwn(entry) ? [entry.name] : []))
      .join("\0"),
  );
}

function statsOf(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

import type { FileList } from "./list-files.ts";
import { matcherBelow } from "./path-pattern.ts";

export interface MissedGlob {
  pattern: string;
  root: string;
  /** All files that were looked through. */
  paths: readonly string[];
  /** Lists what is ignored as well; null where that was looked through already. */
  ignoredToo: (() => Promise<FileList>) | null;
}

/** What somebody may have meant whose pattern fits nothing; empty where nothing comes to mind. */
export async function globHint({ pattern, root, paths, ignoredToo }: MissedGlob): Promise<string> {
  if (paths.length === 0 && ignoredToo === null) return ": there are no files there at all";
  const count = (other: string, ignoreCase = false): number =>
    paths.filter(matcherBelow(root, other, { ignoreCase })).length;
  for (const other of [`**/${pattern}`, `${pattern.replace(/\/+$/, "")}/**`]) {
    const found = count(other);
    if (found > 0) return `; ${other} fits ${filesOf(found)}`;
  }
  const otherCase = count(pattern, true) || count(`**/${pattern}`, true);
  if (otherCase > 0) return `; ${filesOf(otherCase)} would fit if upper and lower case were the same`;
  const hidden = ignoredToo ? (await ignoredToo()).paths.filter(matcherBelow(root, pattern)).length : 0;
  return hidden > 0 ? `; ${filesOf(hidden)} that .gitignore leaves out would: set ignored` : "";
}

function filesOf(count: number): string {
  return count === 1 ? "1 file" : `${count} files`;
}

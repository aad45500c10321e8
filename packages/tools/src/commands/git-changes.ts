import type { FileChange } from "@troupe/core/internal";
import type { SandboxedRepository } from "./git-repository.ts";

/** A file that a commit has another state of than the one before it. */
export interface CommittedFile {
  path: string;
  kind: FileChange["kind"];
  /** ` (+1 -0)`; empty for what is no text. */
  lines: string;
}

const kinds: Readonly<Record<string, FileChange["kind"]>> = { A: "created", D: "deleted" };

/**
 * What differs between a commit and the one that it followed, null for none. In words alone: a commit changes no file of
 * the workspace, and who has changed them was told of that before.
 */
export async function committedFiles(
  from: string | null,
  to: string,
  { ask }: SandboxedRepository,
): Promise<CommittedFile[]> {
  const options = ["-r", "-z", "--no-renames", "--no-commit-id", "--no-ext-diff", "--no-textconv"];
  const between = from === null ? ["--root", to] : [from, to];
  const counts = linesIn(await ask(["diff-tree", ...options, "--numstat", ...between]));
  const fields = (await ask(["diff-tree", ...options, "--name-status", ...between])).split("\0");
  return fields.flatMap((path, i) => {
    if (i % 2 === 0) return [];
    return [{ path, kind: kinds[fields[i - 1] ?? ""] ?? "modified", lines: counts.get(path) ?? "" }];
  });
}

/** Each reads: added, removed, path, with tabs between them, and a NUL. */
function linesIn(numstat: string): Map<string, string> {
  const counts = new Map<string, string>();
  for (const record of numstat.split("\0")) {
    const [, added, removed, path] = /^(\d+)\t(\d+)\t(.*)$/s.exec(record) ?? [];
    if (path !== undefined) counts.set(path, ` (+${added} -${removed})`);
  }
  return counts;
}

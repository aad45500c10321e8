import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { defineTool, type Tool } from "@troupe/core/tool";
import { z } from "zod";
import { matcherBelow, relativePattern } from "./glob-pattern.ts";
import { type FileList, listFiles, type Ripgrep, searchTimeoutMs } from "./ripgrep.ts";
import { firstByPath, shownPath, unreadableNotes } from "./ripgrep-output.ts";
import { searchRoot } from "./search-root.ts";

/** Above this number of matches the modification times are not read. */
const datedMax = 2_000;

/** Finds files by name. */
export function createGlobTool(ripgrep: Ripgrep): Tool {
  return defineTool({
    name: "glob",
    description:
      "Finds files by a glob pattern relative to path (**/*.ts), the newest first. Leaves out files that .gitignore " +
      "names, unless ignored is set.",
    input: z.strictObject({
      pattern: z
        .string()
        .min(1)
        .max(1_000)
        .refine((text) => !text.includes("\0"), "it has a NUL character in it"),
      path: z.string().min(1).default("."),
      limit: z.int().min(1).max(2_000).default(100),
      ignored: z.boolean().default(false),
    }),
    risk: "low",
    effect: "read",
    groups: ["search", "filesystem"],
    async run({ pattern: given, path, limit, ignored }, { workspace, signal }) {
      const pattern = relativePattern(given, workspace);
      const { argument: root } = await searchRoot(workspace, path);
      const list = (withIgnored: boolean): Promise<FileList> =>
        listFiles(ripgrep, { root, ignored: withIgnored, workspace, signal, timeoutMs: searchTimeoutMs });
      const files = await list(ignored);
      const matches = files.paths.filter(matcherBelow(root, pattern));
      const notes = notesOn(files);
      if (matches.length === 0) {
        const listIgnored = ignored ? null : () => list(true);
        const hint = await hintFor({ pattern, root, paths: files.paths, listIgnored });
        const where = path === "." ? "" : ` in ${path}`;
        return { output: [`no file matches ${pattern}${where}${hint}`, ...notes].join("\n") };
      }
      const isDated = matches.length <= datedMax;
      const shown = isDated ? (await newestFirst(workspace, matches)).slice(0, limit) : firstPaths(matches, limit);
      const order = isDated ? "newest first" : "by path";
      const more = shown.length < matches.length ? "; narrow the pattern, or raise limit" : "";
      const total = `[${shown.length} of ${matches.length} files, ${order}${more}]`;
      return { output: [...shown.map(shownPath), total, ...notes].join("\n") };
    },
  });
}

function notesOn({ isCut, unreadable }: FileList): string[] {
  const cut = isCut ? ["[there are more files than can be listed at once: give a path]"] : [];
  return [...cut, ...unreadableNotes(unreadable)];
}

function firstPaths(paths: readonly string[], countMax: number): string[] {
  return firstByPath(
    paths.map((path) => ({ path, count: 0 })),
    countMax,
  ).map(({ path }) => path);
}

/** Sorts by modification time, then by path. */
async function newestFirst(workspace: string, paths: readonly string[]): Promise<string[]> {
  const dated = await Promise.all(
    paths.map(async (path) => {
      const stats = await lstat(join(workspace, path)).catch(() => null);
      return { path, changedMs: stats?.mtimeMs ?? 0 };
    }),
  );
  return dated.sort((a, b) => b.changedMs - a.changedMs || (a.path < b.path ? -1 : 1)).map(({ path }) => path);
}

interface UnmatchedGlob {
  pattern: string;
  root: string;
  /** All files that were compared. */
  paths: readonly string[];
  /** Lists ignored files too. Null where they were compared already. */
  listIgnored: (() => Promise<FileList>) | null;
}

/** Suggests a similar pattern that matches. Empty where none does. */
async function hintFor({ pattern, root, paths, listIgnored }: UnmatchedGlob): Promise<string> {
  if (paths.length === 0 && listIgnored === null) return ": there are no files at all";
  const count = (other: string, ignoreCase = false): number =>
    paths.filter(matcherBelow(root, other, { ignoreCase })).length;
  for (const other of [`**/${pattern}`, `${pattern.replace(/\/+$/, "")}/**`]) {
    const matching = count(other);
    if (matching > 0) return `; ${other} matches ${filesOf(matching)}`;
  }
  const inOtherCase = count(pattern, true) || count(`**/${pattern}`, true);
  if (inOtherCase > 0) return `; ${filesOf(inOtherCase)} would match if case were ignored`;
  const hidden = listIgnored ? (await listIgnored()).paths.filter(matcherBelow(root, pattern)).length : 0;
  return hidden > 0 ? `; ${filesOf(hidden)} that .gitignore excludes would match: set ignored` : "";
}

function filesOf(count: number): string {
  return count === 1 ? "1 file" : `${count} files`;
}

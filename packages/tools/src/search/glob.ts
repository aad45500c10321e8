import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { defineTool, type Tool } from "../define-tool.ts";
import { globHint } from "./glob-hint.ts";
import { type FileList, listFiles } from "./list-files.ts";
import { matcherBelow, pathPattern } from "./path-pattern.ts";
import type { Ripgrep } from "./ripgrep.ts";
import { firstByPath, shownPath } from "./ripgrep-output.ts";
import { noteOnUnreadable, searchTimeoutMs } from "./search-limits.ts";
import { searchRoot } from "./search-root.ts";

/** Beyond this many matches nobody is asked for their times. */
const datedMax = 2_000;

/** Finds files by their names. */
export function createGlobTool(ripgrep: Ripgrep): Tool {
  return defineTool({
    name: "glob",
    description:
      "Finds files of the workspace whose path fits a glob pattern: **/*.ts for every TypeScript file, src/*.ts for one " +
      "folder alone. The newest come first. What .gitignore names is left out unless asked for.",
    input: z.strictObject({
      pattern: z
        .string()
        .min(1)
        .max(1_000)
        .refine((text) => !text.includes("\0"), "it has a NUL character in it")
        .describe("Glob with * ? ** [a-z] {a,b}, relative to path"),
      path: z.string().min(1).default(".").describe("Folder to look in, relative to the workspace"),
      limit: z.int().min(1).max(2_000).default(100).describe("How many files to show"),
      ignored: z.boolean().default(false).describe("Also what .gitignore leaves out"),
    }),
    risk: "low",
    effect: "read",
    groups: ["search", "filesystem"],
    async run({ pattern: asked, path, limit, ignored }, { workspace, signal }) {
      const pattern = pathPattern(asked, workspace);
      const { argument: root } = await searchRoot(workspace, path);
      const matches = matcherBelow(root, pattern);
      const list = (all: boolean): Promise<FileList> =>
        listFiles(ripgrep, { root, ignored: all, workspace, signal, timeoutMs: searchTimeoutMs });
      const files = await list(ignored);
      const found = files.paths.filter(matches);
      const notes = notesOn(files);
      if (found.length === 0) {
        const hint = await globHint({
          pattern,
          root,
          paths: files.paths,
          ignoredToo: ignored ? null : () => list(true),
        });
        return { output: [`no file fits ${pattern}${path === "." ? "" : ` in ${path}`}${hint}`, ...notes].join("\n") };
      }
      const isDated = found.length <= datedMax;
      const shown = isDated ? (await newestFirst(workspace, found)).slice(0, limit) : firstPaths(found, limit);
      const order = isDated ? "newest first" : "by path";
      const more = shown.length < found.length ? "; narrow the pattern, or raise limit" : "";
      const total = `[${shown.length} of ${found.length} files, ${order}${more}]`;
      return { output: [...shown.map(shownPath), total, ...notes].join("\n") };
    },
  });
}

function notesOn({ isCut, unreadable }: FileList): string[] {
  const cut = isCut ? ["[there are more files than can be listed at once: give a path]"] : [];
  return [...cut, ...noteOnUnreadable(unreadable)];
}

function firstPaths(paths: readonly string[], countMax: number): string[] {
  return firstByPath(
    paths.map((path) => ({ path, count: 0 })),
    countMax,
  ).map(({ path }) => path);
}

/** Those of the same time by path. */
async function newestFirst(workspace: string, paths: readonly string[]): Promise<string[]> {
  const dated = await Promise.all(
    paths.map(async (path) => {
      const stats = await lstat(join(workspace, path)).catch(() => null);
      return { path, changedMs: stats?.mtimeMs ?? 0 };
    }),
  );
  return dated.sort((a, b) => b.changedMs - a.changedMs || (a.path < b.path ? -1 : 1)).map(({ path }) => path);
}

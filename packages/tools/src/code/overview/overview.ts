import { bytesPerToken } from "@troupe/core/internal";
import { z } from "zod";
import { defineTool, type Tool } from "../../define-tool.ts";
import { type CodeFiles, type CodeScope, type FileList, scopeOf } from "../code-files.ts";
import { isGenerated, isTest } from "../file-roles.ts";
import { languageOf } from "../languages/languages.ts";
import { entryPoints } from "./entry-points.ts";
import { fitSections, type Section } from "./fit-sections.ts";
import { folderTree } from "./folder-tree.ts";
import { keyExports } from "./key-exports.ts";
import { languageShares } from "./language-shares.ts";
import { readPackages, showPackages } from "./packages.ts";
import { testsAndDocs } from "./tests-and-docs.ts";

/**
 * Tells what a repository is, within a number of tokens.
 *
 * @example
 * const overview = createOverviewTool({ files });
 */
export function createOverviewTool({ files }: { files: CodeFiles }): Tool {
  return defineTool({
    name: "overview",
    description:
      "Tells what a repository or folder is: languages, packages with their scripts, entry points, folders, the most " +
      "used exports with signatures, where tests and docs are. Ask it first in code that you do not know; ask again " +
      "with a path for more of a part.",
    input: z.strictObject({
      path: z.string().min(1).optional().describe("Folder to describe, relative to the workspace"),
      depth: z.int().min(1).max(8).default(3).describe("How many levels of folders to show"),
      tokens: z.int().min(200).max(8_000).default(2_000).describe("How long the answer may be"),
    }),
    risk: "low",
    effect: "read",
    groups: ["code"],
    async run({ path, depth, tokens }, context) {
      const scope = await scopeOf(context, path);
      const list = await files.list(scope);
      if (list.paths.length === 0) return { output: `${nameOf(scope)} has no files, or none that are not ignored.` };
      return { output: fitSections(await sectionsOf(files, scope, { list, depth }), tokens * bytesPerToken) };
    },
  });
}

async function sectionsOf(
  files: CodeFiles,
  scope: CodeScope,
  { list, depth }: { list: FileList; depth: number },
): Promise<Section[]> {
  const { paths } = list;
  const packages = await readPackages(files, scope, paths);
  const sources = shallowFirst(paths.filter((path) => languageOf(path) && !isTest(path) && !isGenerated(path)));
  const { answers, leftOut } = await files.ask(scope, sources, { kind: "outline" });
  const outlines = answers.flatMap(({ path, answer }) => ("problem" in answer ? [] : [{ path, outline: answer }]));
  const cut = list.isCut ? " or more" : "";
  const partial = leftOut > 0 ? `; exports come from ${outlines.length} of ${sources.length} source files` : "";
  const head = `${nameOf(scope)}: ${paths.length}${cut} files that are not ignored${partial}. ${languageShares(paths)}`;
  return [
    { title: head, weight: 0, lines: [] },
    { title: "Packages:", weight: 3, lines: showPackages(packages) },
    { title: "Entry points:", weight: 2, lines: entryPoints({ packages, outlines, paths }) },
    { title: "Folders (files in them):", weight: 3, lines: folderTree(paths, { root: scope.root, depth }) },
    { title: "Most used exports:", weight: 5, lines: keyExports({ packages, outlines }) },
    { title: "Tests and docs:", weight: 1, lines: testsAndDocs(paths) },
  ];
}

function nameOf({ root }: CodeScope): string {
  return root === "." ? "The workspace" : root;
}

/** Where not all can be looked at, what stands near the top says the most. */
function shallowFirst(paths: readonly string[]): string[] {
  const depthOf = (path: string): number => path.split("/").length;
  return [...paths].sort((a, b) => depthOf(a) - depthOf(b) || (a < b ? -1 : 1));
}

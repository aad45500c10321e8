import { basename, dirname, join, normalize } from "node:path/posix";
import { bytesPerToken } from "@troupe/core/internal";
import { defineTool, type Tool } from "@troupe/core/tool";
import { z } from "zod";
import { type CodeFileList, type CodeFiles, type CodeScope, isGenerated, isTest, scopeOf } from "../code-files.ts";
import { extensionOf, languageOf } from "../languages/languages.ts";
import { fitSections, type OutputSection, type RankedLine, shorten } from "./fit-sections.ts";
import { listKeyExports, type OutlinedFile } from "./key-exports.ts";
import { formatPackages, type Package, readPackages } from "./manifests.ts";

/**
 * Describes a repository within a number of tokens.
 *
 * @example
 * const overview = createOverviewTool({ files });
 */
export function createOverviewTool({ files }: { files: CodeFiles }): Tool {
  return defineTool({
    name: "overview",
    description:
      "Describes a repository or folder: languages, packages, scripts, entry points, most used exports, tests, " +
      "docs. Call it first in unknown code, then with a path for more about a part.",
    input: z.strictObject({
      path: z.string().min(1).optional(),
      depth: z.int().min(1).max(8).default(3).describe("Levels of folders"),
      tokens: z.int().min(200).max(8_000).default(2_000),
    }),
    risk: "low",
    effect: "read",
    groups: ["code"],
    async run({ path, depth, tokens }, context) {
      const scope = await scopeOf(context, path);
      const list = await files.list(scope);
      if (list.paths.length === 0) return { output: `${nameOf(scope)} has no files, or all of them are ignored.` };
      return { output: fitSections(await sectionsOf(files, scope, { list, depth }), tokens * bytesPerToken) };
    },
  });
}

async function sectionsOf(
  files: CodeFiles,
  scope: CodeScope,
  { list, depth }: { list: CodeFileList; depth: number },
): Promise<OutputSection[]> {
  const { paths } = list;
  const packages = await readPackages(files, scope, paths);
  const sources = shallowFirst(paths.filter((path) => languageOf(path) && !isTest(path) && !isGenerated(path)));
  const { results, skipped } = await files.query(scope, sources, { kind: "outline" });
  const outlines = results.flatMap(({ path, result }) => ("problem" in result ? [] : [{ path, outline: result }]));
  const cut = list.isCut ? " or more" : "";
  const partial = skipped > 0 ? `; exports come from ${outlines.length} of ${sources.length} source files` : "";
  const head = `${nameOf(scope)}: ${paths.length}${cut} files that are not ignored${partial}. ${languageShares(paths)}`;
  return [
    { title: head, weight: 0, lines: [] },
    { title: "Packages:", weight: 3, lines: formatPackages(packages) },
    { title: "Entry points:", weight: 2, lines: listEntryPoints({ packages, outlines, paths }) },
    { title: "Folders (files in them):", weight: 3, lines: listFolders(paths, { root: scope.root, depth }) },
    { title: "Most used exports:", weight: 5, lines: listKeyExports({ packages, outlines }) },
    { title: "Tests and docs:", weight: 1, lines: listTestsAndDocs(paths) },
  ];
}

function nameOf({ root }: CodeScope): string {
  return root === "." ? "The workspace" : root;
}

/** Where the limits stop the parsing, files near the top are the most informative. */
function shallowFirst(paths: readonly string[]): string[] {
  const depthOf = (path: string): number => path.split("/").length;
  return [...paths].sort((a, b) => depthOf(a) - depthOf(b) || (a < b ? -1 : 1));
}

const languagesShown = 6;

/** Titles of file kinds that the parser does not support. */
const otherTitles: Readonly<Record<string, string>> = {
  md: "Markdown",
  mdx: "Markdown",
  json: "JSON",
  yaml: "YAML",
  yml: "YAML",
  toml: "TOML",
  css: "CSS",
  scss: "CSS",
  html: "HTML",
  sh: "shell",
  bash: "shell",
  c: "C",
  h: "C",
  cc: "C++",
  cpp: "C++",
  hpp: "C++",
  cs: "C#",
  rb: "Ruby",
  php: "PHP",
  swift: "Swift",
  kt: "Kotlin",
  scala: "Scala",
  sql: "SQL",
  vue: "Vue",
  svelte: "Svelte",
  ipynb: "notebooks",
};

/** The languages by number of files, most frequent first. */
function languageShares(paths: readonly string[]): string {
  const titles = paths.map((path) => {
    const extension = extensionOf(path);
    const unknown = extension === "" ? "no extension" : `.${extension}`;
    return languageOf(path)?.title ?? otherTitles[extension] ?? unknown;
  });
  const counts = countEach(titles);
  const shown = counts
    .slice(0, languagesShown)
    .map(([title, count]) => `${title} ${count} (${percent(count, paths.length)})`);
  const more = counts.length > languagesShown ? [`${counts.length - languagesShown} other kinds`] : [];
  return `By number of files: ${[...shown, ...more].join(", ")}.`;
}

function percent(part: number, whole: number): string {
  const share = Math.round((part / whole) * 100);
  return share === 0 ? "< 1 %" : `${share} %`;
}

/** Each name with its number, most frequent first. */
function countEach(names: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

interface Repository {
  packages: readonly Package[];
  outlines: readonly OutlinedFile[];
  paths: readonly string[];
}

/** Entry points: files that manifests name, then programs, then files with a usual name. */
function listEntryPoints({ packages, outlines, paths }: Repository): RankedLine[] {
  const existing = new Set(paths);
  const declared = packages.flatMap(({ folder, name, entries }) =>
    entries.map(({ use, path }) => ({
      path: sourceOf(normalize(join(folder, path)), existing),
      use: shorten(`${use} of ${name ?? folder}`, 100),
    })),
  );
  const programs = outlines.filter(({ outline }) => outline.program).map(({ path }) => ({ path, use: "program" }));
  const usual = outlines
    .filter(({ path }) => usualNames.test(basename(path)) && path.split("/").length <= 4)
    .map(({ path }) => ({ path, use: "by its name" }));
  const seen = new Set<string>();
  const entries = [...declared, ...programs, ...usual].filter(({ path, use }) => {
    // A file can have several declared uses. A guess is only listed for a file without any.
    const isKnown = seen.has(use === "program" || use === "by its name" ? path : `${path} ${use}`);
    seen.add(path).add(`${path} ${use}`);
    return !isKnown;
  });
  return entries.map(({ path, use }, rank) => ({ text: `${path} (${use})`, rank }));
}

const usualNames = /^(index|main|mod|lib|app|server|cli|__main__|__init__|manage)\.[a-z]+$/;

/** The source of a built file, if it can be found: `src/index.ts` for `dist/index.js`. */
function sourceOf(path: string, existing: ReadonlySet<string>): string {
  if (existing.has(path)) return path;
  const stem = path.replace(/\.[cm]?js$|\.d\.[cm]?ts$/, "");
  const folders = [dirname(stem), dirname(stem).replace(/(^|\/)(dist|build|lib|out)(\/|$)/, "$1src$3")];
  const candidates = [...new Set(folders)].flatMap((folder) =>
    ["ts", "tsx", "mts", "js", "mjs"].map((extension) => normalize(`${folder}/${basename(stem)}.${extension}`)),
  );
  return candidates.find((candidate) => existing.has(candidate)) ?? `${path} (built)`;
}

interface FolderNode {
  files: string[];
  folders: Map<string, FolderNode>;
  /** All files below it. */
  count: number;
}

const filesNamedMax = 12;

/** The folders with their number of files. A folder that only contains another folder shares its line. */
function listFolders(paths: readonly string[], { root, depth }: { root: string; depth: number }): RankedLine[] {
  const prefix = root === "." ? "" : `${root}/`;
  const top = emptyFolder();
  for (const path of paths) addPath(top, path.startsWith(prefix) ? path.slice(prefix.length) : path);
  const lines = folderLines(top, { level: 0, depth });
  const names = top.files.slice(0, filesNamedMax).join(", ");
  const more = top.files.length > filesNamedMax ? `, … ${top.files.length - filesNamedMax} more` : "";
  return top.files.length > 0 ? [...lines, { text: `files here: ${names}${more}`, rank: 0 }] : lines;
}

function emptyFolder(): FolderNode {
  return { files: [], folders: new Map(), count: 0 };
}

function addPath(top: FolderNode, path: string): void {
  const segments = path.split("/");
  const name = segments.pop() ?? path;
  let folder = top;
  folder.count += 1;
  for (const segment of segments) {
    const next = folder.folders.get(segment) ?? emptyFolder();
    folder.folders.set(segment, next);
    next.count += 1;
    folder = next;
  }
  folder.files.push(name);
}

function folderLines(folder: FolderNode, { level, depth }: { level: number; depth: number }): RankedLine[] {
  if (level >= depth) return [];
  return [...folder.folders].flatMap(([name, child]) => {
    const { label, inner } = joinChain(name, child);
    const beyond = level + 1 >= depth && inner.folders.size > 0 ? ` in ${inner.folders.size} more folders` : "";
    // On one level, large folders are more important.
    const rank = level * 100_000 - Math.min(inner.count, 99_999);
    const line = { text: `${"  ".repeat(level)}${label}/ ${inner.count}${beyond}`, rank };
    return [line, ...folderLines(inner, { level: level + 1, depth })];
  });
}

/** Joins folders that contain nothing but one folder: `src/main/java`. */
function joinChain(name: string, folder: FolderNode): { label: string; inner: FolderNode } {
  let label = name;
  let inner = folder;
  while (inner.files.length === 0 && inner.folders.size === 1) {
    const [only] = inner.folders;
    if (!only) break;
    label = `${label}/${only[0]}`;
    inner = only[1];
  }
  return { label, inner };
}

const docsPath = /\.(md|mdx|rst|adoc)$/i;
const testFolder = /^(?:.*\/)?(tests?|__tests__|specs?|e2e|testdata)(?=\/)/;
const foldersShown = 6;

function listTestsAndDocs(paths: readonly string[]): RankedLine[] {
  const tests = paths.filter((path) => languageOf(path) && isTest(path));
  const docs = paths.filter((path) => docsPath.test(path) && !isTest(path));
  const testsText =
    tests.length > 0
      ? `tests: ${tests.length} files: ${formatCounts(countEach(tests.map(testLocation)))}`
      : "no tests were found";
  const top = docs.filter((path) => !path.includes("/"));
  const below = countEach(docs.filter((path) => path.includes("/")).map((path) => dirname(path)));
  const docsText = [...top, ...(below.length > 0 ? [formatCounts(below)] : [])].slice(0, 10).join(", ");
  return [{ text: testsText, rank: 0 }, ...(docs.length > 0 ? [{ text: `docs: ${docsText}`, rank: 1 }] : [])];
}

/** The test folder of a file, or the name pattern of tests beside the source. */
function testLocation(path: string): string {
  const folder = testFolder.exec(path)?.[0];
  if (folder !== undefined) return `${folder}/`;
  const name = basename(path);
  const suffix = /\.(test|spec|fixture|test-helper|stories)\.[^.]+$/.exec(name)?.[0];
  if (suffix) return `*${suffix} beside the source`;
  return /^test_/.test(name) ? "test_* beside the source" : `${dirname(path)}/`;
}

function formatCounts(counts: readonly [string, number][]): string {
  const shown = counts.slice(0, foldersShown).map(([name, count]) => `${name} (${count})`);
  const more = counts.length > foldersShown ? [`${counts.length - foldersShown} more places`] : [];
  return [...shown, ...more].join(", ");
}

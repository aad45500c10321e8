import { dirname } from "node:path/posix";
import { defineTool, type Tool } from "@troupe/core/tool";
import { z } from "zod";
import { type CodeFiles, isGenerated, isTest, type QueryResults, scopeOf } from "./code-files.ts";
import { languageOf } from "./languages/languages.ts";
import type { Definition, Outline } from "./syntax/queries.ts";

const foldersShown = 30;
const problemsShown = 5;
const headBytesMax = 1_000;

/**
 * Finds exports without a doc comment.
 *
 * @example
 * const docsCoverage = createDocsCoverageTool({ files });
 */
export function createDocsCoverageTool({ files }: { files: CodeFiles }): Tool {
  return defineTool({
    name: "docs_coverage",
    description:
      "Lists exported functions, classes, methods and types without a doc comment, with file and line, and the " +
      "documented share per folder, worst first.",
    input: z.strictObject({
      path: z.string().min(1).optional(),
      limit: z.int().min(1).max(1_000).default(100),
    }),
    risk: "low",
    effect: "read",
    groups: ["code"],
    async run({ path, limit }, context) {
      const scope = await scopeOf(context, path);
      const { paths, isCut } = await files.list(scope);
      const sources = paths.filter((source) => languageOf(source));
      const tests = sources.filter(isTest);
      const candidates = sources.filter((source) => !isTest(source) && !isGenerated(source));
      const { results, skipped } = await files.query(scope, candidates, { kind: "outline" });
      const heads = await Promise.all(results.map((result) => files.read(scope, result.path, headBytesMax)));
      const handWritten = results.filter((result, i) => !isGenerated(result.path, heads[i] ?? ""));
      const omissions = {
        tests: tests.length,
        generated: sources.length - tests.length - candidates.length + (results.length - handWritten.length),
        skipped: skipped + (isCut ? 1 : 0),
        problems: handWritten.flatMap(({ path: file, result }) =>
          "problem" in result ? [`${file}: ${result.problem}`] : [],
        ),
      };
      return { output: formatReport(countDocs(handWritten), omissions, limit) };
    },
  });
}

interface DocsCount {
  documented: number;
  total: number;
  /** Worst first. */
  folders: FolderDocs[];
}

interface FolderDocs {
  folder: string;
  documented: number;
  total: number;
  missing: { path: string; line: number; kind: string; name: string }[];
}

/** Counts exports where they are defined. Re-exports do not count. */
function countDocs(results: QueryResults<Outline>["results"]): DocsCount {
  const byFolder = new Map<string, FolderDocs>();
  for (const { path, result } of results) {
    if ("problem" in result) continue;
    const folder = byFolder.get(dirname(path)) ?? { folder: dirname(path), documented: 0, total: 0, missing: [] };
    byFolder.set(folder.folder, folder);
    for (const { definition, documented } of publicDefinitions(path, result)) {
      folder.total += 1;
      if (documented) folder.documented += 1;
      else folder.missing.push({ path, line: definition.line, kind: definition.kind, name: fullName(definition) });
    }
  }
  const folders = [...byFolder.values()].filter(({ total }) => total > 0).sort(byShare);
  return {
    documented: folders.reduce((sum, { documented }) => sum + documented, 0),
    total: folders.reduce((sum, { total }) => sum + total, 0),
    folders,
  };
}

/** The definitions that need documentation, each name once. Overloads, and a getter and its setter, share a comment. */
function publicDefinitions(path: string, { definitions }: Outline): { definition: Definition; documented: boolean }[] {
  const classes = new Set(definitions.filter(({ kind }) => kind === "class").map(fullName));
  const byName = new Map<string, { definition: Definition; documented: boolean }>();
  for (const definition of definitions) {
    if (!needsDocs(path, definition, classes)) continue;
    const known = byName.get(fullName(definition));
    if (known) known.documented ||= definition.documented;
    else byName.set(fullName(definition), { definition, documented: definition.documented });
  }
  return [...byName.values()];
}

const documentedKinds = new Set(["function", "class", "interface", "type", "enum"]);

function needsDocs(path: string, definition: Definition, classes: ReadonlySet<string>): boolean {
  const { exported, kind, container, name, signature } = definition;
  if (!exported) return false;
  if (kind === "method") {
    // The base class documents overridden methods. The class documents its constructor and special methods.
    const isOwn = container !== null && classes.has(container) && !/\boverride\b/.test(signature);
    return isOwn && name !== "constructor" && !/^__.*__$/.test(name);
  }
  // A value in Python cannot have a docstring.
  if (kind === "constant" || kind === "variable") return container === null && languageOf(path)?.id !== "python";
  return documentedKinds.has(kind);
}

function fullName({ container, name }: Definition): string {
  return container === null ? name : `${container}.${name}`;
}

function byShare(a: FolderDocs, b: FolderDocs): number {
  return (
    a.documented / a.total - b.documented / b.total ||
    b.missing.length - a.missing.length ||
    (a.folder < b.folder ? -1 : 1)
  );
}

/** Files that the report does not cover. */
interface Omissions {
  tests: number;
  generated: number;
  skipped: number;
  problems: string[];
}

function formatReport({ documented, total, folders }: DocsCount, omissions: Omissions, limit: number): string {
  const missing = folders.flatMap((folder) => folder.missing);
  const incomplete = folders.filter((folder) => folder.missing.length > 0);
  const head =
    total === 0
      ? "The source files export nothing."
      : `${documented} of ${total} exports are documented (${percent(documented, total)}).`;
  const folderLines = incomplete
    .slice(0, foldersShown)
    .map((one) => `${one.folder}: ${one.documented} of ${one.total} (${percent(one.documented, one.total)})`);
  return [
    head,
    ...formatOmissions(omissions),
    ...formatSection("Per folder, worst first:", folderLines, incomplete.length),
    ...formatSection(
      "Undocumented:",
      missing.slice(0, limit).map(({ path, line, kind, name }) => `${path}:${line} ${kind} ${name}`),
      missing.length,
    ),
  ].join("\n");
}

function formatOmissions({ tests, generated, skipped, problems }: Omissions): string[] {
  const unparsed = problems.length - problemsShown;
  return [
    ...(tests + generated > 0 ? [`Left out: ${tests} test files, ${generated} generated files.`] : []),
    ...(skipped > 0 ? [`Incomplete: at least ${skipped} more files were not checked; narrow it with path.`] : []),
    ...problems.slice(0, problemsShown).map((problem) => `Not parsed: ${problem}`),
    ...(unparsed > 0 ? [`… and ${unparsed} more were not parsed`] : []),
  ];
}

function formatSection(title: string, lines: readonly string[], total: number): string[] {
  if (lines.length === 0) return [];
  return ["", title, ...lines, ...(total > lines.length ? [`… and ${total - lines.length} more`] : [])];
}

/** Rounds down, so that 100 % means all. */
function percent(part: number, whole: number): string {
  return `${Math.floor((part / whole) * 100)} %`;
}

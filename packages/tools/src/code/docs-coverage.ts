import { z } from "zod";
import { defineTool, type Tool } from "../define-tool.ts";
import { type CodeFiles, scopeOf } from "./code-files.ts";
import { countDocs, type DocsCount } from "./count-docs.ts";
import { isGenerated, isTest } from "./file-roles.ts";
import { languageOf } from "./languages/languages.ts";

const foldersShown = 30;
const headBytesMax = 1_000;

/**
 * Finds exports that no comment says anything of.
 *
 * @example
 * const docsCoverage = createDocsCoverageTool({ files });
 */
export function createDocsCoverageTool({ files }: { files: CodeFiles }): Tool {
  return defineTool({
    name: "docs_coverage",
    description:
      "Lists exported functions, classes, methods and types that have no doc comment or docstring, with file and line, " +
      "and gives the documented share in total and per folder, worst first. Tests and generated files are left out.",
    input: z.strictObject({
      path: z.string().min(1).optional().describe("Folder or file to look at, relative to the workspace"),
      limit: z.int().min(1).max(1_000).default(100).describe("How many undocumented exports to list"),
    }),
    risk: "low",
    effect: "read",
    groups: ["code"],
    async run({ path, limit }, context) {
      const scope = await scopeOf(context, path);
      const { paths, isCut } = await files.list(scope);
      const sources = paths.filter((one) => languageOf(one));
      const tests = sources.filter(isTest);
      const own = sources.filter((one) => !isTest(one) && !isGenerated(one));
      const { answers, leftOut } = await files.ask(scope, own, { kind: "outline" });
      const heads = await Promise.all(answers.map(({ path: one }) => files.read(scope, one, headBytesMax)));
      const written = answers.filter(({ path: one }, i) => !isGenerated(one, heads[i] ?? ""));
      const counts = countDocs(written);
      const aside = {
        tests: tests.length,
        generated: sources.length - tests.length - own.length + (answers.length - written.length),
        leftOut: leftOut + (isCut ? 1 : 0),
        problems: written.flatMap(({ path: one, answer }) =>
          "problem" in answer ? [`${one}: ${answer.problem}`] : [],
        ),
      };
      return { output: show(counts, aside, limit) };
    },
  });
}

interface Aside {
  tests: number;
  generated: number;
  leftOut: number;
  problems: string[];
}

function show(counts: DocsCount, aside: Aside, limit: number): string {
  const { documented, total, folders } = counts;
  const missing = folders.flatMap((folder) => folder.missing);
  const incomplete = folders.filter((folder) => folder.missing.length > 0);
  const head =
    total === 0
      ? "Nothing is exported by the source files there."
      : `${documented} of ${total} exports are documented (${share(documented, total)}).`;
  const perFolder = incomplete
    .slice(0, foldersShown)
    .map(({ folder, documented, total }) => `${folder}: ${documented} of ${total} (${share(documented, total)})`);
  return [
    head,
    ...notes(aside),
    ...section("Per folder, worst first:", perFolder, incomplete.length),
    ...section(
      "Undocumented:",
      missing.slice(0, limit).map(({ path, line, kind, name }) => `${path}:${line} ${kind} ${name}`),
      missing.length,
    ),
  ].join("\n");
}

function notes({ tests, generated, leftOut, problems }: Aside): string[] {
  return [
    ...(tests + generated > 0 ? [`Left out: ${tests} test files, ${generated} generated files.`] : []),
    ...(leftOut > 0
      ? [`This is a part: ${leftOut} or more further files were not looked at; narrow it with path.`]
      : []),
    ...problems.slice(0, 5).map((problem) => `Not parsed: ${problem}`),
    ...(problems.length > 5 ? [`… and ${problems.length - 5} more were not parsed`] : []),
  ];
}

function section(title: string, lines: readonly string[], total: number): string[] {
  if (lines.length === 0) return [];
  return ["", title, ...lines, ...(total > lines.length ? [`… and ${total - lines.length} more`] : [])];
}

/** Rounded down: only what is whole is called 100 %. */
function share(part: number, whole: number): string {
  return `${Math.floor((part / whole) * 100)} %`;
}

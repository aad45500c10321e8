import { RunFailure, type ToolContext } from "@troupe/core";
import { defineTool, type Tool } from "@troupe/core/tool";
import { z } from "zod";
import { matcherBelow, relativePattern } from "./glob-pattern.ts";
import { type MatchedFile, type MatchedLine, readMatchedLines, selectFiles } from "./matched-lines.ts";
import { type Ripgrep, type RipgrepResult, searchTimeoutMs } from "./ripgrep.ts";
import { firstByPath, type MatchCount, parseCounts, shownPath, unreadableNotes } from "./ripgrep-output.ts";
import { type SearchRoot, searchRoot } from "./search-root.ts";

const noNul = [(text: string) => !text.includes("\0"), "it has a NUL character in it"] as const;

const searchInput = z.strictObject({
  pattern: z
    .string()
    .min(1)
    .max(10_000)
    .refine(...noNul)
    .describe("Rust's syntax: no look-around, no back references"),
  path: z.string().min(1).default("."),
  glob: z
    .string()
    .min(1)
    .max(1_000)
    .refine(...noNul)
    .optional()
    .describe("*.ts at any depth, or src/**/*.test.ts"),
  type: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_+-]{0,30}$/)
    .optional()
    .describe("A file type of ripgrep, such as ts or py"),
  mode: z.enum(["content", "files", "count"]).default("content").describe("Show lines, paths, or matches per file"),
  ignoreCase: z.boolean().default(false),
  literal: z.boolean().default(false).describe("The pattern is plain text"),
  multiline: z.boolean().default(false).describe("Matches may span lines; automatic for a pattern with \\n"),
  context: z.int().min(0).max(10).default(0).describe("Lines before and after each match"),
  limit: z.int().min(1).max(1_000).default(100),
  ignored: z.boolean().default(false).describe("Also files that .gitignore excludes"),
});
type SearchInput = z.infer<typeof searchInput>;

/** About 200,000 matching files. */
const countBytesMax = 16 * 1024 * 1024;

/**
 * Searches the content of files. It counts the matches of all files first and then reads the lines that it shows. A
 * frequent pattern is therefore cheap, totals are exact, and the order does not depend on the number of threads.
 */
export function createSearchTool(ripgrep: Ripgrep): Tool {
  return defineTool({
    name: "search",
    description:
      "Searches files for a regular expression and shows the lines with numbers. Skips files that .gitignore names, " +
      "binary files and files over 16 MB.",
    input: searchInput,
    risk: "low",
    effect: "read",
    groups: ["search", "filesystem"],
    async run(input, context) {
      const root = await searchRoot(context.workspace, input.path);
      const matches = await countMatches(ripgrep, { input, root, context });
      const output = await formatOutput(ripgrep, { input, matches, context });
      return { output, reads: input.mode === "content" ? matches.files.map(({ path }) => path) : [] };
    },
  });
}

interface SearchCall {
  input: SearchInput;
  root: SearchRoot;
  context: ToolContext;
}

interface SearchMatches {
  files: MatchCount[];
  /** True when there are more files than were counted. */
  isCut: boolean;
  unreadable: string[];
}

async function countMatches(ripgrep: Ripgrep, { input, root, context }: SearchCall): Promise<SearchMatches> {
  const { stdout, isCut, unreadable } = await runSearch(ripgrep, { input, context }, [
    "--count",
    "--with-filename",
    ...(input.mode === "content" ? ["--binary"] : []),
    ...fileArguments(input),
    "--",
    root.argument,
  ]);
  const isIncluded = input.glob ? globFilter(input.glob, root, context.workspace) : () => true;
  return { files: parseCounts(stdout).filter(({ path }) => isIncluded(path)), isCut, unreadable };
}

async function formatOutput(
  ripgrep: Ripgrep,
  { input, matches, context }: { input: SearchInput; matches: SearchMatches; context: ToolContext },
): Promise<string> {
  const notes = unreadableNotes(matches.unreadable);
  if (matches.files.length === 0) return [formatNoMatch(input), ...notes].join("\n");
  if (input.mode === "files") return [formatPaths(matches, input.limit), ...notes].join("\n");
  if (input.mode === "count") return [formatCounts(matches, input.limit), ...notes].join("\n");
  const selected = selectFiles(firstByPath(matches.files, input.limit), {
    limit: input.limit,
    isOnly: matches.files.length === 1,
  });
  const files = await readMatchedLines(selected, {
    workspace: context.workspace,
    search: (args) => runSearch(ripgrep, { input, context }, args),
    context: input.context,
  });
  return [formatLines(files, matches, input.limit), ...notes].join("\n");
}

async function runSearch(
  ripgrep: Ripgrep,
  { input, context }: Pick<SearchCall, "input" | "context">,
  args: readonly string[],
): Promise<RipgrepResult> {
  const { workspace, signal } = context;
  try {
    return await ripgrep.run([...patternArguments(input), ...args], {
      workspace,
      signal,
      timeoutMs: searchTimeoutMs,
      captureBytesMax: countBytesMax,
    });
  } catch (error) {
    throw error instanceof RunFailure && error.runError.type === "params" ? badPattern(error, input) : error;
  }
}

function patternArguments({ pattern, ignoreCase, literal, multiline }: SearchInput): string[] {
  const spansLines = multiline || /\n|\\n/.test(pattern);
  return [
    ...(ignoreCase ? ["--ignore-case"] : ["--case-sensitive"]),
    ...(literal ? ["--fixed-strings"] : []),
    ...(spansLines ? ["--multiline"] : []),
    `--regexp=${pattern}`,
  ];
}

function fileArguments({ type, glob, ignored }: SearchInput): string[] {
  return [
    ...(ignored ? ["--no-ignore"] : []),
    ...(type ? [`--type=${type}`] : []),
    // A type keeps ignored files excluded. A glob of ripgrep would include them.
    ...(glob && !type && isPlainName(glob) ? [`--type-add=asked:${fileName(glob)}`, "--type=asked"] : []),
  ];
}

/** A glob without a folder matches names at any depth, as in grep and ripgrep. */
function globFilter(glob: string, root: SearchRoot, workspace: string): (path: string) => boolean {
  const pattern = relativePattern(glob, workspace);
  if (root.isFile) return () => true;
  return matcherBelow(root.argument, pattern.includes("/") ? pattern : `**/${pattern}`);
}

/** True when ripgrep reads the last part of the glob as `globMatcher` does. Then it can skip other files. */
function isPlainName(glob: string): boolean {
  return /^[\w.*?-]+(\{[\w.,*?-]+\})?[\w.*?-]*$/.test(fileName(glob)) && !fileName(glob).includes("**");
}

function fileName(glob: string): string {
  return glob.slice(glob.lastIndexOf("/") + 1);
}

function badPattern(error: RunFailure, { pattern, literal }: SearchInput): RunFailure {
  const isUnknownType = error.message.includes("file type");
  const hint = isUnknownType
    ? "use glob instead"
    : literal
      ? null
      : "set literal for plain text, or put \\ before ( ) [ ] { } . * + ?";
  const what = isUnknownType ? "the type is unknown" : `the pattern ${quote(pattern)} cannot be searched for`;
  const message = `${what}: ${error.message}${hint ? `; ${hint}` : ""}`;
  return new RunFailure({ type: "params", message, recoverable: false }, { cause: error });
}

function quote(pattern: string): string {
  return JSON.stringify(pattern.length > 100 ? `${pattern.slice(0, 100)}…` : pattern);
}

/** Lines grouped by file, with the totals at the end. */
function formatLines(files: readonly MatchedFile[], matches: SearchMatches, limit: number): string {
  let left = limit;
  let shown = 0;
  const groups: string[] = [];
  for (const file of files) {
    const lines = linesUpTo(file.lines, left);
    const matchCount = lines.filter(({ isMatch }) => isMatch).length;
    left -= matchCount;
    shown += file.note === null ? matchCount : file.count;
    groups.push(formatGroup(file, lines, matchCount));
    if (left <= 0) break;
  }
  const total = totalMatches(matches);
  const isAll = shown >= total && groups.length === matches.files.length;
  const what = `${atLeast(total, matches)} matching lines in ${filesOf(matches)}`;
  const narrow = "; narrow it with path, glob, type or a longer pattern, or raise limit";
  return [...groups, isAll ? `[${what}]` : `[${shown} of ${what}${narrow}]`].join("\n");
}

/** The lines up to the last match that is shown, with the context after it. */
function linesUpTo(lines: readonly MatchedLine[], matchesMax: number): readonly MatchedLine[] {
  let matches = 0;
  const end = lines.findIndex(({ isMatch }) => isMatch && ++matches > matchesMax);
  return end === -1 ? lines : lines.slice(0, end);
}

function formatGroup(file: MatchedFile, lines: readonly MatchedLine[], matchCount: number): string {
  const head = shownPath(file.path);
  if (lines.length === 0) return `${head}\n  [${file.note ?? "the file changed during the search"}]`;
  const hasContext = lines.some((line) => !line.isMatch);
  const rows = lines.flatMap(({ number, isMatch, text }, i) => {
    const previous = lines[i - 1]?.number;
    const gap = hasContext && previous !== undefined && number > previous + 1 ? ["  …"] : [];
    return [...gap, `  ${number}${isMatch ? ":" : "-"} ${text}`];
  });
  const rest = file.count - matchCount;
  return [head, ...rows, ...(rest > 0 ? [`  [${rest} more in this file]`] : [])].join("\n");
}

function formatPaths(matches: SearchMatches, limit: number): string {
  const shown = firstByPath(matches.files, limit);
  return [...shown.map(({ path }) => shownPath(path)), formatTotal(shown.length, matches)].join("\n");
}

function formatCounts(matches: SearchMatches, limit: number): string {
  const shown = firstByPath(matches.files, limit);
  const lines = shown.map(({ path, count }) => `${shownPath(path)}: ${count}`);
  const total = `[${atLeast(totalMatches(matches), matches)} matching lines]`;
  return [...lines, `${formatTotal(shown.length, matches)} ${total}`].join("\n");
}

/** The output without a match. It names the options that may find one. */
function formatNoMatch({ pattern, path, glob, type, ignoreCase, literal, ignored }: SearchInput): string {
  const where = [
    path === "." ? "" : ` in ${path}`,
    glob ? ` in files like ${glob}` : "",
    type ? ` of type ${type}` : "",
  ].join("");
  const suggestions = [
    ...(ignoreCase || pattern.toLowerCase() === pattern.toUpperCase() ? [] : ["ignoreCase"]),
    ...(literal || !/[()[\]{}.*+?|^$\\]/.test(pattern) ? [] : ["literal, for plain text"]),
    ...(path === "." && !glob && !type ? [] : ["other files"]),
    ...(ignored ? [] : ["ignored, for files that .gitignore excludes"]),
  ];
  const hint = suggestions.length > 0 ? `; try ${suggestions.join("; ")}` : "";
  return `nothing matches ${quote(pattern)}${where}${hint}`;
}

function formatTotal(shown: number, matches: SearchMatches): string {
  if (shown === matches.files.length) return `[${filesOf(matches)}]`;
  return `[${shown} of ${filesOf(matches)}; narrow it with path, glob or type, or raise limit]`;
}

function filesOf(matches: SearchMatches): string {
  const { length } = matches.files;
  return `${atLeast(length, matches)} ${length === 1 ? "file" : "files"}`;
}

function totalMatches({ files }: SearchMatches): number {
  return files.reduce((sum, { count }) => sum + count, 0);
}

function atLeast(total: number, { isCut }: SearchMatches): string {
  return isCut ? `more than ${total}` : `${total}`;
}

import { RunFailure, type ToolContext } from "@troupe/core";
import { defineTool, type Tool, type ToolResult } from "../define-tool.ts";
import { type Found, showCounts, showLines, showNothing, showPaths } from "./format-matches.ts";
import { linesOf, selectFiles } from "./matched-lines.ts";
import { matcherBelow, pathPattern } from "./path-pattern.ts";
import type { Ripgrep, RipgrepEnd } from "./ripgrep.ts";
import { firstByPath, parseCounts } from "./ripgrep-output.ts";
import { type SearchInput, searchInput } from "./search-input.ts";
import { noteOnUnreadable, searchTimeoutMs } from "./search-limits.ts";
import { type SearchRoot, searchRoot } from "./search-root.ts";

/** Some 200,000 files that match. */
const countBytesMax = 16 * 1024 * 1024;

/**
 * Searches the content of files. It counts first and shows then, so that a pattern that is everywhere costs no more
 * than its counts, the totals are exact, and the order is by path however many threads searched.
 */
export function createSearchTool(ripgrep: Ripgrep): Tool {
  return defineTool({
    name: "search",
    description:
      "Searches the content of the workspace's files for a regular expression, as grep does, and gives lines with their " +
      "numbers, grouped by file. Narrow it with path, glob and type. Files that .gitignore names, binary files and " +
      "those over 16 MB are left out.",
    input: searchInput,
    risk: "low",
    effect: "read",
    groups: ["search", "filesystem"],
    async run(input, context) {
      const root = await searchRoot(context.workspace, input.path);
      const counted = await count(ripgrep, { input, root, context });
      return { output: await outputOf(ripgrep, { input, counted, context }) };
    },
  });
}

interface Search {
  input: SearchInput;
  root: SearchRoot;
  context: ToolContext;
}

async function count(ripgrep: Ripgrep, { input, root, context }: Search): Promise<Found> {
  const end = await searchWith(ripgrep, { input, context }, [
    "--count",
    "--with-filename",
    ...(input.mode === "content" ? ["--binary"] : []),
    ...selection(input),
    "--",
    root.argument,
  ]);
  const files = parseCounts(end.stdout);
  const matches = input.glob ? globMatcherOf(input.glob, root, context.workspace) : () => true;
  return { files: files.filter(({ path }) => matches(path)), isCut: end.isCut, unreadable: end.unreadable };
}

async function outputOf(
  ripgrep: Ripgrep,
  { input, counted, context }: { input: SearchInput; counted: Found; context: ToolContext },
): Promise<ToolResult["output"]> {
  const notes = noteOnUnreadable(counted.unreadable);
  if (counted.files.length === 0) return [showNothing(input), ...notes].join("\n");
  if (input.mode === "files") return [showPaths(counted, input.limit), ...notes].join("\n");
  if (input.mode === "count") return [showCounts(counted, input.limit), ...notes].join("\n");
  const selected = selectFiles(firstByPath(counted.files, input.limit), {
    limit: input.limit,
    isOnly: counted.files.length === 1,
  });
  const lines = await linesOf(selected, {
    workspace: context.workspace,
    search: (args) => searchWith(ripgrep, { input, context }, args),
    context: input.context,
  });
  return [showLines(lines, { counted, input }), ...notes].join("\n");
}

async function searchWith(
  ripgrep: Ripgrep,
  { input, context }: Pick<Search, "input" | "context">,
  args: readonly string[],
): Promise<RipgrepEnd> {
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
  const spans = multiline || /\n|\\n/.test(pattern);
  return [
    ...(ignoreCase ? ["--ignore-case"] : ["--case-sensitive"]),
    ...(literal ? ["--fixed-strings"] : []),
    ...(spans ? ["--multiline"] : []),
    `--regexp=${pattern}`,
  ];
}

function selection({ type, glob, ignored }: SearchInput): string[] {
  return [
    ...(ignored ? ["--no-ignore"] : []),
    ...(type ? [`--type=${type}`] : []),
    // Kinds of files leave alone what is ignored, where globs of ripgrep's would bring it back.
    ...(glob && !type && isPlainName(glob) ? [`--type-add=asked:${nameOf(glob)}`, "--type=asked"] : []),
  ];
}

/** Without a folder in it, it is about names at any depth, as grep and ripgrep have it. */
function globMatcherOf(glob: string, root: SearchRoot, workspace: string): (path: string) => boolean {
  const pattern = pathPattern(glob, workspace);
  if (root.isFile) return () => true;
  return matcherBelow(root.argument, pattern.includes("/") ? pattern : `**/${pattern}`);
}

/** Whether the last part of a glob means the same to ripgrep as to us, so that it need not search other files at all. */
function isPlainName(glob: string): boolean {
  return /^[\w.*?-]+(\{[\w.,*?-]+\})?[\w.*?-]*$/.test(nameOf(glob)) && !nameOf(glob).includes("**");
}

function nameOf(glob: string): string {
  return glob.slice(glob.lastIndexOf("/") + 1);
}

function badPattern(error: RunFailure, { pattern, literal }: SearchInput): RunFailure {
  const shown = JSON.stringify(pattern.length > 100 ? `${pattern.slice(0, 100)}…` : pattern);
  const isOfType = error.message.includes("file type");
  const hint = isOfType
    ? "use glob for it"
    : literal
      ? null
      : "set literal for plain text, or put \\ before ( ) [ ] { } . * + ?";
  const what = isOfType ? "the type is unknown" : `the pattern ${shown} cannot be searched for`;
  const message = `${what}: ${error.message}${hint ? `; ${hint}` : ""}`;
  return new RunFailure({ type: "params", message, recoverable: false }, { cause: error });
}

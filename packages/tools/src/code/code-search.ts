import { setImmediate } from "node:timers/promises";
import { RunFailure } from "@troupe/core";
import { nearestNames } from "@troupe/core/internal";
import { defineTool, type Tool } from "@troupe/core/tool";
import { z } from "zod";
import { type CodeFiles, type CodeScope, isTest, scopeOf, type WordLine } from "./code-files.ts";
import { languageOf, languages } from "./languages/languages.ts";
import type { Definition, Occurrence } from "./syntax/queries.ts";

/**
 * Finds the definitions and uses of a name by parsing the code.
 *
 * @example
 * const codeSearch = createCodeSearchTool({ files });
 */
export function createCodeSearchTool({ files }: { files: CodeFiles }): Tool {
  return defineTool({
    name: "code_search",
    description:
      "Finds where a function, class, method, type or variable is defined and used, without comments and strings. " +
      `Parses ${languageTitles}; in other files it finds the word.`,
    input: z.strictObject({
      name: z.string().min(1).max(200).describe("Exact: createUser or UserStore.create"),
      kind: z.enum(["definitions", "references", "all"]).default("all"),
      path: z.string().min(1).optional().describe("Folder or file to search, relative to the workspace"),
      language: z.string().max(40).optional().describe("Such as python"),
      limit: z.int().min(1).max(500).default(60),
    }),
    risk: "low",
    effect: "read",
    groups: ["code"],
    async run({ name, kind, path, language, limit }, context) {
      const requested = parseName(name);
      const isIncluded = languageFilter(language);
      const scope = await scopeOf(context, path);
      const matches = await findMatches(files, scope, { requested, isIncluded });
      if (isEmpty(matches)) return { output: await describeNoMatch(files, scope, { name, requested, isIncluded }) };
      return { output: formatMatches(matches, { name, requested, kind, limit }) };
    },
  });
}

const languageTitles = languages
  .filter(({ id }) => id !== "tsx")
  .map(({ title }) => title)
  .join(", ");

/** A name that a model gave: a `member`, with its `container` for `Class.method`. */
interface RequestedName {
  member: string;
  container: string | null;
}

const namePart = /^[#@]?[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*[?!]?$/u;

/** Accepts `Class.method`, `Type::method`, `Class#method` and `name()`. Throws a `RunFailure` for any other text. */
function parseName(name: string): RequestedName {
  const parts = name
    .trim()
    .replace(/\(\)$/, "")
    .split(/\.|::|->|(?<=.)#/);
  if (parts.length === 0 || parts.some((part) => !namePart.test(part))) {
    const message =
      `${JSON.stringify(name.slice(0, 100))} is not a name in code; give one such as createUser or ` +
      "UserStore.create, and use the search tool for any other text";
    throw new RunFailure({ type: "params", message, recoverable: false });
  }
  const bare = parts.map((part) => part.replace(/^@/, "").replace(/[?!]$/, ""));
  return { member: bare.at(-1) ?? "", container: bare.length > 1 ? bare.slice(0, -1).join(".") : null };
}

/** True when the container of a definition is the requested one, or ends with it. */
function isInContainer(container: string | null, requested: string | null): boolean {
  return requested === null || container === requested || (container?.endsWith(`.${requested}`) ?? false);
}

type PathFilter = (path: string) => boolean;

/** Selects the files of a language. Throws a `RunFailure` for a language that is not supported. */
function languageFilter(requested: string | undefined): PathFilter {
  if (requested === undefined) return () => true;
  const wanted = requested.toLowerCase().replace(/^\./, "");
  const ids = languages
    .filter(({ id, title, extensions }) => [id, title.toLowerCase(), ...extensions].includes(wanted))
    .map(({ id }) => id);
  if (ids.length === 0) {
    const known = languages.map(({ id }) => id).join(", ");
    const message = `the language ${JSON.stringify(requested)} is not supported; leave it out, or use one of: ${known}`;
    throw new RunFailure({ type: "params", message, recoverable: false });
  }
  // Users mean TSX files too when they ask for TypeScript. Only the grammar differs.
  const all = new Set(ids.includes("typescript") ? [...ids, "tsx"] : ids);
  return (path) => all.has(languageOf(path)?.id ?? "");
}

interface OccurrenceInFile extends Occurrence {
  path: string;
}

interface DefinitionInFile extends Definition {
  path: string;
}

/** Everything that was found for a name. */
interface NameMatches {
  definitions: DefinitionInFile[];
  /** Definitions of the name in another container than the requested one. */
  elsewhere: DefinitionInFile[];
  references: OccurrenceInFile[];
  imports: OccurrenceInFile[];
  /** Occurrences in strings and comments. */
  texts: OccurrenceInFile[];
  /** Lines of files that were not parsed. */
  words: WordLine[];
  /** Files of a supported language that were not parsed, and why. */
  problems: { path: string; problem: string }[];
  /** Files with syntax errors. Occurrences near an error may be classified wrongly. */
  withErrors: { path: string; line: number }[];
  /** Number of files that contain the name and were not searched, because of the limits. */
  skipped: number;
}

/** Searches the files that contain the name as a word. Other files are not parsed. */
async function findMatches(
  files: CodeFiles,
  scope: CodeScope,
  { requested, isIncluded }: { requested: RequestedName; isIncluded: PathFilter },
): Promise<NameMatches> {
  const word = { text: requested.member };
  const list = await files.list(scope, word);
  const included = list.paths.filter(isIncluded);
  const parseable = testsLast(included.filter((path) => languageOf(path)));
  const { results, skipped } = await files.query(scope, parseable, { kind: "occurrences", name: requested.member });
  const problems = results.flatMap(({ path, result }) =>
    "problem" in result ? [{ path, problem: result.problem }] : [],
  );
  const occurrences = results.flatMap(({ path, result }) =>
    "problem" in result ? [] : result.occurrences.map((occurrence) => ({ ...occurrence, path })),
  );
  const unparsed = [...problems.map(({ path }) => path), ...included.filter((path) => !languageOf(path))];
  const definitions = occurrences.flatMap(({ definition, path }) => (definition ? [{ ...definition, path }] : []));
  const withUse = (use: Occurrence["use"]): OccurrenceInFile[] =>
    occurrences.filter((occurrence) => occurrence.use === use);
  return {
    definitions: definitions.filter(({ container }) => isInContainer(container, requested.container)).sort(byWeight),
    elsewhere: definitions.filter(({ container }) => !isInContainer(container, requested.container)).sort(byWeight),
    references: withUse("reference"),
    imports: withUse("import"),
    texts: withUse("text"),
    words: await files.lines(scope, word, unparsed),
    problems,
    withErrors: results.flatMap(({ path, result }) =>
      "problem" in result || result.errorLine === null ? [] : [{ path, line: result.errorLine }],
    ),
    skipped: skipped + (list.isCut ? 1 : 0),
  };
}

function isEmpty({ definitions, references, imports, texts, words }: NameMatches): boolean {
  return [definitions, references, imports, texts, words].every((list) => list.length === 0);
}

function testsLast(paths: readonly string[]): string[] {
  return [...paths.filter((path) => !isTest(path)), ...paths.filter(isTest)];
}

const localKinds = new Set(["parameter", "variable", "constant", "property", "member"]);

/** Exported definitions first, then top-level ones, then local ones. Tests come last. */
function byWeight(a: DefinitionInFile, b: DefinitionInFile): number {
  return weightOf(b) - weightOf(a);
}

function weightOf({ exported, container, kind, path }: DefinitionInFile): number {
  const isLocal = container !== null && localKinds.has(kind);
  return (exported ? 8 : 0) + (isLocal ? 0 : 4) + (isTest(path) ? 0 : 2) + (kind === "parameter" ? 0 : 1);
}

interface FormatOptions {
  name: string;
  requested: RequestedName;
  kind: "definitions" | "references" | "all";
  limit: number;
}

const problemsShown = 5;
const wordsShown = 15;
const definitionsShareMax = 0.5;

/** The output: counts first, definitions before references, uncertain results at the end. */
function formatMatches(matches: NameMatches, options: FormatOptions): string {
  const { kind, limit } = options;
  const withDefinitions = kind !== "references";
  const withReferences = kind !== "definitions";
  const definitionsMax = withReferences ? Math.max(1, Math.ceil(limit * definitionsShareMax)) : limit;
  const definitions = withDefinitions ? formatDefinitions(matches, options, definitionsMax) : [];
  const left = Math.max(1, limit - Math.min(matches.definitions.length, withDefinitions ? definitionsMax : 0));
  const references = withReferences ? formatReferences(matches, options, left) : [];
  return [
    formatCounts(matches, options),
    ...definitions,
    ...references,
    ...formatWords(matches),
    ...formatWarnings(matches),
  ].join("\n");
}

function formatCounts({ definitions, references, imports, texts, words }: NameMatches, { name }: FormatOptions) {
  const files = new Set([...definitions, ...references, ...imports].map(({ path }) => path)).size;
  const parts = [
    withCount(definitions.length, "definition"),
    withCount(references.length, "reference"),
    withCount(imports.length, "import"),
  ];
  const others = [
    ...(texts.length > 0 ? [`${texts.length} in strings and comments, not shown`] : []),
    ...(words.length > 0 ? ["word matches in files that were not parsed"] : []),
  ];
  const also = others.length > 0 ? ` (also: ${others.join("; ")})` : "";
  return `${name}: ${parts.join(", ")} in ${withCount(files, "file")}${also}`;
}

function formatDefinitions({ definitions, elsewhere }: NameMatches, { requested }: FormatOptions, max: number) {
  const head = ["", "Definitions:"];
  if (definitions.length > 0)
    return [...head, ...definitions.slice(0, max).map(formatDefinition), ...more(definitions, max)];
  if (requested.container === null || elsewhere.length === 0) return [...head, "none in the files that were parsed"];
  return [
    ...head,
    `none in ${requested.container}; ${requested.member} is defined elsewhere:`,
    ...elsewhere.slice(0, max).map(formatDefinition),
    ...more(elsewhere, max),
  ];
}

function formatDefinition({ path, line, endLine, kind, exported, container, signature }: DefinitionInFile): string {
  const lines = endLine > line ? `${line}-${endLine}` : line;
  const traits = [`${exported ? "exported " : ""}${kind}`, ...(container === null ? [] : [`in ${container}`])];
  return `${path}:${lines} ${traits.join(" ")}: ${signature}`;
}

function formatReferences({ references, imports }: NameMatches, { requested }: FormatOptions, max: number): string[] {
  const note =
    requested.container === null
      ? ""
      : ` (matched by the name ${requested.member} only: the object's type is not known)`;
  const used = references.length === 0 ? [] : ["", `References${note}:`, ...groupByFile(references, max)];
  return [...used, ...formatImports(imports, Math.max(5, max - references.length))];
}

/** Lines below the path of their file. Occurrences on the same line are shown once. */
function groupByFile(occurrences: readonly OccurrenceInFile[], max: number): string[] {
  const lines: string[] = [];
  let lastPath = "";
  let lastLine = 0;
  for (const { path, line, text, container } of occurrences.slice(0, max)) {
    if (path !== lastPath) lines.push(path);
    if (path !== lastPath || line !== lastLine)
      lines.push(`  ${line}${container === null ? "" : ` in ${container}`}: ${text}`);
    lastPath = path;
    lastLine = line;
  }
  return [...lines, ...more(occurrences, max)];
}

function formatImports(imports: readonly OccurrenceInFile[], max: number): string[] {
  if (imports.length === 0) return [];
  const lines = imports.map(({ path, line }) => `${path}:${line}`);
  return ["", "Imports:", ...[...new Set(lines)].slice(0, max), ...more(imports, max)];
}

function formatWords({ words }: NameMatches): string[] {
  if (words.length === 0) return [];
  const shown = words.slice(0, wordsShown).map(({ path, line, text }) => `${path}:${line}: ${text}`);
  return ["", "Word matches in files that were not parsed:", ...shown, ...more(words, wordsShown)];
}

/** The reasons why results may be missing or wrong. */
function formatWarnings({ problems, withErrors, skipped }: NameMatches): string[] {
  const lines = [
    ...problems.slice(0, problemsShown).map(({ path, problem }) => `${path} was not parsed: ${problem}`),
    ...more(problems, problemsShown),
    ...withErrors
      .slice(0, problemsShown)
      .map(({ path, line }) => `${path} has a syntax error near line ${line}: results near it may be wrong`),
    ...more(withErrors, problemsShown),
    ...(skipped > 0
      ? [`at least ${skipped} more files contain the name and were not searched: narrow the search with path`]
      : []),
  ];
  return lines.length > 0 ? ["", ...lines] : [];
}

function more(list: readonly unknown[], shown: number): string[] {
  return list.length > shown ? [`… and ${list.length - shown} more`] : [];
}

function withCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

const suggestionsMax = 6;
const namesAtOnce = 500;

interface NameSearch {
  requested: RequestedName;
  isIncluded: PathFilter;
}

/** The output for a name that occurs nowhere, with the most similar definitions. */
async function describeNoMatch(
  files: CodeFiles,
  scope: CodeScope,
  { name, ...search }: NameSearch & { name: string },
): Promise<string> {
  const where = scope.root === "." ? "the workspace" : scope.root;
  const { definitions, skipped } = await findSimilar(files, scope, search);
  const hint =
    definitions.length > 0
      ? `The most similar definitions are:\n${definitions.map(formatDefinition).join("\n")}`
      : "No definition has a similar name.";
  const partial = skipped > 0 ? `\n[${skipped} files were not searched for similar names]` : "";
  return `${name} was not found in ${where}. ${hint}${partial}`;
}

/** Finds definitions whose name differs only in case, otherwise those with the most similar names. */
async function findSimilar(files: CodeFiles, scope: CodeScope, { requested, isIncluded }: NameSearch) {
  const lower = requested.member.toLowerCase();
  const sameLetters = await files.list(scope, { text: requested.member, ignoreCase: true });
  const inOtherCase = await definitionsIn(files, scope, sameLetters.paths.filter(isIncluded));
  const same = inOtherCase.definitions.filter(({ name }) => name.toLowerCase() === lower);
  if (same.length > 0) return { definitions: same.slice(0, suggestionsMax), skipped: 0 };
  const list = await files.list(scope);
  const all = await definitionsIn(files, scope, list.paths.filter(isIncluded));
  return { definitions: await selectSimilar(lower, all.definitions), skipped: all.skipped };
}

async function definitionsIn(files: CodeFiles, scope: CodeScope, paths: readonly string[]) {
  const parseable = paths.filter((path) => languageOf(path) && !isTest(path));
  const { results, skipped } = await files.query(scope, parseable, { kind: "outline" });
  const definitions = results.flatMap(({ path, result }): DefinitionInFile[] =>
    "problem" in result ? [] : result.definitions.map((definition) => ({ ...definition, path })),
  );
  return { definitions, skipped };
}

/** Prefers names that contain the requested one to names with a similar spelling, except for a likely typo. */
async function selectSimilar(requested: string, definitions: readonly DefinitionInFile[]): Promise<DefinitionInFile[]> {
  const byName = new Map<string, DefinitionInFile>();
  for (const definition of definitions) {
    const known = byName.get(definition.name);
    if (!known || (!known.exported && definition.exported)) byName.set(definition.name, definition);
  }
  const names = [...byName.keys()];
  const nearest = await findNearest(requested, names);
  const containing = names
    .filter((name) => requested.length >= 4 && name.toLowerCase().includes(requested))
    .sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  const [closest] = nearest;
  const isTypo = closest !== undefined && Math.abs(closest.length - requested.length) <= 1;
  const order = isTypo ? [closest, ...containing, ...nearest] : [...containing, ...nearest];
  return [...new Set(order)].slice(0, suggestionsMax).flatMap((name) => byName.get(name) ?? []);
}

/** Compares many names in parts, so that the event loop is not blocked. */
async function findNearest(requested: string, names: readonly string[]): Promise<string[]> {
  let best: string[] = [];
  for (let from = 0; from < names.length; from += namesAtOnce) {
    best = nearestNames(requested, [...best, ...names.slice(from, from + namesAtOnce)], suggestionsMax);
    await setImmediate();
  }
  return best;
}

import { errorCodeOf } from "@troupe/core/internal";
import type { Ripgrep } from "../search/ripgrep.ts";
import { isNameable, parsePaths, shownPath } from "../search/ripgrep-output.ts";
import { searchRoot } from "../search/search-root.ts";
import { resolvePath } from "../workspace/resolve-path.ts";
import { languageOf } from "./languages/languages.ts";
import type { SyntaxQuery, SyntaxResults, Unparsed } from "./syntax/queries.ts";
import { type SyntaxService, sourceBytesMax } from "./syntax/syntax-service.ts";

/** The source files of a workspace, with queries about their content. */
export interface CodeFiles {
  /** Lists the files that are not ignored, sorted by path. With a word, only the files that contain it. */
  list(scope: CodeScope, word?: Word): Promise<CodeFileList>;
  /** Finds lines with a word in the given files, without parsing them. */
  lines(scope: CodeScope, word: Word, paths: readonly string[]): Promise<WordLine[]>;
  /** Reads the beginning of a file as text. Null for a path that is not a regular file. */
  read(scope: CodeScope, path: string, bytesMax: number): Promise<string | null>;
  /** Runs the same query on many files. */
  query<Q extends SyntaxQuery>(
    scope: CodeScope,
    paths: readonly string[],
    query: Q,
  ): Promise<QueryResults<SyntaxResults[Q["kind"]]>>;
}

/** The part of a workspace that a call looks at. */
export interface CodeScope {
  workspace: string;
  /** Relative to the workspace. */
  root: string;
  signal: AbortSignal;
}

export interface Word {
  text: string;
  ignoreCase?: boolean;
}

export interface CodeFileList {
  paths: string[];
  /** True when there are more files than were listed. */
  isCut: boolean;
}

export interface WordLine {
  path: string;
  line: number;
  text: string;
}

export interface QueryResults<Result> {
  /** In the order of the paths. */
  results: { path: string; result: Result | Unparsed }[];
  /** Number of files that were not queried, because of the limits. */
  skipped: number;
}

const listBytesMax = 16 * 1024 * 1024;
const searchTimeoutMs = 60_000;
/** Limits of one call. The number of files is low enough to be reached first: it gives the same result everywhere. */
const filesMax = 3_000;
const queryTimeoutMs = 20_000;
const readersCount = 4;
const linesPerFileMax = 3;
const pathsPerSearchMax = 500;

export function createCodeFiles({ ripgrep, syntax }: { ripgrep: Ripgrep; syntax: SyntaxService }): CodeFiles {
  const run = (args: readonly string[], { workspace, signal }: CodeScope) =>
    ripgrep.run(args, { workspace, signal, timeoutMs: searchTimeoutMs, captureBytesMax: listBytesMax });

  return {
    async list(scope, word) {
      const what = word ? ["--files-with-matches", ...wordArguments(word)] : ["--files"];
      const { stdout, isCut } = await run([...what, "--", scope.root === "." ? "./" : `./${scope.root}`], scope);
      // A path that cannot be written on one line could not be given to another call either.
      const paths = parsePaths(stdout).filter((path) => isNameable(path) && shownPath(path) === path);
      return { paths: paths.sort(byCodeUnits), isCut };
    },

    async lines(scope, word, paths) {
      if (paths.length === 0) return [];
      const files = paths.slice(0, pathsPerSearchMax).map((path) => `./${path}`);
      const args = [`--max-count=${linesPerFileMax}`, "--max-columns=160", "--max-columns-preview", "--line-number"];
      const { stdout } = await run([...args, "--with-filename", ...wordArguments(word), "--", ...files], scope);
      return stdout
        .split("\n")
        .flatMap(parseWordLine)
        .sort((a, b) => byCodeUnits(a.path, b.path) || a.line - b.line);
    },

    async read({ workspace }, path, bytesMax) {
      const bytes = await readSource(workspace, path, bytesMax);
      return bytes instanceof Uint8Array ? new TextDecoder().decode(bytes) : null;
    },

    async query(scope, paths, query) {
      const untilMs = performance.now() + queryTimeoutMs;
      const byPath = new Map<string, SyntaxResults[(typeof query)["kind"]] | Unparsed>();
      const pending = paths.slice(0, filesMax).values();
      const reader = async (): Promise<void> => {
        for (const path of pending) {
          if (performance.now() > untilMs) return;
          byPath.set(path, await queryFile(syntax, scope, { path, query }));
        }
      };
      await Promise.all(Array.from({ length: readersCount }, reader));
      const results = paths.flatMap((path) => {
        const result = byPath.get(path);
        return result ? [{ path, result }] : [];
      });
      return { results, skipped: paths.length - results.length };
    },
  };
}

/** Resolves a path that a model gave. Throws a `RunFailure` for a path outside of the workspace. */
export async function scopeOf(
  { workspace, signal }: { workspace: string; signal: AbortSignal },
  path = ".",
): Promise<CodeScope> {
  const { argument } = await searchRoot(workspace, path);
  return { workspace, root: withoutDot(argument) || ".", signal };
}

async function queryFile<Q extends SyntaxQuery>(
  syntax: SyntaxService,
  { workspace, signal }: CodeScope,
  { path, query }: { path: string; query: Q },
): Promise<SyntaxResults[Q["kind"]] | Unparsed> {
  const language = languageOf(path);
  if (!language) return { problem: "its language is not supported" };
  const bytes = await readSource(workspace, path, sourceBytesMax + 1);
  return bytes instanceof Uint8Array ? syntax.query({ language: language.id, bytes }, query, signal) : bytes;
}

/** Reads a regular file of the workspace, up to a number of bytes. */
async function readSource(workspace: string, path: string, bytesMax: number): Promise<Uint8Array | Unparsed> {
  try {
    await using resolved = await resolvePath(workspace, path);
    if (resolved.found.kind !== "file") return { problem: "it is not a regular file" };
    const { file: held } = resolved.found;
    await using file = await held.open();
    const bytes = new Uint8Array(Math.min(held.stats.size, bytesMax));
    const { bytesRead } = await file.read(bytes, 0, bytes.byteLength, 0);
    return bytes.subarray(0, bytesRead);
  } catch (error) {
    return { problem: `it cannot be read (${errorCodeOf(error) ?? "outside of the workspace"})` };
  }
}

function wordArguments({ text, ignoreCase = false }: Word): string[] {
  return ["--fixed-strings", "--word-regexp", ignoreCase ? "--ignore-case" : "--case-sensitive", `--regexp=${text}`];
}

/** Parses `path NUL line:text`, as ripgrep writes it. */
function parseWordLine(output: string): WordLine[] {
  const [, path, line, text] = /^([^\0]+)\0(\d+):(.*)$/.exec(output) ?? [];
  return path && line ? [{ path: withoutDot(path), line: Number(line), text: (text ?? "").trim() }] : [];
}

function withoutDot(path: string): string {
  return path.replace(/^\.\//, "");
}

/** An order that does not depend on the locale of the machine. */
function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const testPath =
  /(^|\/)(tests?|__tests__|__mocks__|specs?|e2e|fixtures|testdata)\/|\.(test|spec|fixture|test-helper|stories)\.[^/]+$|_test\.(go|py)$|(^|\/)(test_[^/]*|conftest)\.py$|Tests?\.java$/;
const generatedPath =
  /(^|\/)(node_modules|vendor|third_party|dist|build|target|__generated__|generated|coverage)\/|\.min\.[a-z]+$|\.generated\.[a-z]+$|_pb2(_grpc)?\.pyi?$|\.pb\.go$|(^|\/)zz_generated/;
const generatedMark = /@generated\b|\bDO NOT EDIT\b|auto-?generated|generated by /i;

/** True for a file of tests, by its path. */
export function isTest(path: string): boolean {
  return testPath.test(path);
}

/** True for a generated file, by its path or by a comment at its beginning. */
export function isGenerated(path: string, head = ""): boolean {
  return generatedPath.test(path) || (/^\s*(\/\/|\/\*|#|<!--|"""|\*)/.test(head) && generatedMark.test(head));
}

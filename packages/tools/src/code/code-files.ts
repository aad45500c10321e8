import { errorCodeOf } from "@troupe/core/internal";
import type { Ripgrep } from "../search/ripgrep.ts";
import { isNameable, pathsIn, shownPath } from "../search/ripgrep-output.ts";
import { searchRoot } from "../search/search-root.ts";
import { resolvePath } from "../workspace/resolve-path.ts";
import { languageOf } from "./languages/languages.ts";
import type { Answers, Question, Unparsed } from "./syntax/queries.ts";
import { type SyntaxService, sourceBytesMax } from "./syntax/syntax-service.ts";

/** The source files of a workspace, and what stands in them. */
export interface CodeFiles {
  /** The files below a path that are not ignored, by path; with a word, those that have it. */
  list(scope: CodeScope, word?: Word): Promise<FileList>;
  /** Lines with a word in files that are not parsed, as `path:line: text`. */
  lines(scope: CodeScope, word: Word, paths: readonly string[]): Promise<WordLine[]>;
  /** The beginning of a text file; null for what is none. */
  read(scope: CodeScope, path: string, bytesMax: number): Promise<string | null>;
  /** Asks the same of many files. */
  ask<Q extends Question>(scope: CodeScope, paths: readonly string[], question: Q): Promise<Asked<Answers[Q["kind"]]>>;
}

export interface CodeScope {
  workspace: string;
  /** Where to look, relative to the workspace. */
  root: string;
  signal: AbortSignal;
}

export interface Word {
  text: string;
  ignoreCase?: boolean;
}

export interface FileList {
  paths: string[];
  /** Whether there are more than were listed. */
  isCut: boolean;
}

export interface WordLine {
  path: string;
  line: number;
  text: string;
}

export interface Asked<Answer> {
  /** In the order of the paths. */
  answers: { path: string; answer: Answer | Unparsed }[];
  /** How many were not come to. */
  leftOut: number;
}

const listBytesMax = 16 * 1024 * 1024;
const searchTimeoutMs = 60_000;
/** What one call looks into. The first bound is meant to be met: it gives the same answer on every machine. */
const filesMax = 3_000;
const askTimeoutMs = 20_000;
const readersCount = 4;
const linesPerFileMax = 3;
const pathsPerSearchMax = 500;

export function createCodeFiles({ ripgrep, syntax }: { ripgrep: Ripgrep; syntax: SyntaxService }): CodeFiles {
  const run = (args: readonly string[], { workspace, signal }: CodeScope) =>
    ripgrep.run(args, { workspace, signal, timeoutMs: searchTimeoutMs, captureBytesMax: listBytesMax });

  return {
    async list(scope, word) {
      const what = word ? ["--files-with-matches", ...wordArgs(word)] : ["--files"];
      const { stdout, isCut } = await run([...what, "--", scope.root === "." ? "./" : `./${scope.root}`], scope);
      // What cannot be said in a line cannot be asked for again either.
      const paths = pathsIn(stdout).filter((path) => isNameable(path) && shownPath(path) === path);
      return { paths: paths.sort(byCodeUnits), isCut };
    },

    async lines(scope, word, paths) {
      if (paths.length === 0) return [];
      const files = paths.slice(0, pathsPerSearchMax).map((path) => `./${path}`);
      const args = [`--max-count=${linesPerFileMax}`, "--max-columns=160", "--max-columns-preview", "--line-number"];
      const { stdout } = await run([...args, "--with-filename", ...wordArgs(word), "--", ...files], scope);
      return stdout
        .split("\n")
        .flatMap(wordLine)
        .sort((a, b) => byCodeUnits(a.path, b.path) || a.line - b.line);
    },

    async read({ workspace }, path, bytesMax) {
      const bytes = await readSource(workspace, path, bytesMax);
      return bytes instanceof Uint8Array ? new TextDecoder().decode(bytes) : null;
    },

    async ask(scope, paths, question) {
      const untilMs = performance.now() + askTimeoutMs;
      const found = new Map<string, Answers[(typeof question)["kind"]] | Unparsed>();
      const waiting = paths.slice(0, filesMax).values();
      const reader = async (): Promise<void> => {
        for (const path of waiting) {
          if (performance.now() > untilMs) return;
          found.set(path, await askOne(syntax, scope, { path, question }));
        }
      };
      await Promise.all(Array.from({ length: readersCount }, reader));
      const answers = paths.flatMap((path) => {
        const answer = found.get(path);
        return answer ? [{ path, answer }] : [];
      });
      return { answers, leftOut: paths.length - answers.length };
    },
  };
}

/** Where a model's path leads. Throws a `RunFailure` for what is not in the workspace. */
export async function scopeOf(
  { workspace, signal }: { workspace: string; signal: AbortSignal },
  path = ".",
): Promise<CodeScope> {
  const { argument } = await searchRoot(workspace, path);
  return { workspace, root: tidy(argument) || ".", signal };
}

async function askOne<Q extends Question>(
  syntax: SyntaxService,
  { workspace, signal }: CodeScope,
  { path, question }: { path: string; question: Q },
): Promise<Answers[Q["kind"]] | Unparsed> {
  const language = languageOf(path);
  if (!language) return { problem: "its language is not understood" };
  const bytes = await readSource(workspace, path, sourceBytesMax + 1);
  return bytes instanceof Uint8Array ? syntax.ask({ language: language.id, bytes }, question, signal) : bytes;
}

/** A regular file of the workspace, or the beginning of a longer one. */
async function readSource(workspace: string, path: string, bytesMax: number): Promise<Uint8Array | Unparsed> {
  try {
    await using place = await resolvePath(workspace, path);
    if (place.found.kind !== "file") return { problem: "it is not a regular file" };
    const { file: held } = place.found;
    await using file = await held.open();
    const bytes = new Uint8Array(Math.min(held.stats.size, bytesMax));
    const { bytesRead } = await file.read(bytes, 0, bytes.byteLength, 0);
    return bytes.subarray(0, bytesRead);
  } catch (error) {
    return { problem: `it cannot be read (${errorCodeOf(error) ?? "outside of the workspace"})` };
  }
}

function wordArgs({ text, ignoreCase = false }: Word): string[] {
  return ["--fixed-strings", "--word-regexp", ignoreCase ? "--ignore-case" : "--case-sensitive", `--regexp=${text}`];
}

/** `path NUL line:text`, as ripgrep writes it. */
function wordLine(output: string): WordLine[] {
  const [, path, line, text] = /^([^\0]+)\0(\d+):(.*)$/.exec(output) ?? [];
  return path && line ? [{ path: tidy(path), line: Number(line), text: (text ?? "").trim() }] : [];
}

function tidy(path: string): string {
  return path.replace(/^\.\//, "");
}

/** The same on every machine, whatever its language. */
function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { RunFailure } from "@troupe/core";
import type { RunErrorType } from "@troupe/core/internal";
import type { CommandResult, Sandbox } from "../sandbox/sandbox.ts";
import { parsePaths } from "./ripgrep-output.ts";

/** Searches a workspace in the sandbox. */
export interface Ripgrep {
  /** Throws a `RunFailure` for a bad pattern or option, a timeout or a cancellation. */
  run(args: readonly string[], search: RipgrepSearch): Promise<RipgrepResult>;
}

export interface RipgrepSearch {
  workspace: string;
  signal: AbortSignal;
  timeoutMs: number;
  captureBytesMax: number;
}

export interface RipgrepResult {
  stdout: string;
  /** True when the output was longer than the capture limit. */
  isCut: boolean;
  /** Paths that could not be read, with ripgrep's reason: `secret: Permission denied`. */
  unreadable: string[];
}

export interface RipgrepOptions {
  sandbox: Sandbox;
  /** Finds the program. @default locateRipgrep */
  locate?: () => Promise<string>;
}

/** Time limit of one search. */
export const searchTimeoutMs = 30_000;

/** Larger files are not searched. They are data, and one of them takes as long as a thousand source files. */
export const searchedFileBytesMax = 16 * 1024 * 1024;

/**
 * Options of every search. They disable all configuration except `.gitignore` and similar files, do not follow links, and
 * skip `.git`. A `--glob=!` only excludes files; an including glob would also include ignored files.
 */
const commonOptions: readonly string[] = [
  "--no-config",
  "--color=never",
  "--no-follow",
  "--hidden",
  "--no-require-git",
  "--no-ignore-global",
  "--no-heading",
  "--null",
  `--max-filesize=${searchedFileBytesMax}`,
  "--glob=!.git",
];

/**
 * Runs ripgrep in a sandbox, without a shell and without write access. The output is limited.
 *
 * @example
 * const ripgrep = createRipgrep({ sandbox: await createSandbox() });
 * const { stdout } = await ripgrep.run(["--files", "--", "."], search);
 */
export function createRipgrep({ sandbox, locate = locateRipgrep }: RipgrepOptions): Ripgrep {
  let located: Promise<string> | null = null;
  return {
    async run(args, { workspace, signal, timeoutMs, captureBytesMax }) {
      located ??= locate();
      const program = await located.catch((error) => {
        located = null;
        throw error;
      });
      const end = await sandbox.run({
        argv: [program, ...commonOptions, ...args],
        workspace,
        writes: [[]],
        readable: [dirname(program)],
        timeoutMs,
        signal,
        captureBytesMax,
      });
      return toResult(end, timeoutMs);
    },
  };
}

/**
 * Finds ripgrep: the program of the package `@vscode/ripgrep`, otherwise `rg` on the PATH. Throws a `RunFailure` that says
 * how to install it.
 *
 * @example
 * const path = await locateRipgrep();
 */
export async function locateRipgrep({
  bundled = async () => (await import("@vscode/ripgrep")).rgPath,
  path = process.env.PATH ?? "",
}: {
  /** Path of the bundled program. */
  bundled?: () => Promise<string>;
  path?: string;
} = {}): Promise<string> {
  const candidates = path.split(delimiter).flatMap((folder) => (folder ? [join(folder, "rg")] : []));
  const bundledPath = await bundled().catch(() => null);
  for (const candidate of bundledPath === null ? candidates : [bundledPath, ...candidates]) {
    if (await isExecutable(candidate)) return candidate;
  }
  throw failure(
    "tool_error",
    "ripgrep is not installed: there is neither the package @vscode/ripgrep for " +
      `${process.platform}-${process.arch} nor rg on the PATH; install troupe again with its optional dependencies, ` +
      "or install ripgrep",
  );
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** The exit code is also 2 when only a part could not be read. The matches are valid then. */
function toResult(end: CommandResult, timeoutMs: number): RipgrepResult {
  if (end.reason === "aborted") throw failure("cancelled", "the search was cancelled");
  if (end.reason === "timeout") {
    throw failure(
      "timeout",
      `the search was stopped after ${Math.round(timeoutMs / 1000)} s; narrow it with path, glob or type`,
    );
  }
  const { stdout, droppedBytes, code } = end;
  const isCut = droppedBytes > 0;
  if (code === 0 || code === 1) return { stdout, isCut, unreadable: [] };
  const unreadable = unreadableIn(end.output);
  if (unreadable.length === 0) throw rejection(end);
  return { stdout, isCut, unreadable };
}

/** Finds `rg: ./a/b: Permission denied (os error 13)` on its own line or after the NUL of a path. */
function unreadableIn(output: string): string[] {
  const errors = output.matchAll(/(?:^|\0)rg: (?:\.\/)?([^\n\0]*): ([^\n\0]*) \(os error \d+\)$/gm);
  return [...errors].map(([, path, why]) => `${path}: ${why}`);
}

/** Ripgrep's error about a pattern or an option, on one line. */
function rejection({ output, code, signal }: CommandResult): RunFailure {
  const text = output.trim();
  if (code === null) return failure("tool_error", `ripgrep was ended by signal ${signal}`);
  const why = /^error: (.*)$/m.exec(text)?.[1] ?? /^rg: (.*)$/m.exec(text)?.[1];
  if (why === undefined) return failure("tool_error", `ripgrep failed with exit code ${code}: ${text.slice(0, 300)}`);
  return failure("params", why.slice(0, 300));
}

function failure(type: RunErrorType, message: string): RunFailure {
  return new RunFailure({ type, message, recoverable: type === "timeout" });
}

export interface FileList {
  /** Relative to the workspace, in no order. */
  paths: string[];
  /** True when there are more files than were listed. */
  isCut: boolean;
  unreadable: string[];
}

/** About 200,000 paths. */
const listBytesMax = 16 * 1024 * 1024;

/** Lists the files below a folder. Ignored files are only listed with `ignored`. */
export async function listFiles(
  ripgrep: Ripgrep,
  { root, ignored, ...search }: Omit<RipgrepSearch, "captureBytesMax"> & { root: string; ignored: boolean },
): Promise<FileList> {
  const args = ["--files", ...(ignored ? ["--no-ignore"] : []), "--", root];
  const { stdout, isCut, unreadable } = await ripgrep.run(args, { ...search, captureBytesMax: listBytesMax });
  return { paths: parsePaths(stdout), isCut, unreadable };
}

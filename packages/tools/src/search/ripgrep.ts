import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { RunFailure } from "@troupe/core";
import type { RunErrorType } from "@troupe/core/internal";
import type { CommandResult, Sandbox } from "../sandbox/sandbox.ts";

/** Searches a workspace, in the sandbox, and never outside of it. */
export interface Ripgrep {
  run(args: readonly string[], search: RipgrepSearch): Promise<RipgrepEnd>;
}

export interface RipgrepSearch {
  workspace: string;
  signal: AbortSignal;
  timeoutMs: number;
  captureBytesMax: number;
}

export interface RipgrepEnd {
  stdout: string;
  /** Whether there was more of it than is captured. */
  isCut: boolean;
  /** What could not be read, as ripgrep says it: `secret: Permission denied`. */
  unreadable: string[];
}

export interface RipgrepOptions {
  sandbox: Sandbox;
  /** @default the one that came with troupe, else the first on the PATH */
  locate?: () => Promise<string>;
}

/** Files beyond this are not looked into: they are data, and reading one would take the time of a thousand others. */
export const searchedFileBytesMax = 16 * 1024 * 1024;

/**
 * What holds for every search. No configuration of the user or of the workspace counts but `.gitignore` and its like,
 * no link is followed, and what a repository keeps for itself is never looked into. `--glob=!` only takes away; a glob
 * that adds would also bring back what is ignored.
 */
const always: readonly string[] = [
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
 * ripgrep as tools use it: arguments that no shell reads, nothing writable, and answers that are capped.
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
        argv: [program, ...always, ...args],
        workspace,
        writes: [[]],
        readable: [dirname(program)],
        timeoutMs,
        signal,
        captureBytesMax,
      });
      return endOf(end, timeoutMs);
    },
  };
}

/** Where ripgrep is. Throws a `RunFailure` that says how to get it. */
export async function locateRipgrep({
  shipped = async () => (await import("@vscode/ripgrep")).rgPath,
  path = process.env.PATH ?? "",
}: {
  shipped?: () => Promise<string>;
  path?: string;
} = {}): Promise<string> {
  const candidates = path.split(delimiter).flatMap((folder) => (folder ? [join(folder, "rg")] : []));
  const ours = await shipped().catch(() => null);
  for (const candidate of ours === null ? candidates : [ours, ...candidates]) {
    if (await isExecutable(candidate)) return candidate;
  }
  throw failure(
    "tool_error",
    "this machine has no ripgrep, which searching needs: neither the package @vscode/ripgrep for " +
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

/** Its exit code is 2 also where it only could not read a part: what it found counts all the same. */
function endOf(end: CommandResult, timeoutMs: number): RipgrepEnd {
  if (end.reason === "aborted") throw failure("cancelled", "the search was cancelled");
  if (end.reason === "timeout") {
    throw failure(
      "timeout",
      `the search was not done after ${Math.round(timeoutMs / 1000)} s and was stopped; narrow it with path, glob or type`,
    );
  }
  const { stdout, droppedBytes, code } = end;
  const isCut = droppedBytes > 0;
  if (code === 0 || code === 1) return { stdout, isCut, unreadable: [] };
  const unreadable = unreadableIn(end.output);
  if (unreadable.length === 0) throw refusal(end);
  return { stdout, isCut, unreadable };
}

/** `rg: ./a/b: Permission denied (os error 13)`, on a line of its own or after the NUL of a path. */
function unreadableIn(output: string): string[] {
  const complaints = output.matchAll(/(?:^|\0)rg: (?:\.\/)?([^\n\0]*): ([^\n\0]*) \(os error \d+\)$/gm);
  return [...complaints].map(([, path, why]) => `${path}: ${why}`);
}

/** What ripgrep has against a pattern or an option, in one line. */
function refusal({ output, code, signal }: CommandResult): RunFailure {
  const text = output.trim();
  if (code === null) return failure("tool_error", `the search was ended by signal ${signal}`);
  const why = /^error: (.*)$/m.exec(text)?.[1] ?? /^rg: (.*)$/m.exec(text)?.[1];
  if (why === undefined) return failure("tool_error", `ripgrep failed with exit code ${code}: ${text.slice(0, 300)}`);
  return failure("params", why.slice(0, 300));
}

function failure(type: RunErrorType, message: string): RunFailure {
  return new RunFailure({ type, message, recoverable: type === "timeout" });
}

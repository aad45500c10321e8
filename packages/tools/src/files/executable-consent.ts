import { closeSync, constants, fstatSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { protectionOf } from "../workspace/protection.ts";
import { splitPath } from "../workspace/workspace-path.ts";
import type { FileChangeRequest } from "./file-plan.ts";

/** Files that shells, build tools and package managers execute, by the end of their path. */
const executedNames =
  /(^|\/)((GNU)?makefile|justfile|rakefile|taskfile\.ya?ml|dockerfile|cmakelists\.txt|package\.json|setup\.py|noxfile\.py|tox\.ini|build\.gradle(\.kts)?|build\.rs|[^/]+\.(mk|sh|bash|zsh|fish|command|ps1|bat|cmd|gyp)|[^/]+\.config\.[cm]?[jt]s)$/i;

/** Longer files are not read to see how they begin after an edit. */
const readBytesMax = 1024 * 1024;

/**
 * The reason why a person has to allow a file tool to write an executable file: without a containing sandbox, the next
 * command runs it with all rights of the user. Null if a sandbox contains commands, or if no file is executable: by its
 * mode, its first line or its name.
 */
export function executableConsent(
  requests: readonly WriteRequest[],
  workspace: string,
  sandbox: Pick<Sandbox, "contains"> | undefined,
): string | null {
  if (sandbox === undefined || sandbox.contains) return null;
  for (const request of requests) {
    const why = executableBy(request, workspace);
    if (why !== null) return `it changes ${request.path}, ${why}, and no sandbox here contains commands`;
  }
  return null;
}

type WriteRequest = Pick<FileChangeRequest, "path" | "from" | "make">;

function executableBy({ path, from = path, make }: WriteRequest, workspace: string): string | null {
  const below = pathBelow(path, workspace);
  if (executedNames.test(below) || protectionOf(below)?.reason.startsWith("runs"))
    return "which other programs execute";
  // A file that a patch moves keeps its content, so the old one counts, too.
  const states = [...new Set([path, from])].map((each) => readFileState(join(workspace, pathBelow(each, workspace))));
  if (states.some(({ isExecutable }) => isExecutable)) return "which is executable";
  const contents = states.map(({ bytes }) => bytes);
  return [...contents, newContent(contents.at(-1) ?? null, below, make)].some(isScript)
    ? "which is a script with an interpreter"
    : null;
}

function pathBelow(path: string, workspace: string): string {
  const below = path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path;
  return splitPath(below).join("/");
}

/** The new content; null for a deletion, and for a change that cannot be made and will be refused. */
function newContent(bytes: Buffer | null, path: string, make: FileChangeRequest["make"]): Buffer | null {
  try {
    return make(bytes, path, []);
  } catch {
    return null;
  }
}

function isScript(bytes: Buffer | null): boolean {
  return bytes?.subarray(0, 2).toString("latin1") === "#!";
}

const nothing = { isExecutable: false, bytes: null };

/** The mode and the beginning of a file. Only a regular file is opened: a pipe would block this process. */
function readFileState(file: string): { isExecutable: boolean; bytes: Buffer | null } {
  let descriptor: number;
  try {
    if (!statSync(file).isFile()) return nothing;
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return nothing;
  }
  try {
    const stats = fstatSync(descriptor);
    if (!stats.isFile()) return nothing;
    const bytes = Buffer.alloc(Math.min(stats.size, readBytesMax));
    return { isExecutable: (stats.mode & 0o111) !== 0, bytes: bytes.subarray(0, readSync(descriptor, bytes)) };
  } finally {
    closeSync(descriptor);
  }
}

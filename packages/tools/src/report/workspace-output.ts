import type { ToolContext } from "@troupe/core";
import { refuseBareRepositories } from "../workspace/bare-repository.ts";
import { changeFiles } from "../workspace/change-files.ts";
import { type FileBytes, readHeldFile, versionOf } from "../workspace/file-version.ts";
import { checkMayChange } from "../workspace/protected-paths.ts";
import { resolvePath } from "../workspace/resolve-path.ts";
import { failure } from "../workspace/workspace-path.ts";

const existingBytesMax = 32 * 1024 * 1024;

export interface WrittenOutput {
  /** Path relative to the workspace, free of links. */
  real: string;
  version: string;
  isNew: boolean;
}

/** Throws unless the run may write a file. */
export async function checkMayWrite(path: string, { workspace, grant }: ToolContext): Promise<void> {
  await using resolved = await resolvePath(workspace, path);
  checkMayChange(resolved, grant.writes);
}

/**
 * Writes a file that a tool generates. It replaces an earlier file of the same kind, which the run need not have read.
 *
 * @param mayReplace whether the existing file is of that kind; any other file stays as it is
 */
export async function writeOutput(
  path: string,
  bytes: Buffer,
  { workspace, grant, signal }: Pick<ToolContext, "workspace" | "grant" | "signal">,
  mayReplace: (existing: FileBytes) => boolean,
): Promise<WrittenOutput> {
  await using resolved = await resolvePath(workspace, path);
  const { shown, real, found, missing } = resolved;
  checkMayChange(resolved, grant.writes);
  await refuseBareRepositories([resolved]);
  if (found.kind !== "file" && missing.length === 0) throw refused(`${shown} was not written: it is not a file`);
  const existing = found.kind === "file" ? await readHeldFile(found.file, existingBytesMax) : null;
  if (found.kind === "file" && (existing === null || !mayReplace(existing))) {
    throw refused(`${shown} was not written: a file with other content has that name; move it away first`);
  }
  const version = versionOf(bytes);
  if (existing?.version !== version) {
    await changeFiles([{ path: resolved, before: existing?.version ?? null, after: bytes }], { signal });
  }
  return { real, version, isNew: existing === null };
}

function refused(message: string) {
  return failure("params", message);
}

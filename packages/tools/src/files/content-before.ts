import type { Blobs } from "@troupe/core";
import { errorCodeOf, type FileChange, type FilePlan } from "@troupe/core/internal";
import type { ResolvedPath } from "../workspace/resolve-path.ts";

/** The state of a file that an undo restores besides its content. */
export type StateBefore = Pick<FilePlan, "typeBefore" | "modeBefore" | "foldersMade">;

/** The state of a path before a change: the permission bits of its file, or the folders that the change has to make. */
export function stateBefore({ found, missing }: Pick<ResolvedPath, "found" | "missing">): StateBefore {
  if (found.kind === "file") return modeFields(found.file.stats.mode);
  return missing.length > 1 ? { foldersMade: missing.length - 1 } : {};
}

/** The fields of a file with these permission bits. */
export function modeFields(mode: number): StateBefore {
  const bits = mode & 0o777;
  const isExecutable = (bits & 0o100) !== 0;
  return {
    ...(isExecutable ? { typeBefore: "executable" as const } : {}),
    ...(bits === (isExecutable ? 0o755 : 0o644) ? {} : { modeBefore: bits }),
  };
}

/** Where the content before a change is kept, or why it is not. */
export type SavedContent = Pick<FileChange, "beforeRef" | "unkept">;

/** The reason for content that the store changed before it kept it. */
export const hasSecretText = "it contains a known secret";

/**
 * Keeps the content of a file before its change, so that an undo can restore it. Call it before the change. A store that
 * fails does not stop the change: the reason is recorded instead.
 *
 * @param bytes null if only the version is known, after a kill: the killed call kept the content before its change
 */
export async function saveContent(
  blobs: Pick<Blobs, "get" | "put"> | undefined,
  { version, bytes }: { version: string; bytes: Buffer | null },
): Promise<SavedContent> {
  if (blobs === undefined) return {};
  try {
    if (bytes === null) {
      return (await blobs.get(version)) ? { beforeRef: version } : { unkept: "the host stopped before it was kept" };
    }
    // Another hash means that the store removed a secret, so the stored content is not the file.
    return (await blobs.put(bytes)) === version ? { beforeRef: version } : { unkept: hasSecretText };
  } catch (error) {
    return { unkept: `it could not be stored: ${errorCodeOf(error) ?? "the store failed"}` };
  }
}

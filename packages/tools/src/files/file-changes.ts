import type { FileChange } from "@troupe/core/internal";
import type { FileBytes } from "../workspace/file-version.ts";
import { runsLaterMark } from "../workspace/protected-paths.ts";
import type { SavedContent } from "./content-before.ts";
import { type PlannedFile, versionIn } from "./file-plan.ts";
import { diffBytesMax, diffTexts, type TextDiff } from "./text-diff.ts";
import { decodeText } from "./text-file.ts";

/** A file of a call, before and after, with the place of its old content. */
export type RecordedFile = Pick<PlannedFile, "real" | "before" | "after" | "state"> & { saved: SavedContent };

/** Limit for the diffs of all files of a call together. */
const totalDiffBytesMax = 64 * 1024;

/** The changes of a call, as the journal records them. Files that stay the same are left out. */
export async function changesOf(files: readonly RecordedFile[]): Promise<FileChange[]> {
  const changes: FileChange[] = [];
  let bytesLeft = totalDiffBytesMax;
  for (const { real: path, before, after, state, saved } of files) {
    if (versionIn(before) === versionIn(after)) continue;
    const diff = await diffOf(before, after, Math.min(diffBytesMax, bytesLeft));
    bytesLeft = Math.max(0, bytesLeft - Buffer.byteLength(diff.diff));
    const kind = before === null ? "created" : after === null ? "deleted" : "modified";
    const versions = { before: versionIn(before), after: versionIn(after) };
    changes.push({ path, ...versions, kind, diffRef: null, ...diff, ...runsLaterMark(path), ...state, ...saved });
  }
  return changes;
}

async function diffOf(before: PlannedFile["before"], after: FileBytes | null, bytesMax: number): Promise<TextDiff> {
  const noLines = { linesAdded: 0, linesRemoved: 0 };
  if (before?.bytes === null) return { diff: "[the call was interrupted: the old content is not known]", ...noLines };
  const [from, to] = [before?.bytes, after?.bytes].map((bytes) => (bytes ? decodeText(bytes)?.text : ""));
  if (from === undefined || to === undefined) return { diff: "", ...noLines };
  return diffTexts(from, to, bytesMax);
}

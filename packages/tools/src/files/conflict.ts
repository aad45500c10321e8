import type { RunFailure } from "@troupe/core";
import { type FileBytes, shortVersion } from "../workspace/file-version.ts";
import type { ResolvedPath } from "../workspace/resolve-path.ts";
import { failure } from "../workspace/workspace-path.ts";
import type { FileToolDeps } from "./file-tool-deps.ts";
import { diffTexts } from "./text-diff.ts";
import { decodeText } from "./text-file.ts";

const shownBytesMax = 6 * 1024;

interface Conflict {
  file: Pick<ResolvedPath, "shown">;
  now: FileBytes | null;
  /** The versions that the call expects. The message shows the difference to the first one whose text is cached. */
  seen: readonly string[];
  /** The content that the call would write. The message shows it when no expected version is cached. */
  wanted?: Buffer | null;
}

/** The failure for a file that changed after the run saw it. It shows the difference, so that the model can react. */
export async function conflict(
  { file, now, seen, wanted = null }: Conflict,
  { recent }: Pick<FileToolDeps, "recent">,
): Promise<RunFailure> {
  const expected = seen.map(shortVersion).join(" or ");
  if (now === null) {
    const message = `${file.shown} was not changed: the file no longer exists (expected version ${expected})`;
    return failure("tool_error", message);
  }
  const head =
    `${file.shown} was not changed: another writer has changed it (expected version ${expected}, found version ` +
    `${shortVersion(now.version)}). Read it again, then change the new content.`;
  return failure("tool_error", `${head}${await differenceTo(now, { seen, wanted }, recent)}`);
}

async function differenceTo(
  now: FileBytes,
  { seen, wanted }: { seen: readonly string[]; wanted: Buffer | null },
  recent: FileToolDeps["recent"],
): Promise<string> {
  const text = decodeText(now.bytes)?.text;
  if (text === undefined) return "";
  for (const version of seen) {
    const old = recent.get(version);
    if (old !== null) return `\nChanges since that version:\n${(await diffTexts(old, text, shownBytesMax)).diff}`;
  }
  const wantedText = wanted && decodeText(wanted)?.text;
  if (typeof wantedText !== "string") return "";
  const { diff } = await diffTexts(text, wantedText, shownBytesMax);
  return `\nDifference from the current content to your content:\n${diff}`;
}

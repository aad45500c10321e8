import type { RunFailure } from "@troupe/core";
import { type FileBytes, shortVersion } from "../workspace/file-version.ts";
import type { ResolvedPath } from "../workspace/resolve-path.ts";
import { failure } from "../workspace/workspace-path.ts";
import type { FileToolDeps } from "./file-tool-deps.ts";
import { diffTexts } from "./text-diff.ts";
import { decodeText } from "./text-file.ts";

const shownBytesMax = 6 * 1024;

interface Conflict {
  place: Pick<ResolvedPath, "shown">;
  now: FileBytes | null;
  /** The versions that the call was about; the newest that is still known is shown beside what is there. */
  seen: readonly string[];
  /** What was to be written, for when what was seen has been forgotten. */
  wanted?: Buffer | null;
}

/** A file is not as the call expects it: what has become of it, for a model to decide what to do now. */
export function conflict(
  { place, now, seen, wanted = null }: Conflict,
  { recent }: Pick<FileToolDeps, "recent">,
): RunFailure {
  const was = seen.map(shortVersion).join(" or ");
  if (now === null) {
    return failure("tool_error", `${place.shown} was not changed: it has gone since (it was version ${was})`);
  }
  const head =
    `${place.shown} was not changed: somebody else has changed it since (it was version ${was} and is version ` +
    `${shortVersion(now.version)} now). Read it again, then make your change to what it is now.`;
  return failure("tool_error", `${head}${differenceTo(now, { seen, wanted }, recent)}`);
}

function differenceTo(
  now: FileBytes,
  { seen, wanted }: { seen: readonly string[]; wanted: Buffer | null },
  recent: FileToolDeps["recent"],
): string {
  const text = decodeText(now.bytes)?.text;
  if (text === undefined) return "";
  for (const version of seen) {
    const old = recent.get(version);
    if (old !== null) return shown("What was changed", diffTexts(old, text, shownBytesMax).diff);
  }
  const meant = wanted && decodeText(wanted)?.text;
  if (typeof meant !== "string") return "";
  return shown("From what is there to what was to be written", diffTexts(text, meant, shownBytesMax).diff);
}

function shown(what: string, diff: string): string {
  return `\n${what}:\n${diff}`;
}

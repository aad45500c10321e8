import { createHash } from "node:crypto";
import type { Blobs } from "@troupe/core";
import type { FileChange } from "@troupe/core/internal";
import { modeFields, type StateBefore } from "../files/content-before.ts";
import { diffBytesMax, diffTexts, type TextDiff } from "../files/text-diff.ts";
import { decodeText } from "../files/text-file.ts";
import { runsLaterMark } from "../workspace/protected-paths.ts";
import { type CountedChanges, countChanges, countedFolder, countsText, kindOf, topFolder } from "./counted-folders.ts";
import { type Scan, type ScanDifference, shownPath } from "./scan.ts";
import { partsOf, type Stamp } from "./stamp.ts";

/** Limits of the list of one call. */
export interface ListBounds {
  /** Number of changes that are listed. The others are counted by folder. */
  changesMax: number;
  /** Time for reading and storing contents. */
  timeMs: number;
}

export const listBounds: ListBounds = { changesMax: 500, timeMs: 5_000 };

const allDiffsBytesMax = 64 * 1024;
const textBytesMax = 1024 * 1024;
const putsAtOnce = 16;

/** Content of an entry before or after a call, or why it is not known. */
export type Content = { bytes: Buffer } | { unknown: string };

export interface ChangeListOptions {
  scans: { before: Scan; after: Scan };
  blobs: Pick<Blobs, "put">;
  bounds?: ListBounds;
  /** The content of an entry before the call. */
  contentBefore(path: string, stamp: Stamp): Promise<Content>;
  /** The content of an entry now. */
  contentAfter(path: string, stamp: Stamp): Content;
}

/** The differences of two scans as the record stores them: with contents, diffs, and counts of what is not listed. */
export async function listChanges(
  differences: readonly ScanDifference[],
  options: ChangeListOptions,
): Promise<FileChange[]> {
  const { bounds = listBounds, scans } = options;
  const folders = new Map(differences.map((difference) => [difference, countedFolder(difference.path)]));
  const listable = differences.filter((difference) => folders.get(difference) === null).sort(byImportance);
  const listed = listable.slice(0, bounds.changesMax);
  const inFolders = [...folders].flatMap(([difference, folder]) =>
    folder === null ? [] : [[folder, difference] as const],
  );
  const others = listable
    .slice(bounds.changesMax)
    .map((difference) => [topFolder(difference.path), difference] as const);
  const changes = await withContents(listed, options, performance.now() + bounds.timeMs);
  const counted = [
    ...countChanges(inFolders, scans).map((counts) => countedChange(counts, counts.kind)),
    ...countChanges(others, scans).map((counts) => countedChange(counts, "modified")),
  ];
  return [...changes.sort(byPath), ...counted.sort(byPath)];
}

function byPath(a: FileChange, b: FileChange): number {
  return a.path < b.path ? -1 : 1;
}

/** A loss matters more than a new file. */
function byImportance(a: ScanDifference, b: ScanDifference): number {
  const rank = { deleted: 0, modified: 1, created: 2 };
  return rank[kindOf(a)] - rank[kindOf(b)] || (a.path < b.path ? -1 : 1);
}

const noDiff: TextDiff = { diff: "", linesAdded: 0, linesRemoved: 0 };

function countedChange(counts: CountedChanges, kind: FileChange["kind"]): FileChange {
  const text = countsText(counts);
  return {
    path: shownPath(counts.folder),
    kind,
    before: kind === "created" ? null : "",
    after: kind === "deleted" ? null : "",
    ...noDiff,
    diff: `[counted, not listed: ${text}]`,
    diffRef: null,
    ...(counts.deleted + counts.modified > 0 ? { unkept: `its files are counted, not listed: ${text}` } : {}),
  };
}

async function withContents(
  differences: readonly ScanDifference[],
  options: ChangeListOptions,
  untilMs: number,
): Promise<FileChange[]> {
  const changes: FileChange[] = [];
  let bytesLeft = allDiffsBytesMax;
  for (let first = 0; first < differences.length; first += putsAtOnce) {
    const some = differences.slice(first, first + putsAtOnce);
    const found = await readAll(some, options, performance.now() > untilMs);
    const refs = await Promise.all(found.map(({ before }) => storeContent(before, options.blobs)));
    for (const [i, entry] of found.entries()) {
      const diff = await diffOf(entry, Math.min(diffBytesMax, bytesLeft));
      bytesLeft = Math.max(0, bytesLeft - Buffer.byteLength(diff.diff));
      changes.push(changeOf(entry, diff, refs[i] ?? {}));
    }
  }
  return changes;
}

interface FoundDifference {
  difference: ScanDifference;
  /** Null if there was no entry. */
  before: Content | null;
  after: Content | null;
}

const noTime: Content = { unknown: "there was no time to store it" };

/** The contents of differences, without entries that were written and have the same content as before. */
async function readAll(
  differences: readonly ScanDifference[],
  { contentBefore, contentAfter }: ChangeListOptions,
  isLate: boolean,
): Promise<FoundDifference[]> {
  const found: FoundDifference[] = [];
  for (const difference of differences) {
    const { path, before: from, after: to } = difference;
    const before = from === null ? null : isLate ? noTime : await contentBefore(path, from);
    const after = to === null ? null : isLate ? noTime : contentAfter(path, to);
    if (!isSame({ difference, before, after })) found.push({ difference, before, after });
  }
  return found;
}

function isSame({ difference, before, after }: FoundDifference): boolean {
  if (before === null || after === null || !("bytes" in before) || !("bytes" in after)) return false;
  return typeOf(difference.before) === typeOf(difference.after) && before.bytes.equals(after.bytes);
}

function typeOf(stamp: Stamp | null): "executable" | "link" | "file" {
  if (stamp === null) return "file";
  const { type, isExecutable } = partsOf(stamp);
  return type === "l" ? "link" : isExecutable && type === "f" ? "executable" : "file";
}

/** Stores the content before a change, so that it can be restored. */
async function storeContent(
  content: Content | null,
  blobs: Pick<Blobs, "put">,
): Promise<Pick<FileChange, "beforeRef" | "unkept">> {
  if (content === null) return {};
  if ("unknown" in content) return { unkept: content.unknown };
  const ref = await blobs.put(content.bytes).catch(() => null);
  if (ref === null) return { unkept: "it could not be stored" };
  // Another hash means that the store removed a secret, so the stored content is not the file.
  return ref === versionOf(content) ? { beforeRef: ref } : { unkept: "it contains a known secret" };
}

/** Empty for an entry whose content is not known. */
function versionOf(content: Content): string {
  return "bytes" in content ? createHash("sha256").update(content.bytes).digest("hex") : "";
}

function changeOf(
  { difference, before, after }: FoundDifference,
  diff: TextDiff,
  saved: Pick<FileChange, "beforeRef" | "unkept">,
): FileChange {
  const path = shownPath(difference.path);
  return {
    path,
    kind: kindOf(difference),
    before: before && versionOf(before),
    after: after && versionOf(after),
    diffRef: null,
    ...diff,
    ...runsLaterMark(path),
    ...saved,
    ...stateBefore(difference.before),
  };
}

/** Type and bits of an entry, so that a restored private file stays private. */
function stateBefore(stamp: Stamp | null): StateBefore {
  if (stamp === null) return {};
  const { type, bits } = partsOf(stamp);
  if (type === "l") return { typeBefore: "link" };
  return type === "f" ? modeFields(bits) : {};
}

async function diffOf({ difference, before, after }: FoundDifference, bytesMax: number): Promise<TextDiff> {
  const [typeBefore, typeAfter] = [typeOf(difference.before), typeOf(difference.after)];
  const isOther = kindOf(difference) === "modified" && typeBefore !== typeAfter;
  const note = isOther ? `[${typeNames[typeBefore]} became ${typeNames[typeAfter]}]` : "";
  const [from, to] = [textOf(before), textOf(after)];
  if (bytesMax === 0 || from === null || to === null) return { ...noDiff, diff: note };
  const diff = await diffTexts(from, to, bytesMax);
  return { ...diff, diff: [note, diff.diff].filter(Boolean).join("\n") };
}

const typeNames = { file: "a plain file", executable: "an executable file", link: "a symbolic link" };

/** Null for a binary or large file, and for a content that is not known. */
function textOf(content: Content | null): string | null {
  if (content === null) return "";
  if ("unknown" in content || content.bytes.length > textBytesMax) return null;
  return decodeText(content.bytes)?.text ?? null;
}

const namedMax = 10;

/** The changes in one short line for the model; empty if there are none. */
export function changesText(changes: readonly FileChange[]): string {
  const parts = (["created", "modified", "deleted"] as const).flatMap((kind) => {
    const names = changes.filter((change) => change.kind === kind).map(nameOf);
    if (names.length === 0) return [];
    const more = names.length > namedMax ? ` and ${names.length - namedMax} more` : "";
    return [`${kind}: ${names.slice(0, namedMax).join(", ")}${more}`];
  });
  return parts.join("; ");
}

function nameOf({ path, diff }: FileChange): string {
  const counts = path.endsWith("/") ? /\[counted, not listed: (.*)\]/.exec(diff)?.[1] : undefined;
  return counts === undefined ? path : `${path} (${counts})`;
}

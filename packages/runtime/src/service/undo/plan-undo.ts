import type { FileRestoration, FileVersion, PathState, UndoFile, UndoneFile } from "@troupe/core/internal";
import type { RecordedChange } from "./recorded-changes.ts";

/** The plan of an undo for one file. `restoration` is null unless the file has to change. */
export interface PlannedUndo extends Pick<UndoFile, "path" | "action" | "reason"> {
  now: PathState;
  restoration: FileRestoration | null;
  /** Folders that the undone changes made. They are removed if they are empty. */
  folders: string[];
}

export interface UndoInputs {
  /** The changes to undo, oldest first. */
  changes: readonly RecordedChange[];
  /** Current states of all paths of the changes. */
  states: ReadonlyMap<string, PathState>;
  /** The files of earlier undos of the session. */
  earlier: readonly UndoneFile[];
  /** Names the writer of a version of a path, if a run of the session wrote it. */
  writerOf(path: string, version: FileVersion): string | null;
}

/** Plans an undo: one entry for each changed file, in the order of the paths. */
export function planUndo(inputs: UndoInputs): PlannedUndo[] {
  const byPath = Map.groupBy(inputs.changes, ({ path }) => path);
  const created = new Set([...byPath].filter(([, chain]) => chain[0]?.change?.before === null).map(([path]) => path));
  return [...byPath]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, chain]) => planFile(path, chain, { ...inputs, created }));
}

interface FileInputs extends UndoInputs {
  /** Paths that the undo deletes, so that they no longer block other paths. */
  created: ReadonlySet<string>;
}

function planFile(path: string, chain: readonly RecordedChange[], inputs: FileInputs): PlannedUndo {
  const now = inputs.states.get(path) as PathState;
  const folders = chain.flatMap(({ change }) => foldersMade(path, change?.foldersMade ?? 0));
  const planned = (action: UndoFile["action"], reason: string | null = null): PlannedUndo => ({
    ...{ path, action, reason, now, restoration: null, folders },
  });
  const known = chain.flatMap(({ change }) => change ?? []);
  const [oldest] = known;
  const newest = known.at(-1);
  const unlisted = unlistedReason(path, chain);
  if (unlisted !== null) return planned("unkept", unlisted);
  if (now.refusal !== null) return planned("conflict", now.refusal);
  if (!oldest || !newest) return planned("unkept", earlierVersionText);

  const type = oldest.typeBefore ?? "file";
  const isSameType = now.type === null || now.type === type;
  const isBlocked = now.blockedBy !== null && !isFreed(now.blockedBy, inputs.created);
  if (now.version === oldest.before && isSameType && !isBlocked && !changesType(known)) return planned("none");
  const conflict = conflictOf(path, chain, { ...inputs, now, isBlocked });
  if (conflict !== null) return planned("conflict", conflict);
  if (now.version === oldest.before && isSameType && !isBlocked) return planned("none");

  const base = { path, expected: now.version, version: oldest.before, type, mode: oldest.modeBefore ?? null } as const;
  if (oldest.before === null) return { ...planned("delete"), restoration: base };
  // Only the permission bits or the kind of entry differ: a file needs no content for that.
  const isModeOnly = now.version === oldest.before && type !== "link" && now.type !== "link";
  if (oldest.beforeRef === undefined && !isModeOnly) return planned("unkept", unkeptReason(oldest.unkept));
  return {
    ...planned("restore"),
    restoration: oldest.beforeRef === undefined ? base : { ...base, ref: oldest.beforeRef },
  };
}

/** The version of a content that a scan after a command could not read. */
const unknownVersion = "";

/** Whether a change left the content as it was, so that only its type tells whether it is undone. */
function changesType(known: readonly { before: FileVersion; after: FileVersion }[]): boolean {
  return known.some(({ before, after }) => before === after);
}

/** A path that is in the way of another is free once the undo has deleted it. */
function isFreed(blockedBy: string, created: ReadonlySet<string>): boolean {
  return created.has(blockedBy) || [...created].some((path) => path.startsWith(`${blockedBy}/`));
}

function conflictOf(
  path: string,
  chain: readonly RecordedChange[],
  { now, isBlocked, earlier, writerOf }: FileInputs & { now: PathState; isBlocked: boolean },
): string | null {
  if (isBlocked)
    return now.blockedBy === path ? "there is a folder with its name now" : `${now.blockedBy} is not a folder now`;
  const undone = earlier.filter((file) => file.path === path);
  const gap = chain.findIndex(({ change }, i) => {
    const last = chain[i - 1]?.change;
    if (!last || !change || last.after === change.before) return false;
    return !undone.some(({ before, after }) => before === last.after && after === change.before);
  });
  const between = chain[gap];
  if (between?.change) {
    const writer = writerOf(path, between.change.before) ?? "another writer";
    return `${writer} changed it between the changes of the run, before step ${between.step} of ${between.agent}`;
  }
  const newest = chain.at(-1)?.change?.after ?? null;
  if (now.version === newest) return null;
  if (newest === unknownVersion) return "its content after the change is not known, so it may have been changed since";
  // An earlier undo of later steps left one of the older versions.
  const isOwn = chain.some(({ change }) => change?.before === now.version || change?.after === now.version);
  if (isOwn && undone.some(({ after }) => after === now.version)) return null;
  const writer = writerOf(path, now.version) ?? "a person or another program";
  return `${writer} ${now.version === null ? "deleted" : newest === null ? "created" : "changed"} it since`;
}

export const earlierVersionText = "the content before was not kept: this session was recorded by an earlier version";

function unkeptReason(unkept: string | undefined): string {
  return unkept === undefined ? earlierVersionText : `the content before was not kept: ${unkept}`;
}

/** Why the changes of a path are not known well enough; null if they are. */
function unlistedReason(path: string, chain: readonly RecordedChange[]): string | null {
  const named = chain.find(({ change }) => change === null);
  if (named) return `${earlierVersionText}, or ${named.tool} records only the names of its files`;
  const known = chain.flatMap(({ change }) => change ?? []);
  const unknown = known.find((change) => path.endsWith("/") || change.before === unknownVersion);
  return unknown ? unkeptReason(unknown.unkept ?? "its files are counted, not listed") : null;
}

/** The folders above a file, from the innermost. */
export function foldersMade(path: string, count: number): string[] {
  const names = path.split("/");
  return Array.from({ length: Math.min(count, names.length - 1) }, (_, i) => names.slice(0, -1 - i).join("/"));
}

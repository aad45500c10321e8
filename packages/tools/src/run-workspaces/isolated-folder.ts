import type { Blobs } from "@troupe/core";
import type {
  CollectedFiles,
  FolderCall,
  FolderChanges,
  FolderFile,
  FolderFiles,
  RunFolder,
} from "@troupe/core/internal";
import { changesBetween, getList, internalPath, isSameList, putList } from "./file-list.ts";
import { rebuildFolder, workspaceLost } from "./rebuild-folder.ts";
import { createFolderScan, type FolderBounds, folderBounds } from "./scan-folder.ts";

export interface IsolatedFolderOptions {
  path: string;
  blobs: Blobs;
  /** Hash of the list of files that the run started with; null if it started without files. */
  begunWith: string | null;
  /** Hash of the newest list in the run's journal; null if it has none. */
  journaled: string | null;
  bounds?: FolderBounds;
}

/** Restores a run's own folder to the newest list in its journal. Throws a `RunFailure` if that is impossible. */
export async function openIsolated(options: IsolatedFolderOptions): Promise<RunFolder> {
  const { path, blobs, bounds = folderBounds } = options;
  const ref = options.journaled ?? options.begunWith;
  const list = await getList(blobs, ref);
  if (list === null)
    throw workspaceLost(`the list of its files ${ref?.slice(0, 12)}`, "is not in the store, or is damaged");
  await rebuildFolder(path, list, blobs);
  return createIsolatedFolder({ path, blobs, list, bounds });
}

interface KnownFolderOptions {
  path: string;
  blobs: Blobs;
  list: FolderFiles;
  bounds: FolderBounds;
}

/**
 * Saves the folder to the blob store after each call that may have changed it. Saves run one after the other, so each
 * change is reported once, and the journal has the lists in order.
 */
function createIsolatedFolder({ path, blobs, list, bounds }: KnownFolderOptions): RunFolder {
  const scan = createFolderScan(path, blobs, bounds);
  const announced = new Map<string, readonly string[]>();
  let known = list;
  let turn: Promise<unknown> = Promise.resolve();

  const saveNow = async (): Promise<FolderChanges | null> => {
    const now = await scan.list({ keeps: true });
    if (isSameList(known, now)) return null;
    const without = new Set([...announced.values()].flat());
    const changes = await changesBetween(known, now, { blobs, without });
    const folderRef = await putList(blobs, now);
    const note = noteFor(unsavedFiles(now), unsavedFiles(known), now.unlisted > known.unlisted ? now.unlisted : 0);
    known = now;
    return { folderRef, changes, note };
  };

  return {
    path,
    async callStarted({ key, planned }: FolderCall) {
      const paths = planned.map(({ path: changed }) => changed);
      announced.set(key, paths);
      return "";
    },
    callEnded({ key }) {
      // The call's own outcome reports the changes that it announced.
      const saved = turn.then(saveNow, saveNow).finally(() => announced.delete(key));
      turn = saved.catch(() => {});
      return saved;
    },
    callDropped: ({ key }) => void announced.delete(key),
    // The folder was rebuilt as it was before the call: only completed calls have changed it.
    callInDoubt: async () => null,
    describeUnkept: async () => "",
  };
}

function unsavedFiles({ files }: FolderFiles): FolderFile[] {
  return files.filter(({ unkept }) => unkept !== undefined);
}

const namedMax = 5;

/** A note about new files that only this machine has. */
function noteFor(now: readonly FolderFile[], before: readonly FolderFile[], unlisted: number): string {
  const known = new Set(before.map(({ path }) => path));
  const added = now.filter(({ path }) => !known.has(path));
  if (added.length === 0 && unlisted === 0) return "";
  const named = added.slice(0, namedMax).map(({ path, unkept }) => `${path} (${unkept})`);
  if (added.length > namedMax) named.push(`${added.length - namedMax} more`);
  if (unlisted > 0) named.push(`${unlisted} files beyond the number that can be kept`);
  return `[not kept for other machines: ${named.join(", ")}. If this one is lost, so is this task]`;
}

const artifactsMax = 100;

/** Collects the files that the run made, as artifacts. */
export async function collectIsolated(
  options: Pick<IsolatedFolderOptions, "blobs" | "begunWith" | "journaled">,
): Promise<CollectedFiles> {
  const { blobs, begunWith, journaled } = options;
  const [before, after] = await Promise.all([getList(blobs, begunWith), getList(blobs, journaled ?? begunWith)]);
  if (journaled === null || after === null) return { artifacts: [], warnings: [] };
  const had = new Map(before?.files.map(({ path, version }) => [path, version]));
  const own = after.files.filter(
    ({ path, version, link }) => !link && !internalPath.test(path) && had.get(path) !== version,
  );
  const artifacts = own
    .filter(({ unkept }) => unkept === undefined)
    .map(({ path, version }) => ({ name: path, ref: version }));
  const unkept = own.filter((file) => file.unkept !== undefined).map((file) => `${file.path} (${file.unkept})`);
  const warnings = [
    ...(artifacts.length > artifactsMax
      ? [`${artifacts.length} files were made: the first ${artifactsMax} are named`]
      : []),
    ...(unkept.length > 0 ? [`not kept of its folder: ${unkept.slice(0, namedMax).join(", ")}`] : []),
    ...(after.unlisted > 0 ? [`${after.unlisted} files of its folder were too many to be kept`] : []),
  ];
  return { artifacts: artifacts.slice(0, artifactsMax), warnings };
}

import type { HeldFolder } from "../workspace/held-folder.ts";
import { openGitObjects } from "./git-objects.ts";
import type { CurrentContents } from "./keep-current.ts";
import type { ChangeListOptions, Content } from "./list-changes.ts";
import { readEntry, type SavedContents } from "./saved-contents.ts";
import { partsOf } from "./stamp.ts";

export interface ContentsOptions {
  root: HeldFolder;
  workspace: string;
  saved: Pick<SavedContents, "read">;
  current: Pick<CurrentContents, "objectOf" | "reasonOf">;
  /** Size of the largest file that is read. */
  bytesMax: number;
}

type Contents = Pick<ChangeListOptions, "contentBefore" | "contentAfter"> & AsyncDisposable;

/** Opens the contents of a workspace's files before and after a call: copies, objects of git, and the files themselves. */
export function openContents({ root, workspace, saved, current, bytesMax }: ContentsOptions): Contents {
  const objects = openGitObjects(workspace);
  return {
    async contentBefore(path, stamp): Promise<Content> {
      const copy = saved.read(path, stamp);
      if (copy) return { bytes: copy };
      const object = current.objectOf(path, stamp);
      const { size } = partsOf(stamp);
      if (object === null) return { unknown: current.reasonOf(path, stamp) };
      if (size > bytesMax) return { unknown: `its ${size} bytes are over the ${bytesMax} of one file` };
      const bytes = await objects.read(object, size);
      return bytes ? { bytes } : { unknown: "git no longer has its content, or stores it in another form" };
    },
    contentAfter(path, stamp) {
      const bytes = readEntry({ root, workspace }, path, stamp, bytesMax);
      return bytes ? { bytes } : { unknown: "it is too large, or changed again" };
    },
    [Symbol.asyncDispose]: () => objects[Symbol.asyncDispose](),
  };
}

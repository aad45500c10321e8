import { rmdir } from "node:fs/promises";
import type { Blobs, FileRestorer } from "@troupe/core";
import { NotRestoredError } from "@troupe/core/internal";
import { hasSecretText, saveContent } from "../files/content-before.ts";
import { readHeldFile } from "../workspace/file-version.ts";
import { rootsOf } from "../workspace/workspace-path.ts";
import { inspectPath } from "./inspect-path.ts";
import { restoreFile } from "./restore-file.ts";
import { openWay } from "./restore-path.ts";

/** Size limit of a current content that is kept, so that the undo can be undone. */
const savedBytesMax = 32 * 1024 * 1024;

/**
 * Restores files of workspaces on this machine, under the same locks as the file tools.
 *
 * @example
 * const restorer = createFileRestorer({ blobs });
 * await restorer.restore("/project", { path: "a.txt", expected, version, ref: version, type: "file", mode: null });
 */
export function createFileRestorer({ blobs }: { blobs: Blobs }): FileRestorer {
  return {
    async inspect(workspace, paths) {
      await rootOf(workspace);
      const states = [];
      for (const path of paths) states.push(await inspectPath(workspace, path));
      return states;
    },
    async keep(workspace, path, version) {
      await using way = await openWay(workspace, path);
      if (way.parent === null) return { unkept: "it was removed meanwhile" };
      const found = await way.parent.lookUp(way.name);
      if (found.kind === "folder") await found.folder[Symbol.asyncDispose]();
      if (found.kind === "link") {
        return (await blobs.put(Buffer.from(found.target))) === version
          ? { beforeRef: version }
          : { unkept: hasSecretText };
      }
      if (found.kind !== "file") return { unkept: "it was removed meanwhile" };
      await using file = found.file;
      const content = await readHeldFile(file, savedBytesMax);
      if (content === null) return { unkept: `its ${file.stats.size} bytes are over the ${savedBytesMax} of one file` };
      if (content.version !== version) return { unkept: "it was changed meanwhile" };
      return await saveContent(blobs, content);
    },
    restore: (workspace, file) => restoreFile(workspace, file, blobs),
    async removeEmptyFolders(workspace, folders) {
      const innermostFirst = [...new Set(folders)].sort((a, b) => depthOf(b) - depthOf(a));
      for (const folder of innermostFirst) {
        await using way = await openWay(workspace, folder);
        // A folder that is not empty, or a link, stays.
        if (way.parent !== null) await rmdir(way.parent.at(way.name)).catch(() => {});
      }
    },
  };
}

async function rootOf(workspace: string): Promise<string> {
  try {
    return (await rootsOf(workspace))[1];
  } catch {
    throw new NotRestoredError(`the folder ${workspace} does not exist on this machine`);
  }
}

function depthOf(path: string): number {
  return path.split("/").length;
}

import { createHash } from "node:crypto";
import { NotRestoredError, type PathState } from "@troupe/core/internal";
import { modeFields } from "../files/content-before.ts";
import { versionOf } from "../workspace/file-version.ts";
import type { FoundEntry, HeldFile } from "../workspace/open-folder.ts";
import { openWay } from "./restore-path.ts";

const nothing = { version: null, type: null, mode: null, missingFolders: 0, blockedBy: null, refusal: null } as const;

/** The current state of a path. */
export async function inspectPath(workspace: string, path: string): Promise<PathState> {
  try {
    await using way = await openWay(workspace, path);
    const { parent, missing, blockedBy, name } = way;
    if (parent === null) return { path, ...nothing, missingFolders: missing.length, blockedBy };
    const state = await stateOf(await parent.lookUp(name));
    if ("refusal" in state) return { path, ...nothing, ...state };
    const { isFolder, ...rest } = state;
    return { path, ...nothing, ...rest, blockedBy: isFolder ? path : null };
  } catch (error) {
    if (error instanceof NotRestoredError) return { path, ...nothing, refusal: error.message };
    throw error;
  }
}

/** The state of an entry, which it disposes of. */
export async function stateOf(
  found: FoundEntry,
): Promise<(Pick<PathState, "version" | "type" | "mode"> & { isFolder: boolean }) | { refusal: string }> {
  switch (found.kind) {
    case "missing":
      return { version: null, type: null, mode: null, isFolder: false };
    case "folder":
      await found.folder[Symbol.asyncDispose]();
      return { version: null, type: null, mode: null, isFolder: true };
    case "link":
      return { version: versionOf(Buffer.from(found.target)), type: "link", mode: null, isFolder: false };
    case "special":
      return { refusal: `it is ${found.what} now` };
    case "file": {
      await using file = found.file;
      const { typeBefore = "file", modeBefore = null } = modeFields(file.stats.mode);
      return { version: await hashFile(file), type: typeBefore, mode: modeBefore, isFolder: false };
    }
  }
}

/** The version of a file of any size. */
export async function hashFile(file: HeldFile): Promise<string> {
  await using handle = await file.open();
  const hash = createHash("sha256");
  for await (const chunk of handle.createReadStream({ autoClose: false, start: 0 })) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

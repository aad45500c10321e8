import { join } from "node:path";
import { NotRestoredError } from "@troupe/core/internal";
import { isHidden } from "../workspace/hidden-folders.ts";
import { type OpenFolder, openRoot } from "../workspace/open-folder.ts";
import { rootsOf } from "../workspace/workspace-path.ts";

/** The way to a path of a workspace, through folders that stay open. Links are not followed. */
export interface PathWay extends AsyncDisposable {
  /** The innermost folder that exists; the file's folder if `missing` is empty. */
  innermost: OpenFolder;
  /** The file's folder; null if it does not exist. */
  parent: OpenFolder | null;
  name: string;
  /** Names of the missing folders, the outermost first. */
  missing: string[];
  /** The path of a file or link that is in place of a folder on the way; null for none. */
  blockedBy: string | null;
}

/** Opens the folders of a path that a journal names. Throws `NotRestoredError` for a path that no undo may touch. */
export async function openWay(workspace: string, path: string): Promise<PathWay> {
  const names = path.split("/");
  const refusal = await refusalOf(workspace, path, names);
  if (refusal !== null) throw new NotRestoredError(refusal);
  const open: OpenFolder[] = [await openRoot(workspace)];
  const close = async (): Promise<void> => {
    for (const folder of open) await folder[Symbol.asyncDispose]();
  };
  try {
    const folders = names.slice(0, -1);
    let blockedBy: string | null = null;
    for (const name of folders) {
      const here = open.at(-1) as OpenFolder;
      const found = await here.lookUp(name);
      if (found.kind === "folder") {
        open.push(found.folder);
        continue;
      }
      if (found.kind === "file") await found.file[Symbol.asyncDispose]();
      if (found.kind !== "missing") blockedBy = names.slice(0, open.length).join("/");
      break;
    }
    const innermost = open.at(-1) as OpenFolder;
    const missing = folders.slice(open.length - 1);
    const parent = missing.length === 0 ? innermost : null;
    return { innermost, parent, name: names.at(-1) ?? "", missing, blockedBy, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The path comes from a journal, so a path that leads out is a defect or an attack. */
async function refusalOf(workspace: string, path: string, names: readonly string[]): Promise<string | null> {
  if (names.some((name) => name === "" || name === "." || name === "..") || path.includes("\0")) {
    return "its path leads out of the workspace";
  }
  const root = (await rootsOf(workspace))[1];
  return isHidden(root, join(root, path)) ? "it is in troupe's own folder" : null;
}

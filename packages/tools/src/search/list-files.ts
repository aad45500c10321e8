import type { Ripgrep, RipgrepSearch } from "./ripgrep.ts";
import { parsePaths } from "./ripgrep-output.ts";

export interface FileList {
  /** Relative to the workspace, in no order. */
  paths: string[];
  /** Whether there are more than were listed. */
  isCut: boolean;
  unreadable: string[];
}

/** Some 200,000 paths. */
const listBytesMax = 16 * 1024 * 1024;

/** The files in a part of the workspace that are not ignored, or all of them. */
export async function listFiles(
  ripgrep: Ripgrep,
  { root, ignored, ...search }: Omit<RipgrepSearch, "captureBytesMax"> & { root: string; ignored: boolean },
): Promise<FileList> {
  const args = ["--files", ...(ignored ? ["--no-ignore"] : []), "--", root];
  const { stdout, isCut, unreadable } = await ripgrep.run(args, { ...search, captureBytesMax: listBytesMax });
  return { paths: parsePaths(stdout), isCut, unreadable };
}

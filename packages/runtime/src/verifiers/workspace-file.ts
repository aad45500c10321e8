import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import path from "node:path";

const bytesMax = 32 * 1024 * 1024;

/**
 * Reads a file of a workspace as text. Throws an error that names the file if it is missing, is not a plain file, is too
 * large, or if a link in its path leads out of the workspace.
 */
export async function readWorkspaceText(workspace: string, file: string): Promise<string> {
  const root = await realpath(workspace);
  const real = await realpath(path.resolve(root, file)).catch(() => null);
  if (real === null) throw new Error(`the file ${file} is missing`);
  if (!isWithin(root, real)) throw new Error(`the file ${file} is outside of the workspace`);
  // Without O_NONBLOCK, opening a named pipe would wait for a writer.
  await using handle = await open(real, constants.O_RDONLY | constants.O_NONBLOCK);
  const stats = await handle.stat();
  if (!stats.isFile()) throw new Error(`${file} is not a file`);
  if (stats.size > bytesMax) throw new Error(`the file ${file} is larger than ${bytesMax} bytes`);
  return handle.readFile("utf8");
}

/** Whether a path exists in the workspace. A path outside of it counts as missing. */
export async function existsInWorkspace(workspace: string, file: string): Promise<boolean> {
  const root = await realpath(workspace).catch(() => workspace);
  const real = await realpath(path.resolve(root, file)).catch(() => null);
  return real !== null && isWithin(root, real);
}

function isWithin(root: string, file: string): boolean {
  const way = path.relative(root, file);
  return way !== ".." && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
}

import { realpath } from "node:fs/promises";
import { isWithin } from "./workspace-path.ts";

/** By their real paths, with how often each was hidden. */
const hidden = new Map<string, number>();

/**
 * Keeps a folder of this process's own, with its keys and rules, from the file tools of every workspace that it is in.
 * It is one place for the process, so that no tool can be made that does not know of it.
 *
 * @returns what undoes it
 * @example
 * const show = await hideFolder("/home/ada/.local/share/troupe");
 */
export async function hideFolder(path: string): Promise<() => void> {
  const real = await realpath(path);
  hidden.set(real, (hidden.get(real) ?? 0) + 1);
  return () => {
    const left = (hidden.get(real) ?? 1) - 1;
    if (left > 0) hidden.set(real, left);
    else hidden.delete(real);
  };
}

/** Whether a place of a workspace is in a hidden folder. A workspace that is in one itself is seen. */
export function isHidden(root: string, place: string): boolean {
  for (const folder of hidden.keys()) if (isWithin(folder, place) && !isWithin(folder, root)) return true;
  return false;
}

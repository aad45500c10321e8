import { realpath } from "node:fs/promises";
import { relative } from "node:path";
import { isWithin } from "./workspace-path.ts";

/** Real path of each hidden folder, with the number of callers that hide it. */
const hidden = new Map<string, number>();

/**
 * Hides a folder of this process, with its keys and rules, from the file tools of every workspace that contains it. The
 * list is global to the process, so that every file tool obeys it.
 *
 * @returns a function that shows the folder again
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

/** The hidden folders in a workspace, relative to it. */
export function hiddenBelow(root: string): string[] {
  return [...hidden.keys()]
    .filter((folder) => isWithin(root, folder) && folder !== root)
    .map((folder) => relative(root, folder));
}

/**
 * Whether a path of a workspace is in a hidden folder. A workspace that lies in a hidden folder itself stays visible.
 */
export function isHidden(root: string, path: string): boolean {
  for (const folder of hidden.keys()) if (isWithin(folder, path) && !isWithin(folder, root)) return true;
  return false;
}

import { relative, sep } from "node:path";

/** Whether an absolute path is a folder, or in it. */
export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`);
}

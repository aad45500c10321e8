import { constants } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { basename, delimiter, join } from "node:path";

/** Where those programs are that make sandboxes; the empty text for one that is not there. */
export type Programs = Readonly<Record<(typeof names)[number], string>>;

const names = [
  "bwrap",
  "unshare",
  "setpriv",
  "mount",
  "umount",
  "pivot_root",
  "prlimit",
  "ip",
  "perl",
  "sandbox-exec",
] as const;

/** Looks for them on a path. */
export async function findPrograms(path: string): Promise<Programs> {
  const found = await Promise.all(names.map(async (name) => [name, await findProgram(name, path)]));
  return Object.fromEntries(found);
}

/** A folder of programs may have a `sbin` beside it, which is not on everybody's path. */
export async function findProgram(name: string, path: string): Promise<string> {
  const folders = path.split(delimiter).filter((part) => part.startsWith("/"));
  for (const folder of folders.flatMap((part) => [part, part.replace(/\/bin\/?$/, "/sbin")])) {
    const file = join(folder, name);
    if (!(await runs(file))) continue;
    // Its own place, which commands see; but a program of many names goes by the one that it is called by.
    const real = await realpath(file);
    return basename(real) === name ? real : file;
  }
  return "";
}

async function runs(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

import { constants, existsSync } from "node:fs";
import { access, realpath, stat } from "node:fs/promises";
import { basename, delimiter, join } from "node:path";

/** Paths of the programs that build sandboxes; empty for a program that this machine does not have. */
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
  "python3",
  "sandbox-exec",
] as const;

/** Finds all programs of a sandbox on a search path. */
export async function findPrograms(path: string): Promise<Programs> {
  const found = await Promise.all(names.map(async (name) => [name, await findProgram(name, path)]));
  return Object.fromEntries(found);
}

/** Also searches the `sbin` folder beside each `bin` folder: many users do not have it on their path. */
export async function findProgram(name: string, path: string): Promise<string> {
  const folders = path.split(delimiter).filter((part) => part.startsWith("/"));
  for (const folder of folders.flatMap((part) => [part, part.replace(/\/bin\/?$/, "/sbin")])) {
    const file = join(folder, name);
    if (!(await isExecutable(file))) continue;
    // The real path, which commands can see. A multi-call program keeps the link's name, which selects its function.
    const real = await realpath(file);
    return basename(real) === name ? real : file;
  }
  return "";
}

async function isExecutable(file: string): Promise<boolean> {
  // Most folders have none of these programs, and a failed `access` creates an error.
  if (!existsSync(file)) return false;
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}

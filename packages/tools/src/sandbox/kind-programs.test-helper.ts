import { existsSync } from "node:fs";
import { copyFile, mkdir, symlink } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import type { SandboxKind } from "./sandbox.ts";

export type LinuxKind = Exclude<SandboxKind, "seatbelt" | "none">;

/** Read before a test changes HOME. */
const homeOfCache = homedir();

/** The programs that each kind needs. With only these on the path, it is the best available kind. */
export const programsOf: Record<LinuxKind, readonly string[]> = {
  bubblewrap: ["bwrap", "unshare", "setpriv", "mount", "umount", "pivot_root", "prlimit", "perl"],
  namespaces: ["unshare", "setpriv", "mount", "umount", "pivot_root", "prlimit", "perl"],
  "process-group": ["prlimit"],
};

/**
 * A folder with exactly the programs of a kind.
 *
 * @param options.copiesBwrap copies bubblewrap instead of linking it, for a user who may not enter the cache of another
 * @param options.without programs of the kind to leave out
 * @param options.also further programs
 */
export async function pathWith(
  folder: string,
  kind: LinuxKind,
  options: { copiesBwrap?: boolean; without?: readonly string[]; also?: readonly string[] } = {},
): Promise<string> {
  const { copiesBwrap = false, without = [], also = [] } = options;
  await mkdir(folder, { recursive: true });
  for (const name of [...programsOf[kind], ...also]) {
    if (without.includes(name)) continue;
    const found = name === "bwrap" ? findBwrap() : findIn(["/usr/bin", "/usr/sbin", "/bin", "/sbin"], name);
    const path = join(folder, name);
    if (!found || existsSync(path)) continue;
    await (copiesBwrap && name === "bwrap" ? copyFile(found, path) : symlink(found, path));
  }
  return folder;
}

/** The bwrap that the scripts found or fetched, or else the machine's. */
export function findBwrap(): string | null {
  const fetched = join(process.env.XDG_CACHE_HOME ?? join(homeOfCache, ".cache"), "troupe-dev", "bubblewrap");
  const named = process.env.TROUPE_TEST_BWRAP;
  return named || findIn([...(process.env.PATH ?? "").split(delimiter), fetched], "bwrap");
}

function findIn(folders: readonly string[], name: string): string | null {
  return folders.map((folder) => join(folder, name)).find((file) => existsSync(file)) ?? null;
}

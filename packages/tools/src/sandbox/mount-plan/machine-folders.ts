import type { Stats } from "node:fs";
import { lstat, readdir, readlink, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { secretPlaces } from "../../workspace/secret-places.ts";
import { isWithin } from "../../workspace/workspace-path.ts";
import type { MountStep } from "./mount-steps.ts";

/** The part of a mount plan that is the same for every command: the machine's folders, and the environment. */
export interface MachineFolders {
  steps: readonly MountStep[];
  env: Readonly<Record<string, string>>;
}

export interface MachineFoldersOptions {
  /** Search path for programs. */
  path: string;
  /** Folders that no command sees. */
  hidden: readonly string[];
  /** Files and folders that every command may read. */
  readable: readonly string[];
  network: boolean;
  /** The user's home. @default the home of this process */
  home?: string;
}

/** Mounted read-only for every command. */
const systemFolders: readonly string[] = [
  ...["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt"],
  ...["/nix", "/gnu", "/snap", "/run/current-system"],
];

/** Empty folders that each command gets for itself. Its home is in one of them. */
const scratchFolders: readonly string[] = ["/tmp", "/var/tmp", "/run", "/dev/shm"];
export const privateHome = "/run/home";

/** Plans the machine's folders: read-only system and program folders, hidden credentials, empty scratch folders. */
export async function planMachineFolders(options: MachineFoldersOptions): Promise<MachineFolders> {
  const home = options.home ?? homedir();
  const programs = await programFolders({ ...options, home });
  const steps: MountStep[] = [
    ...(await Promise.all(programs.path.map(linkSteps))).flat(),
    ...(await allFound(systemFolders.map(systemStep))),
    ...(await allFound(programs.shown.map(readStep))),
    ...(await allFound(options.readable.map(readStep))),
    ...(options.network ? await allFound([readStep("/etc/resolv.conf")]) : []),
    ...(await allFound([...options.hidden, ...secretPlaces.map(({ path }) => join(home, path))].map(hiddenStep))),
    ...(await unreadableSteps("/etc", 3)),
    ...scratchFolders.map((path): MountStep => ({ kind: "scratch", path })),
    { kind: "folder", path: privateHome },
    { kind: "processes", path: "/proc" },
    { kind: "devices", path: "/dev" },
  ];
  const rustup = join(home, ".rustup");
  return {
    steps,
    env: { PATH: programs.path.join(delimiter), ...(programs.shown.includes(rustup) ? { RUSTUP_HOME: rustup } : {}) },
  };
}

/** A link stays a link, so that `/bin` is `/usr/bin` on machines that have it so. */
async function systemStep(path: string): Promise<MountStep | null> {
  const stats = await statsOf(path);
  if (stats?.isSymbolicLink()) return { kind: "link", path, target: await readlink(path) };
  return stats?.isDirectory() ? { kind: "read", path, type: "folder" } : null;
}

/** The symbolic links on a path, so that a command finds the path by the name that it was given. */
export async function linkSteps(path: string): Promise<MountStep[]> {
  const steps: MountStep[] = [];
  const ahead = path.split("/").filter(Boolean);
  for (let at = "/"; ahead.length > 0 && steps.length < linksMax; ) {
    const next = join(at, ahead.shift() ?? "");
    const target = (await statsOf(next))?.isSymbolicLink() ? await readlink(next) : null;
    if (target === null) {
      at = next;
      continue;
    }
    steps.push({ kind: "link", path: next, target });
    at = target.startsWith("/") ? "/" : at;
    ahead.unshift(...target.split("/").filter(Boolean));
  }
  return steps;
}

/** The kernel follows fewer links than this. */
const linksMax = 40;

/** Mounts the real path, with all links followed, read-only; null for a path that does not exist. */
export async function readStep(path: string): Promise<MountStep | null> {
  const real = await realpath(path).catch(() => null);
  const stats = real === null ? null : await statsOf(real);
  if (real === null || stats === null || real === "/") return null;
  return { kind: "read", path: real, type: stats.isDirectory() ? "folder" : "file" };
}

async function hiddenStep(path: string): Promise<MountStep | null> {
  const step = await readStep(path);
  return step?.kind === "read" ? { ...step, kind: "hidden" } : null;
}

/** Hides files that are not readable by all users: a command runs as their owner and could read them. */
async function unreadableSteps(folder: string, depth: number): Promise<MountStep[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found = await Promise.all(
    entries.map(async (entry): Promise<MountStep[]> => {
      const path = join(folder, entry.name);
      if (!entry.isDirectory() && !entry.isFile()) return [];
      const stats = await statsOf(path);
      if (stats === null) return [];
      if ((stats.mode & 0o004) === 0) return [{ kind: "hidden", path, type: entry.isDirectory() ? "folder" : "file" }];
      return entry.isDirectory() && depth > 1 ? unreadableSteps(path, depth - 1) : [];
    }),
  );
  return found.flat();
}

/** The end of every command's search path. */
export const standardProgramFolders: readonly string[] = ["/usr/local/bin", "/usr/bin", "/bin"];

interface ProgramFolders {
  /** The search path of commands. */
  path: string[];
  /** Folders outside the system's that have to be mounted for it. */
  shown: string[];
}

/**
 * The program folders outside the system's folders, with the folders that their programs need. Never a home, a folder
 * that contains a home, or a folder in a hidden one.
 */
async function programFolders(options: MachineFoldersOptions & { home: string }): Promise<ProgramFolders> {
  const { path, hidden, home } = options;
  const wanted = [...new Set(path.split(delimiter).filter((folder) => folder.startsWith("/")))];
  const ownNode = dirname(process.execPath);
  const shown = new Set<string>();
  const found: string[] = [];
  for (const folder of [...wanted, ownNode]) {
    const real = await realpath(folder).catch(() => null);
    if (real === null || hidden.some((other) => isWithin(other, real))) continue;
    if (folder !== ownNode || wanted.includes(ownNode)) found.push(folder);
    if (systemFolders.some((other) => isWithin(other, real))) continue;
    for (const needed of await foldersNeededBy(real, home)) shown.add(needed);
  }
  const isSafe = (folder: string): boolean => ![home, ...hidden].some((other) => isWithin(folder, other));
  return { path: [...new Set([...found, ...standardProgramFolders])], shown: [...shown].filter(isSafe) };
}

/** Dotted folders of a home that hold more than one program and its libraries: they are not mounted whole. */
const mixedFolders: readonly string[] = [".local", ".config", ".cache", ".cargo", ".ssh", ".gnupg"];

/** The folders that programs in a folder need: libraries beside it, or the whole folder of a version manager. */
async function foldersNeededBy(folder: string, home: string): Promise<string[]> {
  const prefix = dirname(folder);
  if (basename(folder) === ".bin" && basename(prefix) === "node_modules") return [prefix];
  if (basename(prefix) === ".cargo") return [folder, join(home, ".rustup")];
  const isOfOneProgram =
    prefix.split("/").some((segment) => segment.startsWith(".")) && !mixedFolders.includes(basename(prefix));
  if (isOfOneProgram && ["bin", "sbin", "shims"].includes(basename(folder))) return [prefix];
  const beside = ["lib", "lib64", "libexec", "include"].map((name) => join(prefix, name));
  return [folder, ...(basename(folder) === "bin" ? await allFound(beside.map(existingFolder)) : [])];
}

async function existingFolder(path: string): Promise<string | null> {
  return (await stat(path).catch(() => null))?.isDirectory() ? path : null;
}

async function statsOf(path: string): Promise<Stats | null> {
  return lstat(path).catch(() => null);
}

async function allFound<T>(promises: readonly Promise<T | null>[]): Promise<T[]> {
  return (await Promise.all(promises)).filter((value) => value !== null);
}

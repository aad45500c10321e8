import type { Stats } from "node:fs";
import { lstat, readdir, readlink, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { isWithin } from "../../workspace/workspace-path.ts";
import type { ViewStep } from "./mount-plan.ts";

/** What every command finds of this machine, whatever workspace it works in. */
export interface MachineView {
  steps: readonly ViewStep[];
  env: Readonly<Record<string, string>>;
}

export interface MachineViewOptions {
  /** Where programs are looked for. */
  path: string;
  /** Folders that no command sees. */
  hidden: readonly string[];
  /** Files and folders that every command may read. */
  readable: readonly string[];
  network: boolean;
  /** The user's home. @default this process's */
  home?: string;
}

const systemFolders: readonly string[] = [
  ...["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt"],
  ...["/nix", "/gnu", "/snap", "/run/current-system"],
];

/** Empty folders of a command's own, with its home in one of them. */
const scratchFolders: readonly string[] = ["/tmp", "/var/tmp", "/run", "/dev/shm"];
export const privateHome = "/run/home";

/** What in a home holds keys: hidden also where a workspace or a readable folder has a home in it. */
const keyPlaces: readonly string[] = [
  ...[".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", ".netrc", ".git-credentials"],
  ...[".npmrc", ".pypirc", ".config/gh", ".config/gcloud", ".config/git/credentials", ".local/share/keyrings"],
  ...[".cargo/credentials", ".cargo/credentials.toml", ".bash_history", ".zsh_history", ".vault-token", ".pgpass"],
];

export async function readMachineView(options: MachineViewOptions): Promise<MachineView> {
  const home = options.home ?? homedir();
  const folders = await programFolders({ ...options, home });
  const steps: ViewStep[] = [
    ...(await Promise.all(folders.path.map(linkSteps))).flat(),
    ...(await all(systemFolders.map(systemStep))),
    ...(await all(folders.shown.map(readStep))),
    ...(await all(options.readable.map(readStep))),
    ...(options.network ? await all([readStep("/etc/resolv.conf")]) : []),
    ...(await all([...options.hidden, ...keyPlaces.map((place) => join(home, place))].map(hiddenStep))),
    ...(await unreadableOf("/etc", 3)),
    ...scratchFolders.map((path): ViewStep => ({ kind: "scratch", path })),
    { kind: "folder", path: privateHome },
    { kind: "processes", path: "/proc" },
    { kind: "devices", path: "/dev" },
  ];
  const rustup = join(home, ".rustup");
  return {
    steps,
    env: { PATH: folders.path.join(delimiter), ...(folders.shown.includes(rustup) ? { RUSTUP_HOME: rustup } : {}) },
  };
}

/** A link as the link that it is, so that `/bin` is `/usr/bin` where the machine has it so. */
async function systemStep(path: string): Promise<ViewStep | null> {
  const stats = await statsOf(path);
  if (stats?.isSymbolicLink()) return { kind: "link", path, target: await readlink(path) };
  return stats?.isDirectory() ? { kind: "read", path, type: "folder" } : null;
}

/** The links on the way to a place, as the links that they are: so that it is found by the name that it was called by. */
export async function linkSteps(path: string): Promise<ViewStep[]> {
  const steps: ViewStep[] = [];
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

/** More than the kernel follows. */
const linksMax = 40;

/** A place as it is once all links are followed; null where there is nothing. */
export async function readStep(path: string): Promise<ViewStep | null> {
  const found = await realpath(path).catch(() => null);
  const stats = found === null ? null : await statsOf(found);
  if (found === null || stats === null || found === "/") return null;
  return { kind: "read", path: found, type: stats.isDirectory() ? "folder" : "file" };
}

async function hiddenStep(path: string): Promise<ViewStep | null> {
  const step = await readStep(path);
  return step?.kind === "read" ? { ...step, kind: "hidden" } : null;
}

/** What not everybody may read: as its owner, a command could. */
async function unreadableOf(folder: string, depth: number): Promise<ViewStep[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const found = await Promise.all(
    entries.map(async (entry): Promise<ViewStep[]> => {
      const path = join(folder, entry.name);
      if (!entry.isDirectory() && !entry.isFile()) return [];
      const stats = await statsOf(path);
      if (stats === null) return [];
      if ((stats.mode & 0o004) === 0) return [{ kind: "hidden", path, type: entry.isDirectory() ? "folder" : "file" }];
      return entry.isDirectory() && depth > 1 ? unreadableOf(path, depth - 1) : [];
    }),
  );
  return found.flat();
}

/** What every command may look for its programs in, wherever those of a sandbox are looked for. */
export const standardFolders: readonly string[] = ["/usr/local/bin", "/usr/bin", "/bin"];

interface ProgramFolders {
  /** The search path of commands. */
  path: string[];
  /** What has to be shown for it. */
  shown: string[];
}

/**
 * The folders of programs that are no system folders, with what their programs need beside them. Never a home, never what
 * holds one, and nothing in a hidden folder.
 */
async function programFolders(options: MachineViewOptions & { home: string }): Promise<ProgramFolders> {
  const { path, hidden, home } = options;
  const wanted = [...new Set(path.split(delimiter).filter((folder) => folder.startsWith("/")))];
  const own = dirname(process.execPath);
  const shown = new Set<string>();
  const found: string[] = [];
  for (const folder of [...wanted, own]) {
    const real = await realpath(folder).catch(() => null);
    if (real === null || hidden.some((place) => isWithin(place, real))) continue;
    if (folder !== own || wanted.includes(own)) found.push(folder);
    if (systemFolders.some((place) => isWithin(place, real))) continue;
    for (const needed of await neededFor(real, home)) shown.add(needed);
  }
  const isSafe = (folder: string): boolean => ![home, ...hidden].some((place) => isWithin(folder, place));
  return { path: [...new Set([...found, ...standardFolders])], shown: [...shown].filter(isSafe) };
}

/** Folders of a user's that hold more than one program and its libraries. */
const mixedFolders: readonly string[] = [".local", ".config", ".cache", ".cargo", ".ssh", ".gnupg"];

async function neededFor(folder: string, home: string): Promise<string[]> {
  const prefix = dirname(folder);
  if (basename(folder) === ".bin" && basename(prefix) === "node_modules") return [prefix];
  if (basename(prefix) === ".cargo") return [folder, join(home, ".rustup")];
  const own = prefix.split("/").some((segment) => segment.startsWith(".")) && !mixedFolders.includes(basename(prefix));
  if (own && ["bin", "sbin", "shims"].includes(basename(folder))) return [prefix];
  const beside = ["lib", "lib64", "libexec", "include"].map((name) => join(prefix, name));
  return [folder, ...(basename(folder) === "bin" ? await all(beside.map(existing)) : [])];
}

async function existing(path: string): Promise<string | null> {
  return (await stat(path).catch(() => null))?.isDirectory() ? path : null;
}

async function statsOf(path: string): Promise<Stats | null> {
  return lstat(path).catch(() => null);
}

async function all<T>(promises: readonly Promise<T | null>[]): Promise<T[]> {
  return (await Promise.all(promises)).filter((value) => value !== null);
}

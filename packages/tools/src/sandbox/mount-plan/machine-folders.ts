import { homedir } from "node:os";
import { basename, delimiter, dirname, join } from "node:path";
import { secretPlaces } from "../../workspace/secret-places.ts";
import { isWithin } from "../../workspace/workspace-path.ts";
import { etcSteps } from "./etc-folder.ts";
import { createFileView, type FileView } from "./file-view.ts";
import type { MountStep } from "./mount-steps.ts";

/** The part of a mount plan that is the same for every command: the machine's folders, and the environment. */
export interface MachineFolders {
  steps: readonly MountStep[];
  env: Readonly<Record<string, string>>;
  /** Whether a new plan would be the same. */
  isCurrent(): boolean;
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
  /** @default `/etc` */
  etc?: string;
}

/** Mounted read-only for every command. */
const systemFolders: readonly string[] = [
  ...["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt"],
  ...["/nix", "/gnu", "/snap", "/run/current-system"],
];

/** Empty folders that each command gets for itself. Its home is in one of them. */
const scratchFolders: readonly string[] = ["/tmp", "/var/tmp", "/run", "/dev/shm"];
export const privateHome = "/run/home";

/** Plans the machine's folders: read-only system and program folders, hidden credentials, empty scratch folders. */
export function planMachineFolders(options: MachineFoldersOptions): MachineFolders {
  const home = options.home ?? homedir();
  const view = createFileView();
  const linksOn = (path: string): MountStep[] => linkSteps(path, view);
  const shownSteps = (paths: readonly string[]): MountStep[] => paths.flatMap((path) => readStep(path, view) ?? []);
  const programs = programFolders(view, { ...options, home });
  const secrets = secretPlaces.map(({ path }) => join(home, path));
  const steps: MountStep[] = [
    ...[...programs.path, ...options.readable].flatMap(linksOn),
    ...systemFolders.flatMap((path) => systemStep(path, view) ?? []),
    ...shownSteps(programs.shown),
    ...etcSteps(view, { ...options, folder: options.etc, shown: systemFolders, linksOn }),
    ...shownSteps(options.readable),
    ...shownSteps([...options.hidden, ...secrets]).map(hiddenStep),
    // The kernel lists keys of this user here.
    ...shownSteps(["/proc/keys"]).map(hiddenStep),
    ...scratchFolders.map((path): MountStep => ({ kind: "scratch", path })),
    { kind: "folder", path: privateHome },
    { kind: "processes", path: "/proc" },
    { kind: "devices", path: "/dev" },
  ];
  const rustup = join(home, ".rustup");
  return {
    steps,
    env: { PATH: programs.path.join(delimiter), ...(programs.shown.includes(rustup) ? { RUSTUP_HOME: rustup } : {}) },
    isCurrent: view.isCurrent,
  };
}

function hiddenStep(step: MountStep): MountStep {
  return step.kind === "read" ? { kind: "hidden", path: step.path, type: step.type } : step;
}

/** A link stays a link, so that `/bin` is `/usr/bin` on machines that have it so. */
function systemStep(path: string, view: FileView): MountStep | null {
  const stats = view.stats(path);
  if (stats?.isSymbolicLink()) return { kind: "link", path, target: view.target(path) };
  return stats?.isDirectory() ? { kind: "read", path, type: "folder" } : null;
}

/** The symbolic links on a path, so that a command finds the path by the name that it was given. */
export function linkSteps(path: string, view: FileView = createFileView()): MountStep[] {
  const steps: MountStep[] = [];
  const ahead = path.split("/").filter(Boolean);
  for (let at = "/"; ahead.length > 0 && steps.length < linksMax; ) {
    const next = join(at, ahead.shift() ?? "");
    const target = view.stats(next)?.isSymbolicLink() ? view.target(next) : "";
    if (target === "") {
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
export function readStep(
  path: string,
  view: FileView = createFileView(),
): Extract<MountStep, { kind: "read" | "write" }> | null {
  const real = view.real(path);
  const stats = real === null ? null : view.stats(real);
  if (real === null || stats === null || real === "/") return null;
  return { kind: "read", path: real, type: stats.isDirectory() ? "folder" : "file" };
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
function programFolders(view: FileView, options: MachineFoldersOptions & { home: string }): ProgramFolders {
  const { path, hidden, home } = options;
  const wanted = [...new Set(path.split(delimiter).filter((folder) => folder.startsWith("/")))];
  const ownNode = dirname(process.execPath);
  const shown = new Set<string>();
  const found: string[] = [];
  for (const folder of [...wanted, ownNode]) {
    const real = view.real(folder);
    if (real === null || hidden.some((other) => isWithin(other, real))) continue;
    if (folder !== ownNode || wanted.includes(ownNode)) found.push(folder);
    if (systemFolders.some((other) => isWithin(other, real))) continue;
    for (const needed of foldersNeededBy(view, real, home)) shown.add(needed);
  }
  const isSafe = (folder: string): boolean => ![home, ...hidden].some((other) => isWithin(folder, other));
  return { path: [...new Set([...found, ...standardProgramFolders])], shown: [...shown].filter(isSafe) };
}

/** Dotted folders of a home that hold more than one program and its libraries: they are not mounted whole. */
const mixedFolders: readonly string[] = [".local", ".config", ".cache", ".cargo", ".ssh", ".gnupg"];

/** The folders that programs in a folder need: libraries beside it, or the whole folder of a version manager. */
function foldersNeededBy(view: FileView, folder: string, home: string): string[] {
  const prefix = dirname(folder);
  if (basename(folder) === ".bin" && basename(prefix) === "node_modules") return [prefix];
  if (basename(prefix) === ".cargo") return [folder, join(home, ".rustup")];
  const isOfOneProgram =
    prefix.split("/").some((segment) => segment.startsWith(".")) && !mixedFolders.includes(basename(prefix));
  if (isOfOneProgram && ["bin", "sbin", "shims"].includes(basename(folder))) return [prefix];
  const beside = ["lib", "lib64", "libexec", "include"].map((name) => join(prefix, name));
  return [folder, ...(basename(folder) === "bin" ? beside.filter((path) => isFolder(view, path)) : [])];
}

function isFolder(view: FileView, path: string): boolean {
  const real = view.real(path);
  return real !== null && (view.stats(real)?.isDirectory() ?? false);
}

import type { Stats } from "node:fs";
import { join } from "node:path";
import { isWithin } from "../../workspace/workspace-path.ts";
import { type EtcRow, etcTable } from "./etc-table.ts";
import type { FileView } from "./file-view.ts";
import type { MountStep } from "./mount-steps.ts";

export interface EtcOptions {
  /** @default `/etc` */
  folder?: string | undefined;
  /** Whether commands use the machine's network. */
  network: boolean;
  /** Paths that the machine's owner shows to every command. */
  readable: readonly string[];
  /** Folders that every command sees anyway: entries may lead there. */
  shown: readonly string[];
  linksOn(path: string): readonly MountStep[];
  table?: readonly EtcRow[];
}

/** The visible entries of `/etc`. A private entry is absent, or hidden if it lies in a visible folder. */
export function etcSteps(view: FileView, options: EtcOptions): MountStep[] {
  const { folder = "/etc", table = etcTable, network, readable, shown, linksOn } = options;
  const root = view.real(folder);
  if (root === null) return [];
  const rows = table.filter(({ needsNetwork = false }) => network || !needsNetwork);
  const own = rows.flatMap(({ paths, alsoIn = [] }) => {
    const visible = [root, ...shown, ...alsoIn];
    return paths
      .flatMap((path) => expand(view, folder, path))
      .flatMap((path) => [...linksOn(path), ...entrySteps(view, path, visible)]);
  });
  const added = readable.filter((path) => isWithin(folder, path));
  return [...own, ...added.flatMap((path) => privateSteps(view, path, depthMax))];
}

const depthMax = 3;

/** The paths of a pattern. */
function expand(view: FileView, folder: string, pattern: string): string[] {
  const [start = "", end] = pattern.split("*");
  if (end === undefined) return [join(folder, pattern)];
  const names = view.names(folder).filter((name) => name.startsWith(start) && name.endsWith(end));
  return names.map((name) => join(folder, name));
}

function entrySteps(view: FileView, path: string, visible: readonly string[]): MountStep[] {
  const real = view.real(path);
  const stats = real === null ? null : view.stats(real);
  if (real === null || stats === null || isPrivate(stats) || !visible.some((one) => isWithin(one, real))) return [];
  if (stats.isDirectory()) return [{ kind: "read", path: real, type: "folder" }, ...privateSteps(view, real, depthMax)];
  return stats.isFile() ? [{ kind: "read", path: real, type: "file" }] : [];
}

/** Hides entries that are not readable by all users: a command runs as their owner and could read them. */
function privateSteps(view: FileView, folder: string, depth: number): MountStep[] {
  return view.ownNames(folder).flatMap((name): MountStep[] => {
    const path = join(folder, name);
    const stats = view.stats(path);
    if (stats === null) return [];
    if (isPrivate(stats)) return [{ kind: "hidden", path, type: stats.isDirectory() ? "folder" : "file" }];
    return stats.isDirectory() && depth > 1 ? privateSteps(view, path, depth - 1) : [];
  });
}

function isPrivate({ mode }: Stats): boolean {
  return (mode & 0o004) === 0;
}

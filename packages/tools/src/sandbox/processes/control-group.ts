import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import type { CommandResult } from "../sandbox.ts";
import { withNotice } from "./command-output.ts";
import { readProcess } from "./process-table.ts";

const execFileAsync = promisify(execFile);

/** Control groups (cgroups) of one command: they list its processes and cap their memory and number. */
export interface ControlGroup {
  /** A process joins the groups by writing 0 into each of these files. */
  readonly joinFiles: readonly string[];
  members(): Promise<number[]>;
  /** The caps that the command reached, as text for the end of its output; null for none. */
  reachedCaps(): Promise<string | null>;
  /** Call it after the last process has left. */
  remove(): Promise<void>;
}

export interface GroupCaps {
  memoryMb: number;
  processes: number;
}

/** The folders of this machine in which groups can be made, one for each controller. */
export interface Controllers {
  version: 1 | 2;
  memory: string | null;
  pids: string | null;
}

/**
 * Runs a command in control groups of its own, if this machine has them. A notice at the end of the output names the
 * caps that the command reached.
 */
export async function withControlGroup(
  { controllers, groupCaps }: { controllers: Controllers | null; groupCaps: GroupCaps },
  run: (group: ControlGroup | null) => Promise<CommandResult>,
): Promise<CommandResult> {
  if (controllers === null) return run(null);
  const group = await createGroup(controllers, groupCaps);
  try {
    const result = await run(group);
    const reached = await group.reachedCaps();
    return reached === null ? result : withNotice(result, `the command reached ${reached}`);
  } finally {
    await group.remove();
  }
}

/** Arguments before a command that make it join its groups before it can start a process. */
export function joinArguments(group: ControlGroup | null): string[] {
  return group === null ? [] : gateArguments(":", group);
}

/** Arguments before a command: a shell runs a line, joins the groups of the command, and becomes the command. */
export function gateArguments(line: string, group: ControlGroup | null): string[] {
  const files = group?.joinFiles ?? [];
  const join = files.map((_, i) => `echo 0 > "$${i + 1}" || exit 125; `).join("");
  return ["/bin/sh", "-c", `${line}; ${join}shift ${files.length}; exec "$@"`, "sh", ...files];
}

let groupsMade = 0;

async function createGroup(controllers: Controllers, caps: GroupCaps): Promise<ControlGroup> {
  groupsMade += 1;
  const name = `troupe-${process.pid}-${groupsMade}`;
  const { memory, pids } = controllers;
  const folders = [...new Set([memory, pids].filter((folder) => folder !== null).map((folder) => join(folder, name)))];
  const limits = limitsOf(controllers, caps).map(([at, file, value]) => ({ folder: join(at, name), file, value }));
  const make = async (folder: string): Promise<void> => {
    await mkdir(folder, { recursive: true });
    for (const { file, value } of limits.filter((limit) => limit.folder === folder)) {
      await writeFile(join(folder, file), value);
    }
  };
  await Promise.all(folders.map(make));
  return {
    joinFiles: folders.map((folder) => join(folder, "cgroup.procs")),
    async members() {
      const lists = await Promise.all(folders.map((folder) => readText(join(folder, "cgroup.procs"))));
      return lists.flatMap((text) => text.split("\n").filter(Boolean).map(Number));
    },
    async reachedCaps() {
      const [killed, refused] = await Promise.all([
        memory ? countIn(join(memory, name, eventsFile(controllers)), "oom_kill") : 0,
        pids ? countIn(join(pids, name, "pids.events"), "max") : 0,
      ]);
      const reached: string[] = [];
      if (killed > 0) reached.push(`its memory cap of ${caps.memoryMb} MB: the kernel killed some of its processes`);
      if (refused > 0) reached.push(`its cap of ${caps.processes} processes: it could start no more`);
      return reached.join("; and ") || null;
    },
    async remove() {
      await Promise.all(folders.map(removeGroup));
    },
  };
}

function eventsFile({ version }: Controllers): string {
  return version === 2 ? "memory.events" : "memory.oom_control";
}

/** Folder, file and value of each limit. */
function limitsOf({ version, memory, pids }: Controllers, caps: GroupCaps): [string, string, string][] {
  const bytes = String(caps.memoryMb * 1024 * 1024);
  const limits: [string, string, string][] = [];
  if (memory) limits.push([memory, version === 2 ? "memory.max" : "memory.limit_in_bytes", bytes]);
  if (pids) limits.push([pids, "pids.max", String(caps.processes)]);
  return limits;
}

/** Retries, because the kernel refuses to remove a group for a moment after its last process has gone. */
async function removeGroup(folder: string): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    try {
      return await rmdir(folder);
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
      await delay(5);
    }
  }
}

async function countIn(file: string, key: string): Promise<number> {
  const found = new RegExp(`^${key} (\\d+)$`, "m").exec(await readText(file));
  return Number(found?.[1] ?? 0);
}

/**
 * Finds the folders in which groups can be made, by making one; null for a machine without any. The search goes from
 * this process's own group upwards: in version 2 a group that has processes cannot pass controllers on.
 */
export async function findControllers(): Promise<Controllers | null> {
  const own = (await readText("/proc/self/cgroup")).split("\n").map((line) => line.split(":"));
  const mounts = (await readText("/proc/self/mounts")).split("\n").map((line) => line.split(" "));
  const findV1 = async (controller: string): Promise<string | null> => {
    const mount = mounts.find(([, , type, flags]) => type === "cgroup" && flags?.split(",").includes(controller))?.[1];
    const path = own.find(([, names]) => names?.split(",").includes(controller))?.[2];
    return mount && path ? firstUsable(mount, path, () => true) : null;
  };
  const v1: Controllers = { version: 1, memory: await findV1("memory"), pids: await findV1("pids") };
  if (v1.memory || v1.pids) return v1;
  const mount = mounts.find(([, , type]) => type === "cgroup2")?.[1];
  const path = own.find(([id]) => id === "0")?.[2];
  if (!mount || !path) return null;
  const passesControllersOn = async (folder: string): Promise<boolean> => {
    const passed = (await readText(join(folder, "cgroup.subtree_control"))).trim().split(" ");
    return passed.includes("memory") && passed.includes("pids");
  };
  const folder = await firstUsable(mount, path, passesControllersOn);
  return folder ? { version: 2, memory: folder, pids: folder } : null;
}

/** Folders in which this process has made a group: a process that creates many sandboxes looks once. */
const usableFolders = new Set<string>();

/** The nearest folder, from a group up to the top, in which this process can make groups and join them. */
async function firstUsable(
  mount: string,
  path: string,
  fits: (folder: string) => boolean | Promise<boolean>,
): Promise<string | null> {
  const segments = path.split("/").filter((segment) => segment !== "" && segment !== "..");
  for (let depth = segments.length; depth >= 0; depth -= 1) {
    const folder = join(mount, ...segments.slice(0, depth));
    if (!(await fits(folder)) || !(usableFolders.has(folder) || (await isUsable(folder)))) continue;
    usableFolders.add(folder);
    await removeAbandonedGroups(folder);
    return folder;
  }
  return null;
}

/** Removes the groups of killed troupe processes. The kernel refuses to remove a group that still has processes. */
async function removeAbandonedGroups(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const [, creator] = /^troupe-(\d+)-/.exec(name) ?? [];
    if (creator && (await readProcess(Number(creator))) === null) await rmdir(join(folder, name)).catch(() => {});
  }
}

async function isUsable(folder: string): Promise<boolean> {
  groupsMade += 1;
  const probe = join(folder, `troupe-${process.pid}-probe-${groupsMade}`);
  try {
    await mkdir(probe);
  } catch {
    return false;
  }
  try {
    // The right to make a group does not include the right to move processes into it: only a process that joins shows it.
    await execFileAsync("/bin/sh", ["-c", 'echo 0 > "$1"', "sh", join(probe, "cgroup.procs")]);
    return true;
  } catch {
    return false;
  } finally {
    await removeGroup(probe);
  }
}

async function readText(file: string): Promise<string> {
  return readFile(file, "utf8").catch(() => "");
}

import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { readProcess } from "./process-table.ts";

const execFileAsync = promisify(execFile);

/** A command's own control groups, which hold its processes together and its caps over them. */
export interface CommandGroup {
  /** Files into which a process writes 0 to be in them. */
  readonly joinFiles: readonly string[];
  members(): Promise<number[]>;
  /** Which cap was reached, in words for the end of the output; null where none was. */
  reached(): Promise<string | null>;
  /** When nobody is in them any more. */
  remove(): Promise<void>;
}

export interface GroupCaps {
  memoryMb: number;
  processes: number;
}

/** What of a machine's control groups can be used: folders in which groups can be made. */
export interface Controllers {
  version: 1 | 2;
  memory: string | null;
  pids: string | null;
}

let made = 0;

/** Makes the groups of one command. */
export async function createGroup(controllers: Controllers, caps: GroupCaps): Promise<CommandGroup> {
  made += 1;
  const name = `troupe-${process.pid}-${made}`;
  const { memory, pids } = controllers;
  const folders = [...new Set([memory, pids].filter((folder) => folder !== null).map((folder) => join(folder, name)))];
  for (const folder of folders) await mkdir(folder, { recursive: true });
  const limits = limitsOf(controllers, caps).map(([folder, file, value]) => [join(folder, name, file), value] as const);
  for (const [file, value] of limits) await writeFile(file, value);
  return {
    joinFiles: folders.map((folder) => join(folder, "cgroup.procs")),
    async members() {
      const lists = await Promise.all(folders.map((folder) => readText(join(folder, "cgroup.procs"))));
      return lists.flatMap((text) => text.split("\n").filter(Boolean).map(Number));
    },
    async reached() {
      const reached: string[] = [];
      if (memory && (await countIn(join(memory, name, eventsOf(controllers)), "oom_kill")) > 0) {
        reached.push(`its memory cap of ${caps.memoryMb} MB: something of it was killed`);
      }
      if (pids && (await countIn(join(pids, name, "pids.events"), "max")) > 0) {
        reached.push(`its cap of ${caps.processes} processes: it could start no more`);
      }
      return reached.join("; and ") || null;
    },
    async remove() {
      await Promise.all(folders.map(removeGroup));
    },
  };
}

function eventsOf({ version }: Controllers): string {
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

/** A group can be removed only a moment after its last process has gone. */
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
 * Where on this machine groups can be made, found out by making one; null where nowhere. From this process's own group
 * upwards, since with version 2 a group that has processes of its own can pass no controller on.
 */
export async function findControllers(): Promise<Controllers | null> {
  const own = (await readText("/proc/self/cgroup")).split("\n").map((line) => line.split(":"));
  const mounts = (await readText("/proc/self/mounts")).split("\n").map((line) => line.split(" "));
  const ofV1 = async (controller: string): Promise<string | null> => {
    const mount = mounts.find(([, , type, flags]) => type === "cgroup" && flags?.split(",").includes(controller))?.[1];
    const path = own.find(([, names]) => names?.split(",").includes(controller))?.[2];
    return mount && path ? firstUsable(mount, path, () => true) : null;
  };
  const v1: Controllers = { version: 1, memory: await ofV1("memory"), pids: await ofV1("pids") };
  if (v1.memory || v1.pids) return v1;
  const mount = mounts.find(([, , type]) => type === "cgroup2")?.[1];
  const path = own.find(([id]) => id === "0")?.[2];
  if (!mount || !path) return null;
  const passesOn = async (folder: string): Promise<boolean> => {
    const passed = (await readText(join(folder, "cgroup.subtree_control"))).trim().split(" ");
    return passed.includes("memory") && passed.includes("pids");
  };
  const folder = await firstUsable(mount, path, passesOn);
  return folder ? { version: 2, memory: folder, pids: folder } : null;
}

/** The nearest folder, from a group up to the top, in which a group can be made and lived in. */
async function firstUsable(
  mount: string,
  path: string,
  fits: (folder: string) => boolean | Promise<boolean>,
): Promise<string | null> {
  const segments = path.split("/").filter((segment) => segment !== "" && segment !== "..");
  for (let depth = segments.length; depth >= 0; depth -= 1) {
    const folder = join(mount, ...segments.slice(0, depth));
    if (!(await fits(folder)) || !(await isUsable(folder))) continue;
    await removeLeftOvers(folder);
    return folder;
  }
  return null;
}

/** What those have left who were killed. A group that somebody is in cannot be removed. */
async function removeLeftOvers(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const [, maker] = /^troupe-(\d+)-/.exec(name) ?? [];
    if (maker && (await readProcess(Number(maker))) === null) await rmdir(join(folder, name)).catch(() => {});
  }
}

async function isUsable(folder: string): Promise<boolean> {
  made += 1;
  const probe = join(folder, `troupe-${process.pid}-probe-${made}`);
  try {
    await mkdir(probe);
  } catch {
    return false;
  }
  try {
    // Who may make a group may still not move anybody into it: only a process that goes in tells.
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

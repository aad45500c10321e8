import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";

/** A process of this machine, as `/proc` shows it. */
export interface ProcessInfo {
  pid: number;
  parent: number;
  group: number;
  session: number;
  threads: number;
  /** One letter; Z and X mean that the process has ended. */
  state: string;
  /** Start time in clock ticks. Together with the pid it identifies one process, also after the pid is reused. */
  startedAt: string;
}

/** All visible processes that have not ended; empty on a machine without `/proc`. */
export async function listProcesses(): Promise<ProcessInfo[]> {
  const names = await readdir("/proc").catch(() => []);
  const found = names.filter((name) => /^\d+$/.test(name)).map((name) => processOf(Number(name)));
  return found.filter((info) => info !== null);
}

/** Null for a process that has ended, also while its parent has not waited for it (a zombie). */
export async function readProcess(pid: number): Promise<ProcessInfo | null> {
  return processOf(pid);
}

/** The variables with which a process was started, each as `NAME=value`; empty if it has ended or belongs to another user. */
export function readEnvironment(pid: number): string[] {
  return readKernelFile(`/proc/${pid}/environ`).split("\0");
}

/**
 * Text of a file that the kernel makes when it is read; empty if the file is gone. A command is watched by reading the
 * files of all processes many times a second. An asynchronous read costs ten times as much: four tasks of the thread
 * pool, and a buffer of 64 KB, because such a file states no size.
 */
function readKernelFile(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function processOf(pid: number): ProcessInfo | null {
  const text = readKernelFile(`/proc/${pid}/stat`);
  // Format: pid (name) state parent group session …. The name may contain any character, also ")".
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state = "", parent, group, session] = fields;
  if (text === "" || state === "Z" || state === "X") return null;
  return {
    pid,
    state,
    parent: Number(parent),
    group: Number(group),
    session: Number(session),
    threads: Number(fields[17]),
    startedAt: fields[19] ?? "",
  };
}

/** The given processes and all their descendants. */
export function familyOf(pids: Iterable<number>, processes: readonly ProcessInfo[]): Set<number> {
  const family = new Set(pids);
  for (let sizeBefore = 0; sizeBefore < family.size; ) {
    sizeBefore = family.size;
    for (const { pid, parent } of processes) if (family.has(parent)) family.add(pid);
  }
  return family;
}

/** True when a process received the signal. Signal 0 only tests; a negative pid means the whole process group. */
export function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** Whether a process has not ended yet, whichever user owns it. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

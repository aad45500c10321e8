import { stat } from "node:fs/promises";
import { totalmem } from "node:os";
import type { SandboxPolicy } from "@troupe/core/internal";
import { createRecent } from "../recent.ts";
import { type Controllers, findControllers, type GroupCaps } from "./control-group.ts";
import { listProcesses } from "./process-table.ts";

/** The means by which this machine enforces the memory and process caps of its policy. */
export interface ResourceLimits {
  /** Null on a machine without usable control groups. */
  controllers: Controllers | null;
  groupCaps: GroupCaps;
  /** Limits of each process, for a command with its own process namespace. */
  inNamespace: ProcessLimits;
  /** Size cap of each empty folder that a command gets. */
  scratchBytesMax: number;
  /** The caps in words, for the user. */
  detail: string;
}

/** Limits of one process; null for no limit. */
export interface ProcessLimits {
  memoryMb: number | null;
  /** The kernel counts per user: within the namespace, or on the whole machine for a plain process group. */
  processes: number | null;
  cpuSeconds: number;
  fileBytes: number;
}

const cpuSecondsMax = 3_600;
const fileBytesMax = 16 * 1024 ** 3;

/** The search makes and removes groups. A process that opens several troupes does that once a minute. */
const recentControllers = createRecent(60_000, findControllers);

/** Chooses how the caps of a policy are enforced: by control groups, or else by limits of each process. */
export async function chooseResourceLimits(
  { memoryMb, processes }: SandboxPolicy,
  fileBytes = fileBytesMax,
): Promise<ResourceLimits> {
  const controllers = process.platform === "linux" ? await recentControllers() : null;
  // The kernel does not count the processes of root.
  const isRoot = process.getuid?.() === 0;
  const inNamespace: ProcessLimits = {
    memoryMb: controllers?.memory ? null : memoryMb,
    processes: controllers?.pids || isRoot ? null : processes,
    cpuSeconds: cpuSecondsMax,
    fileBytes: Math.min(fileBytes, fileBytesMax),
  };
  const memory = controllers?.memory ? `${memoryMb} MB of memory` : `${memoryMb} MB of memory for each process`;
  const count = controllers?.pids || !isRoot ? `${processes} processes` : "any number of processes";
  return {
    controllers,
    groupCaps: { memoryMb, processes },
    inNamespace,
    scratchBytesMax: Math.min(memoryMb * 1024 ** 2, Math.floor(totalmem() / 2)),
    detail: `each may use ${memory} and ${count}`,
  };
}

/** The limits for a command without a namespace: the kernel counts its processes together with all others of the user. */
export async function limitsWithoutNamespace({ inNamespace }: ResourceLimits): Promise<ProcessLimits> {
  if (inNamespace.processes === null) return inNamespace;
  return { ...inNamespace, processes: (await countOwnThreads()) + inNamespace.processes };
}

/** The number of threads of this user, which is the number that the kernel compares with the limit. */
async function countOwnThreads(): Promise<number> {
  const all = await listProcesses();
  const counts = await Promise.all(
    all.map(async ({ pid, threads }) => {
      const owner = await stat(`/proc/${pid}`).then(
        ({ uid }) => uid,
        () => null,
      );
      return owner === process.getuid?.() ? threads : 0;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Numbers of the kernel for the limits of a process, and their values. */
export function limitValues(limits: ProcessLimits): [resource: number, value: number][] {
  const values: [number, number | null][] = [
    [4, 0], // core dumps
    [0, limits.cpuSeconds],
    [1, limits.fileBytes],
    [2, limits.memoryMb === null ? null : limits.memoryMb * 1024 * 1024],
    [6, limits.processes],
  ];
  return values.filter((row): row is [number, number] => row[1] !== null);
}

/** The `prlimit` (util-linux) arguments to put before a command; empty on a machine without `prlimit`. */
export function prlimitArguments(prlimit: string, limits: ProcessLimits): string[] {
  if (prlimit === "") return [];
  const options = ["--core=0", `--cpu=${limits.cpuSeconds}`, `--fsize=${limits.fileBytes}`];
  if (limits.memoryMb !== null) options.push(`--data=${limits.memoryMb * 1024 * 1024}`);
  if (limits.processes !== null) options.push(`--nproc=${limits.processes}`);
  return [prlimit, ...options, "--"];
}

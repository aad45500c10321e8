import { stat } from "node:fs/promises";
import { totalmem } from "node:os";
import type { SandboxPolicy } from "@troupe/core/internal";
import { type Controllers, findControllers, type GroupCaps } from "./control-group.ts";
import type { ProcessLimits } from "./limits.ts";
import { livingProcesses } from "./process-table.ts";

/** How this machine holds what commands use within their policy. */
export interface MachineCaps {
  controllers: Controllers | null;
  group: GroupCaps;
  /** Of each process, in a process namespace of its own. */
  inNamespace: ProcessLimits;
  scratchBytesMax: number;
  detail: string;
}

const cpuSecondsMax = 3_600;
const fileBytesMax = 16 * 1024 ** 3;

export async function capsOf({ memoryMb, processes }: SandboxPolicy): Promise<MachineCaps> {
  const controllers = process.platform === "linux" ? await findControllers() : null;
  // The kernel counts no processes of root's.
  const isRoot = process.getuid?.() === 0;
  const inNamespace: ProcessLimits = {
    memoryMb: controllers?.memory ? null : memoryMb,
    processes: controllers?.pids || isRoot ? null : processes,
    cpuSeconds: cpuSecondsMax,
    fileBytes: fileBytesMax,
  };
  const memory = controllers?.memory ? `${memoryMb} MB of memory` : `${memoryMb} MB of memory for each process`;
  const count = controllers?.pids || !isRoot ? `${processes} processes` : "any number of processes";
  return {
    controllers,
    group: { memoryMb, processes },
    inNamespace,
    scratchBytesMax: Math.min(memoryMb * 1024 ** 2, Math.floor(totalmem() / 2)),
    detail: `each may use ${memory} and ${count}`,
  };
}

/** The limits where a command's processes are counted with all others of the user. */
export async function limitsBeside({ inNamespace }: MachineCaps): Promise<ProcessLimits> {
  if (inNamespace.processes === null) return inNamespace;
  return { ...inNamespace, processes: (await ownThreads()) + inNamespace.processes };
}

/** How many threads this user has: that is what the kernel counts. */
async function ownThreads(): Promise<number> {
  const all = await livingProcesses();
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

import { readFile } from "node:fs/promises";

/**
 * Whether a process is there and can still do something. An orphan that has ended answers to signals until the
 * machine's first process has collected it, which in a container can take for ever: its state tells.
 */
export async function isAlive(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  if (process.platform !== "linux") return true;
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return !["", "Z", "X"].includes(stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3));
}

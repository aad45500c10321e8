import { readdir, readFile } from "node:fs/promises";

/** A process of this machine, as `/proc` shows it. */
export interface ProcessFacts {
  pid: number;
  parent: number;
  group: number;
  session: number;
  threads: number;
  /** One letter; Z and X are of those that have ended. */
  state: string;
  /** When it was started, in the machine's own measure: with the id it names one process and no later one. */
  startedAt: string;
}

/** All processes that can be seen and have not ended; empty where there is no `/proc`. */
export async function livingProcesses(): Promise<ProcessFacts[]> {
  const names = await readdir("/proc").catch(() => []);
  const found = await Promise.all(names.filter((name) => /^\d+$/.test(name)).map((name) => readProcess(Number(name))));
  return found.filter((facts) => facts !== null);
}

/** Null for one that has ended, also where nobody has asked yet how. */
export async function readProcess(pid: number): Promise<ProcessFacts | null> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // It reads: pid (name) state parent group session …, and a name may have anything in it.
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

/** Whether anybody heard it. Signal 0 only asks; a negative id means the whole group. */
export function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** Whether a process has not ended yet, whoever's it is. */
export function processLives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

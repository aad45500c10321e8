import { readdir, readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

/** Between asking a group to end and making it. */
const graceMs = 2_000;
/** How long a group that was made to end may take. */
const patienceMs = 500;
const pollMs = 20;

/** Groups that were started here and are not known to have ended. */
const open = new Set<number>();

/** From now until `endProcessGroup` is through, the group ends with this process, however hastily that leaves. */
export function keepProcessGroup(group: number): void {
  if (open.size === 0) process.on("exit", killAll);
  open.add(group);
}

function killAll(): void {
  for (const group of open) signalGroup(group, "SIGKILL");
}

function forget(group: number): void {
  open.delete(group);
  if (open.size === 0) process.off("exit", killAll);
}

/** Ends all processes of a group: asks with SIGTERM, and makes them with SIGKILL two seconds later. */
export async function endProcessGroup(group: number): Promise<void> {
  try {
    await end(group);
  } finally {
    forget(group);
  }
}

async function end(group: number): Promise<void> {
  if (!signalGroup(group, "SIGTERM")) return;
  if (await endsWithin(group, graceMs)) return;
  signalGroup(group, "SIGKILL");
  await endsWithin(group, patienceMs);
}

async function endsWithin(group: number, withinMs: number): Promise<boolean> {
  const untilMs = performance.now() + withinMs;
  while (await isAlive(group)) {
    if (performance.now() >= untilMs) return false;
    await delay(pollMs);
  }
  return true;
}

async function isAlive(group: number): Promise<boolean> {
  if (!signalGroup(group, 0)) return false;
  return process.platform === "linux" ? hasLivingMember(group) : true;
}

/**
 * Orphans that have ended hear signals until the machine's first process has collected them, which in containers can
 * take seconds, or for ever. Only their state tells.
 */
async function hasLivingMember(group: number): Promise<boolean> {
  const processes = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  if (processes.length === 0) return true;
  const states = await Promise.all(processes.map((pid) => stateIn(pid, group)));
  return states.some((state) => state !== null && state !== "Z" && state !== "X");
}

/** The state of a process, null where it is of another group. Its stat reads: pid (name) state parent group … */
async function stateIn(pid: string, group: number): Promise<string | null> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const [state = null, , itsGroup] = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return Number(itsGroup) === group ? state : null;
}

/** Whether the group has anybody left to hear it. Signal 0 only asks. */
function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-group, signal);
    return true;
  } catch {
    return false;
  }
}

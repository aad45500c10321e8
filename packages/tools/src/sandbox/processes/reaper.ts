import { setTimeout as delay } from "node:timers/promises";
import { livingProcesses, type ProcessFacts, readProcess, signalProcess } from "./process-table.ts";

/** Holds on to everything that a command starts, so that nothing of it is left. */
export interface Reaper {
  /** Asks all of it to end. */
  ask(): Promise<void>;
  /** Makes what is left of it end. Called again until it is gone. */
  kill(): Promise<void>;
  isGone(): Promise<boolean>;
  /** At once, because this process ends: there is no time to look. */
  killNow(): void;
}

/** Between asking and making. */
const graceMs = 2_000;
/** How long what was made to end may take. */
const patienceMs = 500;
const pollMsMax = 20;

/** Those that were started here and are not known to have ended. */
const open = new Set<Reaper>();

/** From now until `endAll` is through, all of a command ends with this process, however hastily that leaves. */
export function keep(keeper: Reaper): void {
  if (open.size === 0) process.on("exit", killAllNow);
  open.add(keeper);
}

function killAllNow(): void {
  for (const keeper of open) keeper.killNow();
}

/** Ends everything of a command: asks first, and makes it two seconds later. */
export async function endAll(keeper: Reaper): Promise<void> {
  try {
    if (await keeper.isGone()) return;
    await keeper.ask();
    if (await until(graceMs, () => keeper.isGone())) return;
    await until(patienceMs, async () => {
      await keeper.kill();
      return keeper.isGone();
    });
  } finally {
    open.delete(keeper);
    if (open.size === 0) process.off("exit", killAllNow);
  }
}

async function until(withinMs: number, done: () => Promise<boolean>): Promise<boolean> {
  const endMs = performance.now() + withinMs;
  for (let pollMs = 1; !(await done()); pollMs = Math.min(2 * pollMs, pollMsMax)) {
    if (performance.now() >= endMs) return false;
    await delay(pollMs);
  }
  return true;
}

/**
 * Of a command with a process namespace of its own: the kernel ends everybody in it with the first one, and the first one
 * ends with the process that we started.
 */
export function keepNamespace(pid: number, firstPid: Promise<string | null>): Reaper {
  let first: ProcessFacts | null = null;
  let known = false;
  void firstPid.then(async (found) => {
    first = found === null ? null : await readProcess(Number(found));
    known = true;
  });
  const isAlive = async (facts: ProcessFacts): Promise<boolean> => {
    const now = await readProcess(facts.pid);
    return now !== null && now.startedAt === facts.startedAt;
  };
  return {
    async ask() {
      if ((await readProcess(pid)) === null) return;
      // The ones that made the sandbox would take it along if they ended: those inside are asked, without them.
      for (const { pid: inside } of descendantsOf(pid, await livingProcesses())) signalProcess(inside, "SIGTERM");
    },
    async kill() {
      signalProcess(pid, "SIGKILL");
      if (first && (await isAlive(first))) signalProcess(first.pid, "SIGKILL");
    },
    async isGone() {
      if ((await readProcess(pid)) !== null) return false;
      return known && (first === null || !(await isAlive(first)));
    },
    killNow: () => signalProcess(pid, "SIGKILL"),
  };
}

/** Everybody who descends from a process, itself not among them. */
export function descendantsOf(pid: number, processes: readonly ProcessFacts[]): ProcessFacts[] {
  const family = new Set([pid]);
  for (let before = 0; before < family.size; ) {
    before = family.size;
    for (const { pid: child, parent } of processes) if (family.has(parent)) family.add(child);
  }
  return processes.filter((facts) => facts.pid !== pid && family.has(facts.pid));
}

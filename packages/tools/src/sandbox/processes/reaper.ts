import { setTimeout as delay } from "node:timers/promises";
import type { ControlGroup } from "./control-group.ts";
import {
  familyOf,
  listProcesses,
  type ProcessInfo,
  readEnvironment,
  readProcess,
  signalProcess,
} from "./process-table.ts";

/** Ends all processes of one command, so that the command leaves no process behind. */
export interface Reaper {
  /** Asks all processes to end (SIGTERM). */
  terminate(): Promise<void>;
  /** Forces the remaining processes to end (SIGKILL). Called again until `isGone`. */
  kill(): Promise<void>;
  isGone(): Promise<boolean>;
  /** Kills synchronously, because this process is exiting and cannot look up processes any more. */
  killNow(): void;
}

/** Time between SIGTERM and SIGKILL. */
const graceMs = 2_000;
/** Time that killed processes may take to disappear. */
const killWaitMs = 500;
/** A look at the processes costs milliseconds, so the ones that stay long are looked at less often. */
const pollMsMin = 20;
const pollShareMax = 0.1;

/** Reapers of the commands that this process runs. */
const active = new Set<Reaper>();

/** From now until `reap` returns, the command's processes are killed when this process exits. */
export function registerReaper(reaper: Reaper): void {
  if (active.size === 0) process.on("exit", killAllNow);
  active.add(reaper);
}

function killAllNow(): void {
  for (const reaper of active) reaper.killNow();
}

/** Ends all processes of a command: SIGTERM first, SIGKILL two seconds later. */
export async function reap(reaper: Reaper): Promise<void> {
  try {
    if (await reaper.isGone()) return;
    await reaper.terminate();
    if (await becomesTrue(graceMs, () => reaper.isGone())) return;
    await becomesTrue(killWaitMs, async () => {
      await reaper.kill();
      return reaper.isGone();
    });
  } finally {
    active.delete(reaper);
    if (active.size === 0) process.off("exit", killAllNow);
  }
}

async function becomesTrue(withinMs: number, check: () => Promise<boolean>): Promise<boolean> {
  const startMs = performance.now();
  for (let pollMs = 1; !(await check()); pollMs *= 2) {
    const passedMs = performance.now() - startMs;
    if (passedMs >= withinMs) return false;
    pollMs = Math.min(pollMs, Math.max(pollMsMin, pollShareMax * passedMs));
    await delay(Math.min(pollMs, withinMs - passedMs));
  }
  return true;
}

/**
 * Reaper of a command with its own process namespace. The kernel ends all processes of the namespace with its first
 * process, and the first process ends with the process that this one started.
 */
export function createNamespaceReaper(pid: number, firstPid: Promise<string | null>): Reaper {
  let first: ProcessInfo | null = null;
  let isKnown = false;
  void firstPid.then(async (found) => {
    first = found === null ? null : await readProcess(Number(found));
    isKnown = true;
  });
  const isAlive = async (known: ProcessInfo): Promise<boolean> => {
    const now = await readProcess(known.pid);
    return now !== null && now.startedAt === known.startedAt;
  };
  return {
    async terminate() {
      if ((await readProcess(pid)) === null) return;
      // Only the descendants get the signal: the process that built the sandbox would take the sandbox down with it.
      const processes = await listProcesses();
      for (const member of familyOf([pid], processes)) if (member !== pid) signalProcess(member, "SIGTERM");
    },
    async kill() {
      signalProcess(pid, "SIGKILL");
      if (first && (await isAlive(first))) signalProcess(first.pid, "SIGKILL");
    },
    async isGone() {
      if ((await readProcess(pid)) !== null) return false;
      return isKnown && (first === null || !(await isAlive(first)));
    },
    killNow: () => signalProcess(pid, "SIGKILL"),
  };
}

/** Environment variable that marks the processes of a command without a namespace. */
export const markVariable = "TROUPE_COMMAND";

const stopRoundsMax = 20;

/**
 * Reaper of a command without a process namespace. It finds processes by process group, session, descent, the mark in
 * their environment, and control group. A process that leaves all five on purpose escapes.
 */
export function createMarkReaper(pid: number, mark: string, group: ControlGroup | null): Reaper {
  const findProcesses = createProcessFinder(pid, mark, group);
  const signalAll = async (signal: NodeJS.Signals): Promise<void> => {
    signalProcess(-pid, signal);
    for (const found of await findProcesses()) signalProcess(found.pid, signal);
  };
  return {
    terminate: () => signalAll("SIGTERM"),
    async kill() {
      // A stopped process cannot fork. Stopping first also catches a fork bomb that grows faster than it is killed.
      for (let round = 0; round < stopRoundsMax; round += 1) {
        const running = (await findProcesses()).filter(({ state }) => state !== "T");
        if (running.length === 0) break;
        for (const found of running) signalProcess(found.pid, "SIGSTOP");
      }
      await signalAll("SIGKILL");
    },
    async isGone() {
      return (await findProcesses()).length === 0 && (process.platform === "linux" || !signalProcess(-pid, 0));
    },
    killNow: () => signalProcess(-pid, "SIGKILL"),
  };
}

/** Finds a command's processes. It remembers each one, also when all its signs are gone later. */
function createProcessFinder(pid: number, mark: string, group: ControlGroup | null) {
  const known = new Set<string>();
  const command = readProcess(pid);
  return async (): Promise<ProcessInfo[]> => {
    const processes = (await listProcesses()).filter((found) => found.pid !== process.pid);
    const members = new Set((await group?.members()) ?? []);
    // Older processes cannot have the mark, and a machine has hundreds of them.
    const oldest = Number((await command)?.startedAt ?? 0);
    const roots = processes.filter(
      (found) =>
        found.pid === pid ||
        found.group === pid ||
        found.session === pid ||
        members.has(found.pid) ||
        known.has(identityOf(found)) ||
        (Number(found.startedAt) >= oldest && isMarked(found, mark)),
    );
    const family = familyOf(
      roots.map((found) => found.pid),
      processes,
    );
    const found = processes.filter((info) => family.has(info.pid));
    for (const info of found) known.add(identityOf(info));
    return found;
  };
}

function identityOf({ pid, startedAt }: ProcessInfo): string {
  return `${pid} ${startedAt}`;
}

function isMarked({ pid }: ProcessInfo, mark: string): boolean {
  return readEnvironment(pid).includes(`${markVariable}=${mark}`);
}

import { readFile } from "node:fs/promises";
import type { CommandGroup } from "./control-group.ts";
import { livingProcesses, type ProcessFacts, signalProcess } from "./process-table.ts";
import type { Reaper } from "./reaper.ts";

/** The variable by which a command's processes are known, wherever they have gone. */
export const markVariable = "TROUPE_COMMAND";

/**
 * Of a command without a process namespace: whoever is in its process group or its session, descends from it, has its
 * mark in the environment, or is in its control group. Who leaves all of these on purpose gets away.
 */
export function keepMarked(pid: number, mark: string, group: CommandGroup | null): Reaper {
  const isOurs = createFilter(pid, mark, group);
  const signalAll = async (signal: NodeJS.Signals): Promise<void> => {
    signalProcess(-pid, signal);
    for (const ours of await isOurs()) signalProcess(ours.pid, signal);
  };
  return {
    ask: () => signalAll("SIGTERM"),
    async kill() {
      // Whoever is stopped starts nobody else: so that a crowd that grows faster than it is killed is caught as well.
      for (let round = 0; round < stopRoundsMax; round += 1) {
        const moving = (await isOurs()).filter(({ state }) => state !== "T");
        if (moving.length === 0) break;
        for (const ours of moving) signalProcess(ours.pid, "SIGSTOP");
      }
      await signalAll("SIGKILL");
    },
    async isGone() {
      return (await isOurs()).length === 0 && (process.platform === "linux" || !signalProcess(-pid, 0));
    },
    killNow: () => signalProcess(-pid, "SIGKILL"),
  };
}

const stopRoundsMax = 20;

/** What finds a command's processes. Whom it found once it knows, also when all signs are gone but the process itself. */
function createFilter(pid: number, mark: string, group: CommandGroup | null) {
  const known = new Set<string>();
  return async (): Promise<ProcessFacts[]> => {
    const processes = (await livingProcesses()).filter((facts) => facts.pid !== process.pid);
    const members = new Set((await group?.members()) ?? []);
    const marked = await Promise.all(processes.map((facts) => isMarked(facts, mark)));
    const family = new Set<number>();
    processes.forEach((facts, i) => {
      const near = facts.pid === pid || facts.group === pid || facts.session === pid || members.has(facts.pid);
      if (near || marked[i] || known.has(identityOf(facts))) family.add(facts.pid);
    });
    for (let before = 0; before < family.size; ) {
      before = family.size;
      for (const { pid: child, parent } of processes) if (family.has(parent)) family.add(child);
    }
    const found = processes.filter((facts) => family.has(facts.pid));
    for (const facts of found) known.add(identityOf(facts));
    return found;
  };
}

function identityOf({ pid, startedAt }: ProcessFacts): string {
  return `${pid} ${startedAt}`;
}

async function isMarked({ pid }: ProcessFacts, mark: string): Promise<boolean> {
  const environment = await readFile(`/proc/${pid}/environ`, "latin1").catch(() => "");
  return environment.split("\0").includes(`${markVariable}=${mark}`);
}

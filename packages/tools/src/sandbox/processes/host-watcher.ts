import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";

/**
 * Process groups of the commands that this process runs, for the watcher: a small shell that outlives this process, kills
 * these groups and ends. Without it, a SIGKILL of this process can leave processes behind: those of a command without a
 * namespace, and a bubblewrap that was killed right after it made its first process, which then waits for ever.
 */
const groups = new Set<number>();

let watcher: ChildProcess | null = null;

/** When this resolves, and until `unwatchGroup`, the group is killed when this process ends, also by SIGKILL. */
export async function watchGroup(group: number): Promise<void> {
  groups.add(group);
  if (watcher === null) await startWatcher();
  else await tell(watcher, [`+ ${group}`]);
}

/** Call it when all processes of the group are gone, before another process can get its number. */
export function unwatchGroup(group: number): void {
  if (groups.delete(group) && watcher) void tell(watcher, [`- ${group}`]);
}

/** Reads changes of the list until this process has ended, however it ended, because then the pipe closes. */
const script = `
trap '' HUP INT TERM
groups=
while read -r change group; do
  if [ "$change" = + ]; then groups="$groups $group"; continue; fi
  others=
  for one in $groups; do [ "$one" = "$group" ] || others="$others $one"; done
  groups=$others
done
for group in $groups; do kill -s KILL -- "-$group"; done`;

async function startWatcher(): Promise<void> {
  // A session of its own: a signal to the group of this process does not reach it.
  const started = spawn("/bin/sh", ["-c", script, "troupe-watcher"], {
    cwd: "/",
    env: {},
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  const forget = (): void => {
    if (watcher === started) watcher = null;
  };
  started.on("error", forget);
  started.on("exit", forget);
  started.stdin?.on("error", forget);
  started.unref();
  (started.stdin as Socket | null)?.unref();
  watcher = started;
  await tell(
    started,
    [...groups].map((group) => `+ ${group}`),
  );
}

/** Resolves when the lines are in the pipe. A watcher that has ended is replaced at the next command. */
function tell({ stdin }: ChildProcess, lines: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    if (!stdin?.writable) resolve();
    else stdin.write(lines.map((line) => `${line}\n`).join(""), () => resolve());
  });
}

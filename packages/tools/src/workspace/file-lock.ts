import { createHash, randomUUID } from "node:crypto";
import { open, readFile, readlink, rm, symlink } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { errorCodeOf } from "@troupe/core/internal";
import type { OpenFolder } from "./open-folder.ts";
import { failure } from "./workspace-path.ts";

/** The sole right to replace a file, among all processes that ask for it in this way. */
export interface FileLock extends AsyncDisposable {
  /** Name beside the file for what is to take its place; the same for each try, and nobody else's while this is held. */
  readonly temporary: string;
}

export interface LockOptions {
  /** The same for the same file, by whatever name it is reached. */
  key: string;
  shown: string;
  signal: AbortSignal;
  /** @default 10000 */
  waitMsMax?: number;
}

const waitMsMaxDefault = 10_000;

/**
 * Waits for its turn among the calls of this process, then for the lock file beside the file. That one is a symbolic
 * link that leads nowhere and says who holds it: such a link is made at once with what it says, so that none is ever
 * found half written, and what a killed process leaves is known by its process, and taken away.
 *
 * It is no file that waits to be renamed itself: whoever finds that one cannot know whether its writer still lives.
 */
export async function lockFile(folder: OpenFolder, name: string, options: LockOptions): Promise<FileLock> {
  const leave = await waitForTurn(options.key.toLowerCase());
  try {
    const id = createHash("sha256").update(name.toLowerCase()).digest("hex").slice(0, 24);
    const lock = folder.at(`.troupe-${id}.lock`);
    await acquireLock(lock, options);
    const temporary = `.troupe-${id}.tmp`;
    return {
      temporary,
      async [Symbol.asyncDispose]() {
        try {
          await rm(folder.at(temporary), { force: true });
        } finally {
          await rm(lock, { force: true });
          leave();
        }
      },
    };
  } catch (error) {
    leave();
    throw error;
  }
}

const turns = new Map<string, Promise<void>>();

/** Resolves with what ends the turn, once all that asked before have ended theirs. */
async function waitForTurn(key: string): Promise<() => void> {
  const before = turns.get(key);
  const { promise, resolve } = Promise.withResolvers<void>();
  const mine = (before ?? Promise.resolve()).then(() => promise);
  turns.set(key, mine);
  await before;
  return () => {
    if (turns.get(key) === mine) turns.delete(key);
    resolve();
  };
}

async function acquireLock(path: string, { shown, signal, waitMsMax = waitMsMaxDefault }: LockOptions): Promise<void> {
  const mine = await ownMark();
  let waitedMs = 0;
  for (let delayMs = 2; !(await createLockFile(path, mine)); delayMs = Math.min(delayMs * 2, 50)) {
    const held = await readMark(path);
    if (held === null) continue;
    const isOver = waitedMs >= waitMsMax;
    const fate = await ownerState(held);
    // Of a process that cannot be looked at it is known only that nobody holds a lock for so long.
    if (fate === "gone" || (isOver && fate === "unknown")) {
      await breakLock(path, held, mine);
      continue;
    }
    if (isOver) {
      throw failure(
        "tool_error",
        `${shown} was not changed: process ${pidOf(held)} has been writing it for long`,
        true,
      );
    }
    await pause(delayMs, undefined, { signal });
    waitedMs += delayMs;
  }
}

/**
 * Two that find the same stale lock must not take it away one after the other: the second would take that which the first
 * has made meanwhile. So whoever breaks one holds a lock for that, and looks again.
 */
async function breakLock(path: string, stale: string, mine: string): Promise<void> {
  const breaking = `${path}.break`;
  if (!(await createLockFile(breaking, mine))) {
    const other = await readMark(breaking);
    if (other !== null && (await ownerState(other)) !== "alive") await rm(breaking, { force: true });
    return;
  }
  try {
    if ((await readMark(path)) === stale) await rm(path, { force: true });
  } finally {
    await rm(breaking, { force: true });
  }
}

/** Says whether it was made; false where there is something already. */
async function createLockFile(path: string, mark: string): Promise<boolean> {
  try {
    await symlink(mark, path);
    return true;
  } catch (error) {
    const code = errorCodeOf(error) ?? "";
    if (code === "EEXIST") return false;
    if (!["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(code)) throw error;
    return createRegularLockFile(path, mark);
  }
}

/** For file systems that have no links. */
async function createRegularLockFile(path: string, mark: string): Promise<boolean> {
  try {
    await using file = await open(path, "wx");
    await file.writeFile(mark);
    return true;
  } catch (error) {
    if (errorCodeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** Null where it has gone. */
async function readMark(path: string): Promise<string | null> {
  try {
    return await readlink(path);
  } catch (error) {
    if (errorCodeOf(error) === "ENOENT") return null;
    if (errorCodeOf(error) === "EINVAL") return readFile(path, "utf8").catch(() => null);
    throw error;
  }
}

const nonce = randomUUID();

/** Who this process is: its number alone is given anew to others, and other machines and containers have their own. */
async function ownMark(): Promise<string> {
  const [place, start] = await Promise.all([ownPidNamespace(), startTimeOf(process.pid)]);
  return ["troupe-lock", process.pid, start ?? 0, place, nonce].join(":");
}

async function ownPidNamespace(): Promise<string> {
  const space = await readlink("/proc/self/ns/pid").catch(() => "");
  return `${hostname()}-${space}`.replaceAll(/[^\w.-]/g, "-");
}

function pidOf(mark: string): string {
  return mark.split(":")[1] ?? "?";
}

async function ownerState(mark: string): Promise<"alive" | "gone" | "unknown"> {
  const [kind, pid, start, place] = mark.split(":");
  if (kind !== "troupe-lock" || place !== (await ownPidNamespace())) return "unknown";
  const now = await startTimeOf(Number(pid));
  if (now !== null) return String(now) === start ? "alive" : "gone";
  try {
    process.kill(Number(pid), 0);
    return "alive";
  } catch (error) {
    return errorCodeOf(error) === "EPERM" ? "alive" : "gone";
  }
}

/** When a process was started, in the kernel's own count; null where that is not known, -1 for one that only waits to be reaped. */
async function startTimeOf(pid: number): Promise<number | null> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  if (stat === null) return null;
  const [state, ...numbers] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return state === "Z" ? -1 : Number(numbers[18]);
}

import { createHash, randomUUID } from "node:crypto";
import { open, readFile, readlink, rm, symlink } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { errorCodeOf } from "@troupe/core/internal";
import type { OpenFolder } from "./open-folder.ts";
import { failure } from "./workspace-path.ts";

/** The exclusive right to replace a file, among all processes that use this lock. */
export interface FileLock extends AsyncDisposable {
  /** Name beside the file for its new content: the same for each try, and used only by the lock holder. */
  readonly temporary: string;
}

export interface LockOptions {
  /** Equal for the same file, whichever path leads to it. */
  key: string;
  shown: string;
  signal: AbortSignal;
  /** @default 10000 */
  waitMsMax?: number;
}

const waitMsMaxDefault = 10_000;

/**
 * Waits for earlier calls of this process, then creates the lock file beside the file. The lock file is a symbolic link
 * whose target identifies the holder: a link is created together with its target, so no process ever reads a
 * half-written lock. The lock of a killed process is recognised by that process and removed.
 *
 * The temporary file itself cannot be the lock: a process that finds it cannot tell whether its writer still lives.
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

/** Resolves, after all earlier calls have ended their turns, to a function that ends this one. */
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
    const owner = await ownerState(held);
    // The state of a process of another machine or container is unknown. No live process holds a lock for this long.
    if (owner === "gone" || (isOver && owner === "unknown")) {
      await breakLock(path, held, mine);
      continue;
    }
    if (isOver) {
      throw failure(
        "tool_error",
        `${shown} was not changed: process ${pidOf(held)} has held its lock for over ${Math.round(waitMsMax / 1_000)} s; try again later`,
        true,
      );
    }
    await pause(delayMs, undefined, { signal });
    waitedMs += delayMs;
  }
}

/**
 * Two processes that find the same stale lock must not remove it one after the other: the second would remove the new
 * lock of the first. So a process takes a further lock for the removal, and checks again.
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

/** Returns false if the path exists. */
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

/** For file systems without symbolic links. */
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

/** Null if the lock does not exist any more. */
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

/** The identity of this process. The pid alone is reused, and other machines and containers have their own numbers. */
async function ownMark(): Promise<string> {
  const [namespace, start] = await Promise.all([ownPidNamespace(), startTimeOf(process.pid)]);
  return ["troupe-lock", process.pid, start ?? 0, namespace, nonce].join(":");
}

async function ownPidNamespace(): Promise<string> {
  const space = await readlink("/proc/self/ns/pid").catch(() => "");
  return `${hostname()}-${space}`.replaceAll(/[^\w.-]/g, "-");
}

function pidOf(mark: string): string {
  return mark.split(":")[1] ?? "?";
}

async function ownerState(mark: string): Promise<"alive" | "gone" | "unknown"> {
  const [kind, pid, start, namespace] = mark.split(":");
  if (kind !== "troupe-lock" || namespace !== (await ownPidNamespace())) return "unknown";
  const now = await startTimeOf(Number(pid));
  if (now !== null) return String(now) === start ? "alive" : "gone";
  try {
    process.kill(Number(pid), 0);
    return "alive";
  } catch (error) {
    return errorCodeOf(error) === "EPERM" ? "alive" : "gone";
  }
}

/** Start time in clock ticks; null if it is unknown, -1 for a zombie. */
async function startTimeOf(pid: number): Promise<number | null> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => null);
  if (stat === null) return null;
  const [state, ...numbers] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return state === "Z" ? -1 : Number(numbers[18]);
}

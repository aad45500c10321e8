import { existsSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, describe, expect, test } from "vitest";
import { killAll, startScript } from "../../packages/cli/src/testing/processes.ts";
import { isLocked, tryLock } from "../../packages/troupe/src/home/lock.ts";
import { removeTemporaryFolders, temporaryFolder } from "../../packages/troupe/src/testing/folders.ts";

// A lock that outlives its process would brick a home; one that does not hold would let two daemons write one journal.

afterEach(() => {
  killAll();
  removeTemporaryFolders();
});

const lockPath = () => join(temporaryFolder(), "lock.db");

describe("in one process", () => {
  test("a second taker is refused, until the first has released the lock", () => {
    const path = lockPath();
    const lock = tryLock(path);
    expect(lock).not.toBeNull();
    expect(tryLock(path)).toBeNull();
    expect(isLocked(path)).toBe(true);
    lock?.release();
    expect(isLocked(path)).toBe(false);
    const again = tryLock(path);
    expect(again).not.toBeNull();
    again?.release();
  });

  test("a check creates no file", () => {
    const path = lockPath();
    expect(isLocked(path)).toBe(false);
    expect(existsSync(path)).toBe(false);
  });

  test("a second release does not free another holder's lock", () => {
    const path = lockPath();
    const first = tryLock(path);
    first?.release();
    const second = tryLock(path);
    first?.release();
    expect(isLocked(path)).toBe(true);
    second?.release();
  });

  test("a lock whose object was garbage-collected is still held", async () => {
    const path = lockPath();
    (() => tryLock(path))();
    setFlagsFromString("--expose-gc");
    const collectGarbage: () => void = runInNewContext("gc");
    for (let round = 0; round < 3; round += 1) {
      collectGarbage();
      await new Promise(setImmediate);
    }
    expect(isLocked(path)).toBe(true);
  });
});

describe("between processes", () => {
  test("kill -9 frees it, and leaves no journal behind", async () => {
    const path = lockPath();
    const holder = startScript(new URL("hold-lock.ts", import.meta.url).href, [path]);
    await holder.printed(/held/);
    expect(isLocked(path)).toBe(true);
    expect(tryLock(path)).toBeNull();

    holder.child.kill("SIGKILL");
    expect(await holder.ended()).toBe("SIGKILL");

    expect(isLocked(path)).toBe(false);
    expect(existsSync(`${path}-journal`)).toBe(false);
    const lock = tryLock(path);
    expect(lock).not.toBeNull();
    lock?.release();
  });

  test("of several concurrent takers, exactly one gets it", async () => {
    const path = lockPath();
    const racers = [1, 2, 3, 4].map(() => startScript(new URL("hold-lock.ts", import.meta.url).href, [path]));
    await Promise.all(racers.map((racer) => racer.printed(/held|refused/)));
    expect(racers.map((racer) => racer.out().trim()).sort()).toEqual(["held", "refused", "refused", "refused"]);
  });
});

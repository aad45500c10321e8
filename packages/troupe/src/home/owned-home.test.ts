import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { openSqlite } from "@troupe/recorder/internal";
import { afterEach, describe, expect, test } from "vitest";
import { removeTemporaryFolders, temporaryFolder } from "../testing/folders.ts";
import { homeFiles, locateHome, prepareHome } from "./home.ts";
import { acquireHome, tryAcquireHome } from "./owned-home.ts";
import { findOwner, waitForOwnerExit } from "./owner.ts";

afterEach(removeTemporaryFolders);

const someOwner = {
  kind: "daemon" as const,
  pid: 4_242,
  url: "http://127.0.0.1:4711",
  token: "secret",
  version: "0.1.0",
  startedAt: "2026-01-02T03:04:05.000Z",
};
const newHome = () => ({ path: join(temporaryFolder(), "deep", "home") });
const modeOf = (path: string) => statSync(path).mode & 0o777;

describe("the folder of the home", () => {
  test.each([
    ["TROUPE_HOME", { TROUPE_HOME: "/a", XDG_DATA_HOME: "/b", HOME: "/c" }, "/a"],
    ["a relative TROUPE_HOME, from the working folder", { TROUPE_HOME: "h" }, "/cwd/h"],
    ["the XDG data folder", { TROUPE_HOME: "", XDG_DATA_HOME: "/b", HOME: "/c" }, "/b/troupe"],
    ["not a relative XDG folder", { XDG_DATA_HOME: "b", HOME: "/c" }, "/c/.local/share/troupe"],
    ["the default of XDG", { HOME: "/c" }, "/c/.local/share/troupe"],
  ])("%s", (_what, env, path) => {
    expect(locateHome({ env, cwd: "/cwd" }).path).toBe(path);
  });
});

describe("preparing the home", () => {
  test("makes the folder for its user only", async () => {
    const home = newHome();
    await prepareHome(home);
    expect(modeOf(home.path)).toBe(0o700);
  });

  test("names a path that cannot be a home, and the setting to change", async () => {
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "");
    for (const path of [file, join(file, "below"), "/proc/troupe"]) {
      const error = await prepareHome({ path }).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "HOME_UNWRITABLE", fix: expect.stringContaining("TROUPE_HOME") });
      expect(String(error)).toContain(path);
    }
  });
});

describe("owning the home", () => {
  test("the token stays the same, is private, and is replaced if it was readable by others", async () => {
    const home = newHome();
    const first = await acquireHome(home);
    expect(first.token).toMatch(/^[\w-]{43}$/);
    expect(modeOf(homeFiles(home).token)).toBe(0o600);
    await first.release();

    const second = await acquireHome(home);
    expect(second.token).toBe(first.token);
    await second.release();

    chmodSync(homeFiles(home).token, 0o644);
    const third = await acquireHome(home);
    expect(third.token).not.toBe(first.token);
    expect(modeOf(homeFiles(home).token)).toBe(0o600);
    await third.release();
  });

  test("a damaged token is replaced", async () => {
    const home = newHome();
    mkdirSync(home.path, { recursive: true });
    writeFileSync(homeFiles(home).token, "half", { mode: 0o600 });
    const owned = await acquireHome(home);
    expect(owned.token).toHaveLength(43);
    await owned.release();
  });

  test("a second process is told who the owner is", async () => {
    const home = newHome();
    const owned = await acquireHome(home);
    await owned.announce(someOwner);
    expect(await tryAcquireHome(home)).toBeNull();
    const error = await acquireHome(home).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "HOME_OWNED", fix: "kill -INT 4242" });
    expect(String(error)).toMatch(/daemon.*pid 4242.*http:\/\/127\.0\.0\.1:4711/);
    await owned.release();
  });

  test("of two concurrent processes, one gets it", async () => {
    const home = newHome();
    const both = await Promise.all([tryAcquireHome(home), tryAcquireHome(home)]);
    expect(both.filter((each) => each !== null)).toHaveLength(1);
    for (const each of both) await each?.release();
  });

  test("a process that only checks the lock does not block its owner", async () => {
    const home = newHome();
    await (await acquireHome(home)).release();
    const looking = openSqlite(homeFiles(home).lock, { readOnly: true });
    looking.exec("BEGIN");
    looking.prepare("SELECT count(*) FROM sqlite_master").get();
    const taking = tryAcquireHome(home);
    setTimeout(() => looking.close(), 5);
    const owned = await taking;
    expect(owned).not.toBeNull();
    await owned?.release();
  });

  test("a release leaves no file of the owner, and no temporary files", async () => {
    const home = newHome();
    const owned = await acquireHome(home);
    await owned.announce(someOwner);
    expect(modeOf(homeFiles(home).owner)).toBe(0o600);
    await owned.release();
    expect(readdirSync(home.path).sort()).toEqual(["lock.db", "token"]);
  });
});

describe("finding the owner", () => {
  test("there is none while the lock is free, with any leftovers of a killed one", async () => {
    const home = newHome();
    expect(await findOwner(home, { patienceMs: 0 })).toBeNull();
    await prepareHome(home);
    writeFileSync(homeFiles(home).owner, JSON.stringify(someOwner));
    expect(await findOwner(home, { patienceMs: 0 })).toBeNull();
  });

  test("an owner that has just started is waited for", async () => {
    const home = newHome();
    mkdirSync(home.path, { recursive: true });
    writeFileSync(homeFiles(home).owner, JSON.stringify({ ...someOwner, pid: 1 }));
    const owned = await acquireHome(home);
    // A new owner deletes the files of the previous one.
    expect(existsSync(homeFiles(home).owner)).toBe(false);
    const finding = findOwner(home, { patienceMs: 10_000 });
    await owned.announce(someOwner);
    expect(await finding).toEqual(someOwner);
    await owned.release();
  });

  test("an owner that never publishes its address ends the wait with an error", async () => {
    const home = newHome();
    const owned = await acquireHome(home);
    await expect(findOwner(home, { patienceMs: 30 })).rejects.toMatchObject({ code: "HOME_OWNED" });
    await owned.release();
  });

  test("a wait for its end resolves when the home is free, and when another process owns it", async () => {
    const home = newHome();
    const { signal } = new AbortController();
    const owned = await acquireHome(home);
    await owned.announce(someOwner);
    let isGone = false;
    const gone = waitForOwnerExit(home, someOwner, signal).then(() => {
      isGone = true;
    });
    await setImmediate();
    expect(isGone).toBe(false);
    await owned.release();
    await gone;

    const next = await acquireHome(home);
    await next.announce({ ...someOwner, startedAt: "2026-01-02T03:04:06.000Z" });
    await expect(waitForOwnerExit(home, someOwner, signal)).resolves.toBeUndefined();
    await next.release();
  });
});

test("a private file is never half written", async () => {
  const home = newHome();
  const owned = await acquireHome(home);
  await owned.announce(someOwner);
  const before = readFileSync(homeFiles(home).owner, "utf8");
  await expect(owned.announce({ ...someOwner, pid: -1 })).rejects.toThrow();
  expect(readFileSync(homeFiles(home).owner, "utf8")).toBe(before);
  await owned.release();
});

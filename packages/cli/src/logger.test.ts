import { mkdirSync, readdirSync, readFileSync, statSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { openLogger } from "./logger.ts";
import { removeTemporaryFolders, temporaryFolder } from "./testing/fake-cli.ts";

afterEach(removeTemporaryFolders);

const now = new Date("2026-05-06T07:08:09Z");
const open = (home: string, env: NodeJS.ProcessEnv = {}) => openLogger({ home: { path: home }, env, now });
const logsOf = (home: string) => readdirSync(join(home, "logs")).sort();

test("lines are JSON, private, and without secrets", () => {
  const home = temporaryFolder();
  const log = open(home);
  log.logger.child({ session: "s", run: "r" }).info({ token: "secret", headers: { authorization: "secret" } }, "hello");
  log.logger.debug("not at this level");
  log.close();
  const [line = "", ...others] = readFileSync(log.path, "utf8").trim().split("\n");
  expect(others).toEqual([]);
  expect(JSON.parse(line)).toMatchObject({ level: 30, session: "s", run: "r", msg: "hello", pid: process.pid });
  expect(line).not.toContain("secret");
  expect(statSync(log.path).mode & 0o777).toBe(0o600);
  expect(logsOf(home)).toEqual(["troupe-2026-05-06.log"]);
});

test("TROUPE_LOG sets the level; an invalid level is named", () => {
  const home = temporaryFolder();
  const log = open(home, { TROUPE_LOG: "debug" });
  expect(log.logger.level).toBe("debug");
  log.close();
  expect(() => open(home, { TROUPE_LOG: "loud" })).toThrow(/TROUPE_LOG is "loud"/);
});

test("a second start of the day appends", () => {
  const home = temporaryFolder();
  for (const word of ["one", "two"]) {
    const log = open(home);
    log.logger.info(word);
    log.close();
  }
  expect(
    readFileSync(join(home, "logs", "troupe-2026-05-06.log"), "utf8")
      .trim()
      .split("\n"),
  ).toHaveLength(2);
});

test("a large file is set aside, and only the newest five stay", () => {
  const home = temporaryFolder();
  const logs = join(home, "logs");
  mkdirSync(logs);
  for (const day of [1, 2, 3, 4, 5]) {
    const path = join(logs, `troupe-2026-05-0${day}.log`);
    writeFileSync(path, "");
    utimesSync(path, day, day);
  }
  writeFileSync(join(logs, "notes.txt"), "not ours");
  const current = join(logs, "troupe-2026-05-06.log");
  writeFileSync(current, "");
  truncateSync(current, 10 * 1024 * 1024 + 1);
  open(home).close();
  expect(logsOf(home)).toEqual([
    "notes.txt",
    "troupe-2026-05-03.log",
    "troupe-2026-05-04.log",
    "troupe-2026-05-05.log",
    "troupe-2026-05-06.1.log",
    "troupe-2026-05-06.log",
  ]);
  expect(statSync(current).size).toBe(0);
});

test("no line contains a secret, even an invalid line", () => {
  const home = temporaryFolder();
  const key = 'k3y"with\\odd-characters';
  const log = openLogger({ home: { path: home, token: "the-token-of-the-home" }, env: { SHOP_KEY: key }, now });
  const cause = Object.assign(new Error(`401 for ${key}`), {
    config: { url: `https://x/?k=${encodeURIComponent(key)}` },
  });
  log.logger.child({ who: key }).error({ err: new Error("it failed", { cause }), deep: [{ [key]: 1 }] }, `told ${key}`);
  log.logger.info({ header: "Bearer the-token-of-the-home" }, "asked");
  log.close();
  const text = readFileSync(log.path, "utf8");
  const lines = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(lines).toMatchObject([{ msg: "told [redacted: SHOP_KEY]", who: "[redacted: SHOP_KEY]" }, { msg: "asked" }]);
  expect(text).toMatch(/it failed/);
  for (const form of [key, JSON.stringify(key).slice(1, -1), encodeURIComponent(key), "the-token-of-the-home"]) {
    expect(text).not.toContain(form);
  }
});

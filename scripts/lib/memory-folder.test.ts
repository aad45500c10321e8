import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type MemoryFolderOptions, makeMemoryFolder } from "./memory-folder.ts";

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "troupe-memory-"));
});
afterEach(() => rmSync(base, { recursive: true }));

const make = (options: MemoryFolderOptions = {}) =>
  makeMemoryFolder({ base, env: {}, spaceBytesMin: 0, memoryBytesMin: 0, ...options });

it("every user can write into the folder, and its end removes it with its files", () => {
  const folder = make();
  expect(readdirSync(base)).toEqual([`troupe-${process.pid}`]);
  expect(statSync(folder?.path ?? "").mode & 0o7777).toBe(0o1777);
  expect(readdirSync(folder?.path ?? "")).toEqual([]);
  writeFileSync(join(folder?.path ?? "", "file"), "text");
  folder?.remove();
  expect(readdirSync(base)).toEqual([]);
});

it.each<[string, MemoryFolderOptions]>([
  ["TMPDIR names another place", { env: { TMPDIR: "/somewhere" } }],
  ["the file system has too little space", { spaceBytesMin: Number.MAX_SAFE_INTEGER }],
  ["the machine has too little memory", { memoryBytesMin: Number.MAX_SAFE_INTEGER }],
  ["the machine has no such file system", { base: "/nonexistent" }],
])("makes no folder if %s", (_, options) => {
  expect(make(options)).toBeNull();
  expect(readdirSync(base)).toEqual([]);
});

it("the folder of a run that was killed is removed, and no other", () => {
  const { pid } = spawnSync("true");
  for (const name of [`troupe-${pid}`, `troupe-${process.ppid}`, "troupe-bundle", "other"]) mkdirSync(join(base, name));
  make()?.remove();
  expect(readdirSync(base).sort()).toEqual(["other", "troupe-bundle", `troupe-${process.ppid}`].sort());
});

// A process that can write in a workspace, such as a command of an agent, swaps folders for links while a tool works. A
// tool that checks a name and opens it later can be led out; a tool that holds the checked folder cannot.
import { lstat, readFile, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, inject, test } from "vitest";
import { runSwapRace, type Try, toolTries } from "./swap-race.test-helper.ts";

const swaps = inject("long") ? 600_000 : 15_000;

test("tools never leave the workspace, even if its folders are quickly swapped for links", async () => {
  const race = await runSwapRace(swaps, toolTries);

  expect(race.escapes).toEqual([]);
  expect(race.swaps).toBe(swaps);
  expect(race.done).toBeGreaterThan(10);
}, 600_000);

test("the race is real: a tool that checks names and then opens them escapes", async () => {
  const race = await runSwapRace(10_000_000, [checkThenUse, checkThenUse], ({ escapes }) => escapes.length > 0);

  expect(race.escapes[0]).toBe("read: SECRET");
}, 120_000);

const checkThenUse: Try = async (workspace) => {
  const path = join(workspace, "sub", "a.txt");
  if ((await realpath(dirname(path))) !== join(workspace, "sub") || !(await lstat(path)).isFile())
    throw new Error("out");
  return await readFile(path, "utf8");
};

// Without control groups, the mark in its environment alone tells a process that has left its group, session and family.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, vi } from "vitest";
import { living, sandboxTest as test } from "../sandbox.fixture.ts";
import { createMarkReaper, markVariable } from "./reaper.ts";

test("a process with nothing but the mark of its command is found and ended, and an older process is not", async ({
  token,
}) => {
  const start = (line: string, mark: string) =>
    spawn("/bin/sh", ["-c", line], { detached: true, env: { ...process.env, [markVariable]: mark }, stdio: "ignore" });
  const other = start(`exec sleep ${token}9`, "another-command");
  await vi.waitUntil(async () => (await living(`${token}9`)).length === 1);

  const command = start(`(setsid sh -c 'sleep ${token} & exit' &); sleep 0.2`, token);
  if (command.pid === undefined) throw new Error("the command did not start");
  const reaper = createMarkReaper(command.pid, token, null);
  await once(command, "exit");

  expect(await reaper.isGone()).toBe(false);
  await reaper.kill();
  await vi.waitUntil(() => reaper.isGone());
  expect(await living(`sleep\0${token}\0`)).toEqual([]);
  expect(await living(`${token}9`)).toEqual([other.pid]);
});

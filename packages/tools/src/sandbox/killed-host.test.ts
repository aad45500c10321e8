// A host can be killed at any moment, also while a program builds a sandbox: no process of its commands may outlive it.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, inject, vi } from "vitest";
import { everyKind, type LinuxKind, living, sandboxTest as test } from "./sandbox.fixture.ts";

/** In the normal run, a command in namespaces has one round: the kernel ends it as it ends one in bubblewrap. */
const roundsOf = (kind: LinuxKind): number => (inject("long") ? 100 : kind === "namespaces" ? 1 : 2);
const helper = join(import.meta.dirname, "killed-host.test-helper.ts");

for (const kind of everyKind) {
  test(`${kind}: no process is left of a host that is killed while it starts commands`, async ({
    sandboxOf,
    programs,
    workspace,
    token,
  }) => {
    await sandboxOf(kind);
    let left = 0;
    for (let round = roundsOf(kind); round > 0; round -= 1) {
      const host = startHost(join(programs, kind), workspace, token);
      await once(host.stdout ?? host, "data");
      // The others are killed while commands begin. On a busy machine none of them might run by then.
      if (round === 1) await vi.waitUntil(async () => (await living(`${token}; sleep`)).length >= 4);
      // A timer has steps of a millisecond.
      await delay(Math.random() * 100);
      spin(Math.random());
      host.kill("SIGKILL");
      await once(host, "exit");
      left += await countSurvivors(token);
    }
    expect(left).toBe(0);
  }, 3_600_000);
}

function startHost(programs: string, workspace: string, token: string): ChildProcess {
  // A killed host cannot remove its scratch folders. They go with the folder of the test.
  const env = { ...process.env, TMPDIR: dirname(programs) };
  return spawn(process.execPath, [helper, programs, workspace, token], { env, stdio: ["ignore", "pipe", "inherit"] });
}

function spin(forMs: number): void {
  for (const endMs = performance.now() + forMs; performance.now() < endMs; );
}

/** Kills and counts the processes that are still there some seconds later. */
async function countSurvivors(token: string): Promise<number> {
  const isGone = async (): Promise<boolean> => (await living(token)).length === 0;
  await vi.waitUntil(isGone, { timeout: 4_000, interval: 50 }).catch(() => {});
  const survivors = await living(token);
  for (const pid of survivors) process.kill(pid, "SIGKILL");
  return survivors.length;
}

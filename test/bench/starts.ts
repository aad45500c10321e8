import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { cleanEnv } from "../harness/clean-env.ts";
import { cliPath } from "../harness/cli-path.ts";

const startsCount = 7;

/** Start time with an existing home, a built checkout and no other daemon: the second `troupe up` of the day. */
export async function measureStarts(): Promise<{ readyMs: number[]; floorMs: number[] }> {
  const home = await mkdtemp(path.join(tmpdir(), "troupe-bench-home-"));
  await timeToReady(home);
  const readyMs: number[] = [];
  const floorMs: number[] = [];
  for (let i = 0; i < startsCount; i += 1) {
    readyMs.push(await timeToReady(home));
    const startedMs = performance.now();
    await once(spawn(process.execPath, ["-e", "0"]), "exit");
    floorMs.push(performance.now() - startedMs);
  }
  await rm(home, { recursive: true, force: true });
  return { readyMs, floorMs };
}

async function timeToReady(home: string): Promise<number> {
  const startedMs = performance.now();
  const child = spawn(process.execPath, [cliPath, "up", "--json", "--no-open", "--port", "0"], {
    env: cleanEnv(home),
    stdio: ["ignore", "pipe", "ignore"],
  });
  await once(createInterface({ input: child.stdout }), "line");
  const elapsedMs = performance.now() - startedMs;
  child.kill("SIGINT");
  await once(child, "exit");
  return elapsedMs;
}

/** A daemon in the background, with real processes: up -d, ps, spawn, logs, approvals watch, down, and kill -9 in between. */
import { existsSync, readFileSync } from "node:fs";
import { describe, it } from "vitest";
import { startTroupe, troupe } from "../harness/cli.ts";
import { askBeforeShell, writePolicy } from "../harness/home-files.ts";
import { saying, writeScenario } from "../harness/scenario-file.ts";
import { shell } from "../harness/scripted-calls.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";

interface Ready {
  event: string;
  url: string;
  token: string;
  pid: number;
}

describe.concurrent("troupe up -d", () => {
  it("returns when the daemon is ready, and the daemon works on until troupe down", async ({
    expect,
    onTestFinished,
  }) => {
    const test = { onTestFinished };
    const home = await tempFolder("background", test);
    onTestFinished(async () => void (await troupe(["down"], { home })));
    const up = await troupe(["up", "-d", "--port", "0", "--json"], { home, ownProcess: true });
    expect(up).toMatchObject({ code: 0, stderr: "" });
    const ready: Ready = JSON.parse(up.stdout);
    expect(ready).toMatchObject({ event: "ready", url: expect.stringMatching(/^http:\/\/127/) });

    const scenario = await writeScenario(home, saying("done in the background"));
    const spawned = await troupe(["spawn", "main", "say it", "--scenario", scenario], { home });
    expect(spawned.code).toBe(0);
    const session = spawned.stdout.trim();
    const shown = () => troupe(["sessions", "show", session, "--json"], { home });
    await until(async () => (await shown()).stdout.includes('"completed"'));
    expect((await troupe(["sessions", "show", session], { home })).stdout).toContain("done in the background");

    const log = await troupe(["logs", "--run", session], { home });
    expect(log.stdout).toMatch(/info {2}session accepted .*agent=main/);
    expect(await troupe(["down"], { home })).toMatchObject({ code: 0, stdout: expect.stringContaining("stopped") });
    expect((await troupe(["ps"], { home })).stderr).toContain("no daemon runs");
    await until(() => hasEnded(ready.pid));
  });

  it("starts anew after kill -9, and the sessions go on", async ({ expect, onTestFinished }) => {
    const test = { onTestFinished };
    const home = await tempFolder("background", test);
    onTestFinished(async () => void (await troupe(["down"], { home })));
    const start = async (): Promise<Ready> =>
      JSON.parse((await troupe(["up", "-d", "--port", "0", "--json"], { home, ownProcess: true })).stdout);
    const first = await start();
    const scenario = await writeScenario(home, saying("still here", 1_500));
    const { stdout } = await troupe(["spawn", "main", "wait", "--scenario", scenario], { home });
    process.kill(first.pid, "SIGKILL");
    await until(async () => (await troupe(["ps"], { home })).stderr.includes("no daemon runs"));
    const second = await start();
    expect(second).toMatchObject({ event: "ready" });
    expect(second.pid).not.toBe(first.pid);
    const shown = () => troupe(["sessions", "show", stdout.trim()], { home });
    await until(async () => (await shown()).stdout.includes("still here"));
  });

  it("says why the daemon did not start", async ({ expect, onTestFinished }) => {
    const home = await tempFolder("background", { onTestFinished });
    const env = { TROUPE_LOG: "loud" };
    const failed = await troupe(["up", "-d", "--port", "0"], { home, env, ownProcess: true });
    expect(failed.code).not.toBe(0);
    expect(failed.stderr).toContain('error: TROUPE_LOG is "loud"');
    expect(failed.stderr).toContain("fix:   export TROUPE_LOG=info");
  });
});

it("troupe spawn without a daemon names both ways", async ({ expect, onTestFinished }) => {
  const home = await tempFolder("background", { onTestFinished });
  const refused = await troupe(["spawn", "main", "say it"], { home });
  expect(refused).toMatchObject({ code: 5, stdout: "" });
  expect(refused.stderr).toContain('fix:   troupe up -d, or wait for the answer: troupe run --agent main "say it"');
});

it("troupe approvals watch prints each request once, and ends with the signal", async ({ expect, onTestFinished }) => {
  const test = { onTestFinished };
  const home = await tempFolder("background", test);
  onTestFinished(async () => void (await troupe(["down"], { home })));
  await writePolicy(home, askBeforeShell);
  await troupe(["up", "-d", "--port", "0"], { home, ownProcess: true });
  const steps = [{ calls: [shell("true")] }, { text: "refused" }];
  const scenario = await writeScenario(home, { main: [{ steps }] });
  const watch = startTroupe(["approvals", "watch", "--json"], { home, test });
  await troupe(["spawn", "main", "fetch it", "--scenario", scenario], { home });
  const [line] = await watch.waitForOutput(/\{.*\}\n/);
  const row: { id: string; tool: string } = JSON.parse(line);
  expect(row.tool).toBe("shell");
  await troupe(["approvals", "deny", row.id], { home });
  watch.process.kill("SIGINT");
  expect(await watch.ended).toMatchObject({ code: 0, stdout: line });
});

/** Whether a process is gone, or only its entry waits for its parent. */
function hasEnded(pid: number): boolean {
  const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, "utf8") : "Z";
  return / Z |^Z$/.test(stat);
}

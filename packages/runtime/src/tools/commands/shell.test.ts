// Whatever a command starts must be gone when the call ends, however it ends: a survivor would go on acting in the
// name of a run that nobody can see any more.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ToolContext } from "@troupe/core";
import { afterEach, describe, expect, vi } from "vitest";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { workspaceTest as test } from "../workspace.fixture.ts";
import { createShellTool } from "./shell.ts";

const shellTool = createShellTool({ sandbox: await createSandbox() });

/** Starts two processes that would live for an hour, and tells their ids. */
const startTwo = "sleep 3600 & echo $! >> pids; (sleep 3600 & echo $! >> pids); echo started";

describe("every process of the command is gone", () => {
  test("when it ends by itself", async ({ folder, call }) => {
    const outcome = await call(shellTool, { command: startTwo });

    expect(outcome).toMatchObject({ output: "exit code 0\nstarted\n", error: null });
    await everybodyGone(folder);
  });

  test("when its time is over", async ({ folder, call }) => {
    const outcome = await call(shellTool, { command: `${startTwo}; wait`, timeoutMs: 300 });

    expect(outcome.error).toMatchObject({ type: "timeout", tool: "shell", recoverable: true });
    expect(outcome.output).toBe("stopped: not done after 300 ms\nstarted\n");
    await everybodyGone(folder);
  });

  test("when it is cancelled", async ({ folder, call }) => {
    const abort = new AbortController();
    const running = call(shellTool, { command: `${startTwo}; wait` }, { signal: abort.signal });
    await vi.waitUntil(async () => (await pidsOf(folder)).length === 2, { timeout: 5_000 });

    abort.abort();

    expect((await running).error).toMatchObject({ type: "cancelled", recoverable: false });
    await everybodyGone(folder);
  });

  test("when it does not listen to SIGTERM, two seconds later", async ({ folder, call }) => {
    const deaf = "trap '' TERM; echo $$ >> pids; while :; do sleep 0.05; done";
    const outcome = await call(shellTool, { command: deaf, timeoutMs: 300 });

    expect(outcome.error).toMatchObject({ type: "timeout" });
    expect(outcome.durationMs).toBeGreaterThan(2_000);
    expect(outcome.durationMs).toBeLessThan(3_300);
    await everybodyGone(folder);
  });
});

test("a call that was cancelled before does not start", async ({ folder, call }) => {
  const outcome = await call(shellTool, { command: "echo $$ >> pids" }, { signal: AbortSignal.abort() });

  expect(outcome.error).toMatchObject({ type: "cancelled" });
  expect(await pidsOf(folder)).toEqual([]);
});

afterEach(() => {
  vi.unstubAllEnvs();
});

test("a command sees no more of the machine than it needs", async ({ folder, call }) => {
  vi.stubEnv("ANTHROPIC_API_KEY", "sk-canary");
  vi.stubEnv("LANG", "C.UTF-8");

  const outcome = await call(shellTool, { command: "pwd; env" });

  const [code, cwd, ...variables] = outcome.output.trimEnd().split("\n");
  const names = variables.map((line) => line.split("=", 1)[0]);
  expect([code, cwd]).toEqual(["exit code 0", folder]);
  // The shell adds PWD and, some of them, OLDPWD, SHLVL and _ by itself.
  expect(names.filter((name) => !/^(PWD|OLDPWD|SHLVL|_)$/.test(name ?? "")).sort()).toEqual([
    "HOME",
    "LANG",
    "PATH",
    "TMPDIR",
  ]);
  expect(variables).toContain(`HOME=${folder}`);
});

test("a command has no standard input to wait for", async ({ call }) => {
  expect((await call(shellTool, { command: "cat; echo done" })).output).toBe("exit code 0\ndone\n");
});

describe("how a command ended comes first:", () => {
  test.for([
    { command: "true", output: "exit code 0\n[no output]", error: null },
    { command: "echo out; echo err >&2; exit 3", output: "exit code 3\nout\nerr\n", error: "exit code 3" },
    { command: "kill -9 $$", output: "signal SIGKILL\n[no output]", error: "signal SIGKILL" },
    { command: "no-such-command-here 2>/dev/null", output: "exit code 127\n[no output]", error: "exit code 127" },
  ])("$command", async ({ command, output, error }, { call }) => {
    const outcome = await call(shellTool, { command });
    expect(sorted(outcome.output)).toBe(sorted(output));
    expect(outcome.error).toEqual(
      error && {
        type: "tool_error",
        message: `the command ended with ${error}`,
        tool: "shell",
        recoverable: true,
        retryAfterMs: null,
      },
    );
  });
});

test("a flood costs no memory beyond the cap, and the event loop goes on", async ({ context }) => {
  const before = process.memoryUsage().rss;

  const result = await run({ command: "yes | head -c 300000000", timeoutMs: 60_000 }, context);

  expect(result.output).toMatch(/^exit code 0\ny\ny\n/);
  expect(result.output).toMatch(/\[298951424 further bytes of output were not kept\]$/);
  expect(result.output.length).toBeLessThan(1024 * 1024 + 200);
  expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
});

test("a flood without end is stopped in time", async ({ context }) => {
  const startedMs = performance.now();
  const result = await run({ command: "cat /dev/zero", timeoutMs: 300 }, context);

  expect(result.error).toMatchObject({ type: "timeout" });
  expect(performance.now() - startedMs).toBeLessThan(3_300);
});

test("a workspace that is gone is an error of the tool", async ({ folder, call }) => {
  const outcome = await call(shellTool, { command: "true" }, { workspace: join(folder, "gone") });
  expect(outcome.error).toMatchObject({ type: "tool_error", message: expect.stringContaining("ENOENT") });
});

test("a command that looks like an option is a command; one with a NUL is none", async ({ call }) => {
  expect((await call(shellTool, { command: "-c 'echo pwned'" })).error).toMatchObject({ type: "tool_error" });
  expect((await call(shellTool, { command: "echo a\0b" })).error).toMatchObject({ type: "params" });
});

/** The tool itself, without the host that would cut its output. */
function run(args: unknown, context: ToolContext) {
  return shellTool.bind(args, context).run(context);
}

async function pidsOf(folder: string): Promise<number[]> {
  const text = await readFile(join(folder, "pids"), "utf8").catch(() => "");
  return text.split("\n").slice(0, -1).map(Number);
}

async function everybodyGone(folder: string): Promise<void> {
  const pids = await pidsOf(folder);
  expect(pids.length).toBeGreaterThan(0);
  for (const pid of pids) await vi.waitUntil(() => isGone(pid), { timeout: 2_000 });
}

/** A zombie is gone: it runs no more, and only waits for its parent to look. */
async function isGone(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return true;
  }
  const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return status.slice(status.lastIndexOf(")") + 2).startsWith("Z");
}

/** Standard output and error come through two pipes, so that their order is not certain. */
function sorted(text: string): string {
  return text.split("\n").sort().join("\n");
}

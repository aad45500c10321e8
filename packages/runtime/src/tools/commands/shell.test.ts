// What a model is told of a command. That nothing of it is left, and what it can reach, is the sandbox's to prove.
import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { ToolContext } from "@troupe/core";
import { afterEach, describe, expect, vi } from "vitest";
import { createSandbox } from "../../sandbox/create-sandbox.ts";
import { workspaceTest as test } from "../workspace.fixture.ts";
import { createShellTool } from "./shell.ts";

const shellTool = createShellTool({ sandbox: await createSandbox() });

test("a call that was cancelled before does not start", async ({ folder, call }) => {
  const outcome = await call(shellTool, { command: "touch started" }, { signal: AbortSignal.abort() });

  expect(outcome.error).toMatchObject({ type: "cancelled" });
  expect(await readdir(folder)).toEqual([]);
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
  const added = /^(PWD|OLDPWD|SHLVL|_|RUSTUP_HOME|TROUPE_COMMAND)$/;
  expect(names.filter((name) => !added.test(name ?? "")).sort()).toEqual(["HOME", "LANG", "PATH", "TERM", "TMPDIR"]);
  expect(variables).not.toContain(`HOME=${homedir()}`);
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

/** Standard output and error come through two pipes, so that their order is not certain. */
function sorted(text: string): string {
  return text.split("\n").sort().join("\n");
}

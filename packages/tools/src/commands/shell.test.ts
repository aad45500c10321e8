// The output of commands as models see it. The sandbox tests prove isolation and cleanup.
import { mkdir, readdir, symlink } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { ToolContext } from "@troupe/core";
import { afterEach, describe, expect, vi } from "vitest";
import { createSandbox } from "../sandbox/create-sandbox.ts";
import { workspaceTest } from "../workspace.fixture.ts";
import { createShellTool } from "./shell.ts";

/** The user has approved each call: approval is tested elsewhere, and depends on the machine's sandbox. */
const test = workspaceTest.extend<{ context: ToolContext }>({
  context: async ({ context }, use) => {
    await use({ ...context, approved: true });
  },
});

const sandbox = await createSandbox();
const shellTool = createShellTool({ sandbox });

test("a call that was cancelled before its start does not run", async ({ folder, call }) => {
  const outcome = await call(shellTool, { command: "touch started" }, { signal: AbortSignal.abort() });

  expect(outcome.error).toMatchObject({ type: "cancelled" });
  expect(await readdir(folder)).toEqual([]);
});

afterEach(() => {
  vi.unstubAllEnvs();
});

test("a command sees only the files that it needs", async ({ folder, call }) => {
  vi.stubEnv("ANTHROPIC_API_KEY", "sk-canary");
  vi.stubEnv("LANG", "C.UTF-8");

  const outcome = await call(shellTool, { command: "pwd; env" });

  const [code, cwd, ...variables] = outcome.output.trimEnd().split("\n");
  const names = variables.map((line) => line.split("=", 1)[0]);
  expect([code, cwd]).toEqual(["exit code 0", folder]);
  // The shell itself adds PWD and, depending on the shell, OLDPWD, SHLVL and _.
  const added = /^(PWD|OLDPWD|SHLVL|_|RUSTUP_HOME|TROUPE_COMMAND)$/;
  expect(names.filter((name) => !added.test(name ?? "")).sort()).toEqual(["HOME", "LANG", "PATH", "TERM", "TMPDIR"]);
  expect(variables).not.toContain(`HOME=${homedir()}`);
});

test("a command has an empty standard input", async ({ call }) => {
  expect((await call(shellTool, { command: "cat; echo done" })).output).toBe("exit code 0\ndone\n");
});

describe("the result waits for the end of a command:", () => {
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

test("a flood of output uses memory up to the cap, and the event loop continues", async ({ context }) => {
  const before = process.memoryUsage().rss;

  const result = await run({ command: "yes | head -c 200000000", timeoutMs: 60_000 }, context);

  expect(result.output).toMatch(/^exit code 0\ny\ny\n/);
  expect(result.output).toMatch(/\[198951424 further bytes of output were not kept\]$/);
  expect(result.output.length).toBeLessThan(1024 * 1024 + 200);
  expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
});

test("a flood without end is stopped at the time limit", async ({ context }) => {
  const startedMs = performance.now();
  const result = await run({ command: "cat /dev/zero", timeoutMs: 200 }, context);

  expect(result.error).toMatchObject({ type: "timeout" });
  expect(performance.now() - startedMs).toBeLessThan(15_000);
});

test("a missing workspace is an error of the tool", async ({ folder, call }) => {
  const outcome = await call(shellTool, { command: "true" }, { workspace: join(folder, "gone") });
  expect(outcome.error).toMatchObject({ type: "tool_error", message: expect.stringContaining("ENOENT") });
});

test("a command in the shape of an option is a command; one with a NUL is refused", async ({ call }) => {
  expect((await call(shellTool, { command: "-c 'echo pwned'" })).error).toMatchObject({ type: "tool_error" });
  expect((await call(shellTool, { command: "echo a\0b" })).error).toMatchObject({ type: "params" });
});

describe("binary output", () => {
  test("is not shown if it is binary", async ({ call }) => {
    expect((await call(shellTool, { command: "head -c 20000 /dev/urandom" })).output).toBe(
      "exit code 0\n[the output is binary and not shown; write it to a file, or look at it with od]",
    );
  });

  test("is shown as far as possible if it is text in another encoding, or contains a NUL", async ({ call }) => {
    const { output } = await call(shellTool, { command: "printf 'Gr\\374\\337e\\0 from here'" });
    expect(output).toBe("exit code 0\nGr\ufffd\ufffde\\0 from here");
  });
});

test("a command starts in a folder of the workspace, and in no other", async ({ folder, call }) => {
  await mkdir(join(folder, "a/b c"), { recursive: true });
  await symlink("..", join(folder, "up"));

  expect((await call(shellTool, { command: "pwd", folder: "a/b c" })).output).toBe(`exit code 0\n${folder}/a/b c\n`);
  for (const path of ["..", "/etc", "up", "a\0"]) {
    const { error } = await call(shellTool, { command: "pwd", folder: path });
    expect(error?.type).toMatch(/^(permission|params)$/);
  }
  expect((await call(shellTool, { command: "pwd", folder: "nowhere" })).error).toMatchObject({ type: "params" });
});

test("a command may have 100,000 characters, and no more", async ({ call }) => {
  const commandOf = (length: number): string => "echo long #".padEnd(length, "x");
  expect((await call(shellTool, { command: commandOf(100_000) })).output).toBe("exit code 0\nlong\n");
  expect((await call(shellTool, { command: commandOf(100_001) })).error).toMatchObject({ type: "params" });
});

describe("a failed command gets a hint about its environment:", () => {
  test.for([
    { command: "no-such-command-here", hint: /\[hint: the program no-such-command-here is not on the PATH/ },
    {
      command: "echo 'curl: (6) Could not resolve host: x' >&2; exit 6",
      hint: /\[hint: commands have no network here/,
    },
    { command: "echo 'EROFS: read-only' >&2; exit 1", hint: /\[hint: you may write only in test, and in \$TMPDIR\]$/ },
    { command: "exit 1", hint: /^exit code 1\n\[no output\]$/ },
    { command: "echo 'could not resolve'", hint: /^exit code 0\ncould not resolve\n$/ },
  ])("$command", async ({ command, hint }, { call, context }) => {
    const shell = createShellTool({ sandbox: { ...sandbox, contains: true } });
    const { output } = await call(shell, { command }, { grant: { ...context.grant, writes: [["test"]] } });
    expect(output).toMatch(hint);
  });
});

/** The tool itself, without the host, which would cut its output. */
function run(args: unknown, context: ToolContext) {
  return shellTool.bind(args, context).run(context);
}

/** Standard output and standard error use two pipes, so their order is not certain. */
function sorted(text: string): string {
  return text.split("\n").sort().join("\n");
}

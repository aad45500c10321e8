/** Tests the launcher that `pnpm setup-cli` installs: `troupe` from any folder, as a process with its own home. */
import { execFile } from "node:child_process";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { RunResponse } from "@troupe/core";
import { describe, it, type TestContext } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { cleanEnv } from "../harness/clean-env.ts";
import { startProgram } from "../harness/cli.ts";
import { askBeforeShell, writePolicy } from "../harness/home-files.ts";
import { writeScenario } from "../harness/scenario-file.ts";
import { shell } from "../harness/scripted-calls.ts";
import { useShared } from "../harness/shared-fixture.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { describeAtTerminal, startInTerminal } from "../harness/terminal.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

interface Result {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs `pnpm setup-cli` as pnpm does: in the checkout, with the caller's folder in INIT_CWD. */
async function setupCli(home: string, args: string[], env: Record<string, string> = {}): Promise<Result> {
  const [, ...words] = manifest.scripts["setup-cli"].split(" ");
  const options = { cwd: root, env: { ...cleanEnv(home), INIT_CWD: home, ...env } };
  return promisify(execFile)(process.execPath, [...words, ...args], options).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: Result) => error,
  );
}

/** The launcher of all tests. */
const launcherOfFile = useShared(async (test) => {
  const home = await tempFolder("launcher", test);
  const result = await setupCli(home, ["--dir", "bin"]);
  if (result.code !== 0) throw new Error(result.stderr);
  return path.join(home, "bin", "troupe");
});

/** A home, and another folder in which to call the launcher. */
async function installed(test: Pick<TestContext, "onTestFinished">) {
  const home = await tempFolder("launcher-home", test);
  const caller = path.join(home, "my project");
  await mkdir(caller);
  const launcher = launcherOfFile();
  const start = (args: string[], input?: string) =>
    startProgram([launcher, ...args], { home, cwd: caller, ...(input === undefined ? {} : { input }) });
  return { home, caller, launcher, start };
}

describe.concurrent("setup-cli", () => {
  it("installs into ~/.local/bin, says how to put it on the PATH, and removes it", async ({
    expect,
    onTestFinished,
  }) => {
    const home = await tempFolder("setup-cli", { onTestFinished });
    const folder = path.join(home, "user", ".local", "bin");
    const first = await setupCli(home, [], { SHELL: "/bin/zsh" });
    expect(first).toMatchObject({ code: 0, stdout: "" });
    expect(first.stderr).toContain(`created ${path.join(folder, "troupe")}`);
    expect(first.stderr).toContain(`echo 'export PATH="$HOME/.local/bin:$PATH"' >> ~/.zshrc`);
    const second = await setupCli(home, [], { PATH: `${folder}:${process.env.PATH}` });
    expect(second.stderr).toContain("unchanged");
    expect(second.stderr).not.toContain("export PATH");
    expect((await setupCli(home, ["--remove"])).code).toBe(0);
    expect(await readdir(folder)).toEqual([]);
    expect((await setupCli(home, ["--remove"])).stderr).toContain("nothing to remove");
  });

  it("uses XDG_BIN_HOME, and refuses another program's file with a fix", async ({ expect, onTestFinished }) => {
    const home = await tempFolder("setup-cli", { onTestFinished });
    const env = { XDG_BIN_HOME: home };
    await writeFile(path.join(home, "troupe"), "#!/bin/sh\n");
    const refused = await setupCli(home, [], env);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/^error: .*troupe belongs to another program; .*\nfix: {3}.*--force/);
    expect((await setupCli(home, ["--force"], env)).stderr).toContain(`replaced ${path.join(home, "troupe")}`);
  });

  it.for<[string[], string]>([
    [["--dri", "x"], "--dri"],
    [["--dir", "/dev/null/bin"], "/dev/null/bin"],
  ])("%j is an error with a fix", async ([args, named], { expect, onTestFinished }) => {
    const result = await setupCli(await tempFolder("setup-cli", { onTestFinished }), args);
    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(/^error: .*\nfix: {3}.+\n$/);
    expect(result.stderr).toContain(named);
  });
});

describe.concurrent("the launcher", () => {
  it("runs a task in its caller's folder, with standard input as context", async ({ expect, onTestFinished }) => {
    const { caller, start } = await installed({ onTestFinished });
    await writeScenario(caller, {
      main: [
        { steps: [{ calls: [{ tool: "write", args: { path: "made.txt", content: "by troupe" } }] }, { text: "done" }] },
      ],
    });
    const child = start(["run", "--json", "--scenario", "./scripted.yaml", "--workspace", ".", "write it"], "a line\n");
    const { code, stdout } = await child.ended;
    expect(code).toBe(0);
    expect(RunResponse.parse(JSON.parse(stdout))).toMatchObject({ status: "completed", filesCreated: ["made.txt"] });
    expect(await readdir(caller)).toContain("made.txt");
  });

  it("passes on the exit code and the error of the program", async ({ expect, onTestFinished }) => {
    const { start } = await installed({ onTestFinished });
    const { code, stderr } = await start(["run", ""]).ended;
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: .*empty/);
  });

  it("passes on signals", async ({ expect, onTestFinished }) => {
    const { start } = await installed({ onTestFinished });
    const daemon = start(["up", "--port", "0", "--no-open", "--json"]);
    await daemon.waitForOutput(/"ready"/);
    daemon.process.kill("SIGINT");
    const { code, stderr } = await daemon.ended;
    expect(code).toBe(0);
    expect(stderr).toContain("stopping");
  });
});

describeAtTerminal("the launcher at a terminal", () => {
  it("asks its user, who answers with a key", async ({ expect, onTestFinished }) => {
    const { home, caller, launcher } = await installed({ onTestFinished });
    await writePolicy(home, askBeforeShell);
    await writeScenario(caller, {
      main: [{ steps: [{ calls: [shell("echo one")] }, { text: "done" }] }],
    });
    const test = { onTestFinished };
    const run = startInTerminal(["run", "x", "--scenario", "./scripted.yaml"], {
      home,
      cwd: caller,
      test,
      program: [launcher],
    });
    await run.waitForOutput(/asks to run shell/);
    await run.answer("y");
    expect((await run.ended).code).toBe(0);
  });
});

// Hides the better backends to get each kind of sandbox. Checks each kind's results, caps and output.
import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, inject, vi } from "vitest";
import { createSandbox } from "./create-sandbox.ts";
import { containing, everyKind, runLine, sandboxTest as test } from "./sandbox.fixture.ts";

for (const kind of everyKind) {
  test(`${kind} is found, and reports whether it contains commands`, async ({ sandboxOf }) => {
    const sandbox = await sandboxOf(kind);
    expect(sandbox.kind).toBe(kind);
    expect(sandbox.contains).toBe(kind !== "process-group");
    expect(sandbox.detail).toContain("4096 MB");
    expect(sandbox.fix === null).toBe(sandbox.contains);
  });

  test(`${kind}: a command reads the given input, or an empty one`, async ({ run }) => {
    expect((await run(kind, "cat; read x || echo end")).stdout).toBe("end\n");
    expect((await run(kind, "cat", { input: "given" })).stdout).toBe("given");
    expect(await run(kind, "exit 3", { input: "x".repeat(2_000_000) })).toMatchObject({ code: 3 });
  });

  test(`${kind}: the result has the end of the command`, async ({ run, workspace }) => {
    expect(await run(kind, "echo out; echo err >&2; exit 7")).toMatchObject({ code: 7, signal: null, stdout: "out\n" });
    expect(await run(kind, "kill -9 $$")).toMatchObject({ code: null, signal: "SIGKILL", output: "" });
    expect(await run(kind, "kill -15 $$")).toMatchObject({ code: null, signal: "SIGTERM", output: "" });
    expect(await run(kind, "exit 129")).toMatchObject({ code: 129, signal: null });
    await mkdir(join(workspace, "sub"));
    expect((await run(kind, "pwd", { folder: "sub" })).stdout).toBe(`${workspace}/sub\n`);
    await expect(run(kind, "", { argv: ["no-such-program"] })).rejects.toThrow(/could not be started: ENOENT/);
    await expect(run(kind, "", { workspace: join(workspace, "gone") })).rejects.toThrow(/could not be started/);
    expect(await run(kind, "touch made", { signal: AbortSignal.abort() })).toMatchObject({ reason: "aborted" });
  });

  test(`${kind}: memory is capped`, async ({ sandboxOf, workspace }) => {
    const sandbox = await sandboxOf(kind, { memoryMb: 64 });
    const greedy = ["/bin/sh", "-c", "head -c 300000000 /dev/zero | tail -c 299999999 | wc -c"];
    const end = await runLine(sandbox, workspace, "", { argv: greedy });
    expect(end.stdout).not.toBe("299999999\n");
    expect(end.output).toMatch(/memory/);
  });

  test(`${kind}: no core is dumped, and CPU time is limited`, async ({ run }) => {
    expect((await run(kind, "ulimit -H -c; ulimit -H -t")).stdout).toBe("0\n3600\n");
  });

  test(`${kind}: a flood of output is truncated to its beginning and end, and uses little memory`, async ({
    sandboxOf,
    workspace,
  }) => {
    const sandbox = await sandboxOf(kind);
    // The tests of the shell tool show in the normal run that memory stays small: the same code reads the output of all.
    const floodBytes = inject("long") ? 300_000_000 : 5_000_000;
    const rssBefore = process.memoryUsage().rss;
    const flood = `echo first; head -c ${floodBytes} /dev/zero; echo; echo last`;
    const end = await runLine(sandbox, workspace, flood);

    expect(end.output.length).toBeLessThan(1024 * 1024 + 100);
    expect(end.output).toMatch(/^first\n\0\0/);
    expect(end.output).toMatch(/\0\nlast\n$/);
    expect(end.droppedBytes).toBe(floodBytes + 12 - 1024 * 1024);
    expect(process.memoryUsage().rss - rssBefore).toBeLessThan(200 * 1024 * 1024);
  });

  // In the normal run, the tests of the shell tool do it in the best sandbox.
  if (!inject("long") && kind !== "process-group") continue;
  test(`${kind}: a flood without end stops at the time limit`, async ({ run }) => {
    const end = await run(kind, "cat /dev/zero", { timeoutMs: 200 });
    expect(end.reason).toBe("timeout");
    expect(end.stdout.length).toBeLessThan(1024 * 1024 + 100);
  });
}

describe("a policy", () => {
  test("that requires a sandbox refuses every command on a machine without one", async ({ sandboxOf, workspace }) => {
    const sandbox = await sandboxOf("process-group", { mode: "required" });
    expect(sandbox).toMatchObject({ kind: "none", contains: false, fix: expect.stringContaining("bubblewrap") });
    await expect(runLine(sandbox, workspace, "true")).rejects.toThrow(/requires a sandbox/);
  });

  test("that turns sandboxes off has none, and no advice to install one", async ({ sandboxOf, workspace }) => {
    const sandbox = await sandboxOf("namespaces", { mode: "off" });
    expect(sandbox).toMatchObject({ kind: "process-group", contains: false, fix: null });
    expect((await runLine(sandbox, workspace, "echo x")).stdout).toBe("x\n");
  });

  for (const kind of containing) {
    test(`${kind}: shows its readable files`, async ({ sandboxOf, workspace, folder }) => {
      await writeFile(join(folder, "shown"), "shown");
      const sandbox = await sandboxOf(kind, { readable: [join(folder, "shown")] });
      const end = await runLine(sandbox, workspace, `cat ${folder}/shown; echo x > ${folder}/shown`);
      expect(end.stdout).toBe("shown");
      expect(end.output).toContain("Read-only file system");
    });
  }
});

test("a bubblewrap that does not work on this machine is skipped, with the reason", async ({
  folder,
  programs,
  sandboxOf,
  workspace,
}) => {
  await sandboxOf("namespaces");
  const help = "[ \"$1\" = --help ] && echo '--bind-fd --ro-bind-fd' && exit 0";
  await writeFile(
    join(folder, "bwrap"),
    `#!/bin/sh\n${help}\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n`,
  );
  await chmod(join(folder, "bwrap"), 0o755);
  expect((await createSandbox({ path: `${folder}:${join(programs, "namespaces")}` })).kind).toBe("namespaces");
  const bare = await createSandbox({ path: folder });
  expect(bare.kind).toBe("process-group");
  expect(bare.detail).toContain("No permissions to create new namespace");
  expect((await runLine(bare, workspace, "echo x")).stdout).toBe("x\n");
});

test.runIf(containing.includes("bubblewrap"))(
  "bubblewrap passes no descriptor on to a command, and one that cannot bind descriptors is not used",
  async ({ folder, programs, sandboxOf, workspace }) => {
    await mkdir(join(workspace, "sub"));
    const line = "ls -l /proc/self/fd | grep -c -E '/(workspace|sub)$'; touch sub/made; ls sub";
    expect((await runLine(await sandboxOf("bubblewrap"), workspace, line)).stdout).toBe("0\nmade\n");
    const real = join(programs, "bubblewrap", "bwrap");
    await writeFile(join(folder, "bwrap"), `#!/bin/sh\n[ "$1" = --help ] && exit 0\nexec ${real} "$@"\n`);
    await chmod(join(folder, "bwrap"), 0o755);
    const old = await createSandbox({ path: folder });
    expect(old).toMatchObject({ kind: "process-group", contains: false });
    expect(old.detail).toContain("this bwrap has no --bind-fd");
  },
);

test("the whole file system cannot be a workspace", async ({ run, folder }) => {
  await symlink("/", join(folder, "all"));
  for (const kind of containing) {
    await expect(run(kind, "true", { workspace: join(folder, "all") })).rejects.toThrow(/whole file system/);
  }
});

test("process-group: the environment is clean, and the home is not the user's", async ({ run }) => {
  vi.stubEnv("ANTHROPIC_API_KEY", "sk-canary");
  const end = await run("process-group", "env; ls -A $HOME; touch $HOME/a $TMPDIR/b");
  vi.unstubAllEnvs();
  expect(end.code).toBe(0);
  expect(end.output).not.toContain("sk-canary");
  expect(end.output).not.toContain(`HOME=${process.env.HOME}\n`);
});

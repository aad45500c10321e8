/**
 * `troupe undo` end to end: the real command line, a daemon or none, the file tools of a scripted agent. The workspace is
 * then the same as before the run, to the byte and to the permission bit.
 */
import { existsSync } from "node:fs";
import { chmod, lstat, mkdir, readdir, readFile, readlink, rm, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it, type TestContext } from "vitest";
import { troupe } from "../harness/cli.ts";
import { startDaemon, startDaemonInProcess, type TestDaemon } from "../harness/daemon.ts";
import { writePolicy } from "../harness/home-files.ts";
import { type Agents, writeScenario } from "../harness/scenario-file.ts";
import { delegate, shell } from "../harness/scripted-calls.ts";
import { responseOf } from "../harness/session-queries.ts";
import { tempFolder } from "../harness/temp-folder.ts";

type Test = Pick<TestContext, "onTestFinished" | "expect">;

const read = (file: string) => ({ tool: "read", args: { path: file } });
const write = (file: string, content: string) => ({ tool: "write", args: { path: file, content } });
const edit = (file: string, old: string, to: string) => ({ tool: "edit", args: { path: file, old, new: to } });
const patch = (text: string) => ({ tool: "apply_patch", args: { patch: text } });

const deletion = "--- a/old.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-precious\n";

/** Edits, writes, creates in new folders, deletes and moves. A child changes a file too. */
const agents: Agents = {
  main: [
    {
      steps: [
        { calls: [read("a.txt"), read("old.txt"), read("run.sh"), read("private.txt")] },
        { calls: [edit("a.txt", "one", "two"), edit("run.sh", "hi", "ho")] },
        { calls: [write("deep/er/new.txt", "new\n"), write("b.txt", "b\n")] },
        { calls: [patch(deletion), edit("a.txt", "two", "three")] },
        { calls: [patch("--- a/private.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-mine\n")] },
        { calls: [delegate("coder", "change it too")] },
        { text: "done" },
      ],
    },
  ],
  coder: [{ steps: [{ calls: [read("a.txt")] }, { calls: [edit("a.txt", "three", "four")] }, { text: "changed" }] }],
};

async function prepare(test: Test) {
  const home = await tempFolder("undo", test);
  const workspace = await tempFolder("undo-work", test);
  await writeFile(path.join(workspace, "a.txt"), "one\n");
  await writeFile(path.join(workspace, "old.txt"), "precious\n");
  await writeFile(path.join(workspace, "run.sh"), "#!/bin/sh\necho hi\n");
  await chmod(path.join(workspace, "run.sh"), 0o755);
  await writeFile(path.join(workspace, "private.txt"), "mine\n");
  await chmod(path.join(workspace, "private.txt"), 0o600);
  await mkdir(path.join(workspace, "empty"));
  await symlink("a.txt", path.join(workspace, "link"));
  const scenario = await writeScenario(home, agents);
  return { home, workspace, scenario, before: await treeOf(workspace) };
}

/** Every entry of a folder, with its bits and its content. */
async function treeOf(folder: string): Promise<Record<string, string>> {
  const names = (await readdir(folder, { recursive: true })).sort();
  const entries = names.map(async (name): Promise<[string, string]> => {
    const at = path.join(folder, name);
    const stats = await lstat(at);
    const mode = (stats.mode & 0o777).toString(8);
    if (stats.isSymbolicLink()) return [name, `link ${await readlink(at)}`];
    return [name, stats.isDirectory() ? "folder" : `${mode} ${await readFile(at, "utf8")}`];
  });
  return Object.fromEntries(await Promise.all(entries));
}

async function play(
  daemon: Pick<TestDaemon, "client">,
  { workspace, scenario }: { workspace: string; scenario: string },
) {
  const submitted = await daemon.client.submit({ task: "change", scenario, workspace, origin: "api" });
  await responseOf(daemon, submitted.session);
  return submitted;
}

describe("troupe undo", () => {
  it("restores the workspace to the byte, and takes the undo back, with and without a daemon", async (test) => {
    const { expect } = test;
    const { home, workspace, scenario, before } = await prepare(test);
    const daemon = await startDaemonInProcess({ home, test });
    const { session, run } = await play(daemon, { workspace, scenario });
    const after = await treeOf(workspace);
    expect(after["a.txt"]).toBe("644 four\n");
    expect(after["old.txt"]).toBeUndefined();
    expect(after["deep/er/new.txt"]).toBe("644 new\n");

    const listed = await troupe(["undo", run, "--dry-run"], { home });
    expect(listed).toMatchObject({ code: 0, stderr: "" });
    expect(listed.stdout).toMatch(/a\.txt +restore/);
    expect(listed.stdout).toMatch(/deep\/er\/new\.txt +delete/);
    expect(await treeOf(workspace)).toEqual(after);

    const unconfirmed = await troupe(["undo", run.slice(0, -1)], { home });
    expect(unconfirmed.code).toBe(8);
    expect(unconfirmed.stderr).toContain(`troupe undo ${run} --yes`);
    expect(await treeOf(workspace)).toEqual(after);

    const undone = await troupe(["undo", session, "--yes"], { home });
    expect(undone.stdout).toContain("undone: 4 restored, 2 deleted, 0 left");
    expect(undone.code).toBe(0);
    expect(await treeOf(workspace)).toEqual(before);

    const shown = await troupe(["sessions", "show", session], { home });
    expect(shown.stdout).toContain(`undo of run ${run}`);
    expect(shown.stdout).toContain("created  old.txt");
    const record = JSON.parse((await troupe(["sessions", "show", session, "--json"], { home })).stdout);
    expect(record.flaws).toBeUndefined();
    expect(record.changes.map(({ path: of, kind }: Record<string, string>) => `${kind} ${of}`).sort()).toEqual([
      "created b.txt",
      "created deep/er/new.txt",
      "deleted old.txt",
      "deleted private.txt",
      "modified a.txt",
      "modified a.txt",
      "modified a.txt",
      "modified run.sh",
    ]);
    const again = await troupe(["undo", run, "--yes"], { home });
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining("nothing to undo") });
    await daemon.stop();

    const redone = await troupe(["undo", run, "--redo", "--yes", "--json"], { home });
    expect(redone.code).toBe(0);
    expect(JSON.parse(redone.stdout)).toMatchObject({ outcome: "done", run });
    expect(await treeOf(workspace)).toEqual(after);
    expect((await troupe(["undo", run, "--yes"], { home })).code).toBe(0);
    expect(await treeOf(workspace)).toEqual(before);
    expect((await troupe(["sessions", "replay", session], { home })).code).toBe(0);
  });

  it.for([
    { what: "cancelled", stop: "cancel" as const },
    { what: "ended by its time limit", stop: "limit" as const },
  ])("takes back the changes of a command that was $what", async ({ stop }, test) => {
    const { expect } = test;
    const { home, workspace, before } = await prepare(test);
    await writePolicy(home, "risk: {high: allow}\ncommands: {loss: allow}\n");
    const command = "rm -rf *.txt; echo new > made.md; touch begun; exec sleep 300";
    const scenario = await writeScenario(home, {
      coder: [{ steps: [{ calls: [shell(command)] }, { text: "never" }] }],
    });
    const daemon = await startDaemonInProcess({ home, test });
    const limits = stop === "limit" ? { limits: { maxDurationMs: 4_000 } } : {};
    const submitted = { task: "tidy", agent: "coder", scenario, workspace, origin: "api", ...limits } as const;
    const { session, run } = await daemon.client.submit(submitted);
    await expect.poll(() => existsSync(path.join(workspace, "begun"))).toBe(true);
    if (stop === "cancel") expect((await troupe(["cancel", session], { home })).code).toBe(0);
    expect((await responseOf(daemon, session)).status).toBe(stop === "cancel" ? "cancelled" : "timeout");

    const shown = await troupe(["sessions", "show", session, "--diff"], { home });
    expect(shown.stdout).toContain("-precious");
    const undone = await troupe(["undo", run, "--yes"], { home });
    expect(undone.stdout).toContain("undone: 3 restored, 2 deleted, 0 left");
    expect(undone.stdout).not.toContain("it is unknown");
    expect(await treeOf(workspace)).toEqual(before);
    await daemon.stop();
    expect((await troupe(["sessions", "replay", session], { home })).code).toBe(0);
  });

  it("undoes from a step on, and only the named paths", async (test) => {
    const { expect } = test;
    const { home, workspace, scenario, before } = await prepare(test);
    const daemon = await startDaemonInProcess({ home, test });
    const { run } = await play(daemon, { workspace, scenario });
    expect((await troupe(["undo", run, "--step", "4", "--yes"], { home })).code).toBe(0);
    const partly = await treeOf(workspace);
    expect(partly["a.txt"]).toBe("644 two\n");
    expect(partly["old.txt"]).toBe("644 precious\n");
    expect(partly["b.txt"]).toBe("644 b\n");
    expect((await troupe(["undo", run, "--path", "deep", "--yes"], { home })).code).toBe(0);
    expect(Object.keys(await treeOf(workspace))).not.toContain("deep");
    expect((await troupe(["undo", run, "--yes"], { home })).code).toBe(0);
    expect(await treeOf(workspace)).toEqual(before);
  });

  it("refuses the whole undo for a file that was changed since, unless it may be partial", async (test) => {
    const { expect } = test;
    const { home, workspace, scenario, before } = await prepare(test);
    const daemon = await startDaemonInProcess({ home, test });
    const { run } = await play(daemon, { workspace, scenario });
    await writeFile(path.join(workspace, "b.txt"), "by a person\n");
    const after = await treeOf(workspace);
    const refused = await troupe(["undo", run, "--yes"], { home });
    expect(refused.code).toBe(1);
    expect(refused.stdout).toMatch(/b\.txt +conflict +a person or another program changed it since/);
    expect(refused.stderr).toContain(`troupe undo ${run} --partial`);
    expect(await treeOf(workspace)).toEqual(after);

    const partial = await troupe(["undo", run, "--partial", "--yes"], { home });
    expect(partial.code).toBe(1);
    expect(partial.stderr).toContain("not restored: b.txt");
    expect(await treeOf(workspace)).toEqual({ ...before, "b.txt": "644 by a person\n" });
  });

  it("is finished by another undo after a kill in the middle", async (test) => {
    const { expect } = test;
    const { home, workspace, scenario, before } = await prepare(test);
    const daemon = await startDaemonInProcess({ home, test });
    const { session, run } = await play(daemon, { workspace, scenario });
    await daemon.stop();
    const killed = await startDaemon({ home, test, env: { TROUPE_TEST_FAILPOINT: "effect:after#3" } });
    const lost = killed.client.undo(run, { dryRun: false, partial: false, redo: false, by: "Ada" }).catch(() => "lost");
    expect((await killed.ended).signal).toBe("SIGKILL");
    expect(await lost).toBe("lost");
    expect(await treeOf(workspace)).not.toEqual(before);

    const shown = await troupe(["sessions", "show", session], { home });
    expect(shown.stdout).toContain("not finished");
    const finished = await troupe(["undo", run, "--yes"], { home });
    expect(finished.code).toBe(0);
    expect(await treeOf(workspace)).toEqual(before);
    expect((await troupe(["sessions", "show", session], { home })).stdout).not.toContain("not finished");
  });

  it("refuses runs that still work, other folders and unknown ids", async (test) => {
    const { expect } = test;
    const { home, workspace, scenario } = await prepare(test);
    const daemon = await startDaemonInProcess({ home, test });
    const slow = await writeScenario(home, { main: [{ steps: [{ text: "late", latencyMs: 600_000 }] }] }, "slow");
    const { run } = await daemon.client.submit({ task: "wait", scenario: slow, workspace, origin: "api" });
    const working = await troupe(["undo", run, "--yes"], { home });
    expect(working.code).toBe(1);
    expect(working.stderr).toContain(`troupe cancel ${run}`);
    await daemon.client.cancel(run, "enough").catch(() => daemon.client.cancelRun(run, "enough"));

    expect((await troupe(["undo", "0000ffff", "--yes"], { home })).code).toBe(2);
    expect((await troupe(["undo", run, "--step", "x"], { home })).code).toBe(2);
    const gone = await play(daemon, { workspace, scenario });
    await rm(workspace, { recursive: true });
    const missing = await troupe(["undo", gone.run, "--yes"], { home });
    expect(missing.code).toBe(1);
    expect(missing.stderr).toContain("does not exist on this machine");
  });
});

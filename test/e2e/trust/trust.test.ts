/**
 * S10: a repository that tries to start programs, contact servers and write files in every possible way. Nothing
 * happens until its owner trusts it. Then its configuration counts until one byte changes.
 */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect as anywhere, describe, it, type TestContext } from "vitest";
import { troupe } from "../../harness/cli.ts";
import { startDaemonInProcess } from "../../harness/daemon.ts";
import { startModelServer } from "../../harness/model-server/start-model-server.ts";
import { tempFolder } from "../../harness/temp-folder.ts";
import { describeAtTerminal, startInTerminal } from "../../harness/terminal.ts";
import { until } from "../../harness/until.ts";
import { createHostileRepository, type HostileRepository } from "./hostile-repository.ts";

const ofTheUser = "gpt-4o";
const ofTheProject = "gpt-4.1";

const answering = { agents: { main: [{ steps: [{ text: "done" }] }] } };

/** A user with a model, who has just cloned the repository. */
async function createFixture(test: Pick<TestContext, "onTestFinished">) {
  const repository = await createHostileRepository(test);
  const server = await startModelServer({ scenario: answering });
  test.onTestFinished(() => server.close());
  const home = await tempFolder("trust", test);
  const config = path.join(home, "config.yaml");
  await writeFile(config, "model: openai/gpt-4o");
  const env = { TROUPE_CONFIG: config, OPENAI_BASE_URL: server.openaiUrl };
  const options = { home, cwd: repository.folder, env };
  const run = (...args: string[]) => troupe(args, options);
  /** For a command that leaves the work to a daemon. */
  const runAttached = (...args: string[]) => troupe(args, { ...options, ownProcess: false });
  const models = () => server.calls().flatMap(({ body }) => (body as { model: string } | null)?.model ?? []);
  return { repository, server, home, env, run, runAttached, models };
}

async function isUntouched(repository: HostileRepository, before: Record<string, string>): Promise<void> {
  anywhere(await repository.started()).toEqual([]);
  anywhere(repository.connections()).toBe(0);
  anywhere(await repository.contents()).toEqual(before);
}

describe.concurrent("a hostile repository", { timeout: 120_000 }, () => {
  it("starts, asks and writes nothing, under any command in it", async ({ expect, onTestFinished }) => {
    const { repository, run, models } = await createFixture({ onTestFinished });
    const before = await repository.contents();
    const commands: [string[], number][] = [
      [["agents", "ls"], 0],
      [["agents", "show", "helper"], 0],
      [["agents", "validate", ".troupe/agents", ".claude/agents"], 0],
      [["config", "list", "--show-origin"], 0],
      [["config", "get", "model"], 0],
      [["config", "path"], 0],
      [["models", "ls"], 0],
      [["doctor"], 0],
      [["sessions", "ls"], 0],
      [["trust"], 8],
      [["trust", "--json"], 8],
      [["trust", "ls"], 0],
    ];
    for (const [args, code] of commands) {
      const ran = await run(...args);
      expect({ args, code: ran.code, err: ran.code === code ? "" : ran.stderr }).toEqual({ args, code, err: "" });
      await isUntouched(repository, before);
    }
    for (const agent of ["main", "helper", "script"]) {
      const ran = await run("run", "do it", "--agent", agent);
      expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: "done\n" });
      expect(ran.stderr).toContain("this project has .troupe/config.yaml, .troupe/tools/evil.mjs");
      await isUntouched(repository, before);
    }
    // The project's model has no configured provider.
    expect((await run("run", "do it", "--agent", "claude")).code).toBe(6);
    await isUntouched(repository, before);
    expect(new Set(models())).toEqual(new Set([ofTheUser]));
  });

  it("nor if only the demo could answer", async ({ expect, onTestFinished }) => {
    const repository = await createHostileRepository({ onTestFinished });
    const home = await tempFolder("trust-demo", { onTestFinished });
    const before = await repository.contents();
    const args = ["run", "do it", "--agent", "script", "--workspace", repository.folder];
    expect((await troupe(args, { home, cwd: repository.folder })).stderr).toContain("not trusted");
    await isUntouched(repository, before);
  });

  it("nor for a daemon that works in it, which logs it once", async ({ expect, onTestFinished }) => {
    const { repository, home, env, runAttached, models } = await createFixture({ onTestFinished });
    const before = await repository.contents();
    const daemon = await startDaemonInProcess({ home, env, test: { onTestFinished } });
    for (const task of ["one", "two"]) {
      const ran = await runAttached("run", task);
      expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: "done\n" });
    }
    await isUntouched(repository, before);
    expect(models()).toEqual([ofTheUser, ofTheUser]);
    await daemon.stop();
    const logged = await logOf(home);
    expect(logged.filter((line) => line.includes(": ignored"))).toHaveLength(1);
  });

  it("applies as its owner accepts: accepted settings apply, and no others", async ({ expect, onTestFinished }) => {
    const { repository, home, env, run, runAttached, models } = await createFixture({ onTestFinished });
    const daemon = await startDaemonInProcess({ home, env, test: { onTestFinished } });
    const asked = async (): Promise<string | undefined> => {
      expect(await runAttached("run", "do it")).toMatchObject({ code: 0 });
      return models().at(-1);
    };
    /** A daemon shares one inspection between runs that start within 200 ms. */
    const soonUses = (model: string) => until(async () => (await asked()) === model);
    expect(await asked()).toBe(ofTheUser);
    expect(await run("trust", "--yes")).toMatchObject({ code: 0 });
    await soonUses(ofTheProject);
    expect((await run("config", "list", "--show-origin")).stdout).toMatch(/model +openai\/gpt-4\.1 +project/);
    // Where a key would go to is never a project's to say, and its tools are all that is run of it.
    expect(repository.connections()).toBe(0);
    expect(await repository.started()).toEqual(["tool"]);

    await repository.write(".troupe/hooks/session-start", "#!/bin/sh\n");
    await soonUses(ofTheUser);
    const doctor = await run("doctor");
    expect(doctor.stdout).toContain("it changed since you trusted it: changed .troupe/hooks/session-start");
    expect((await run("trust")).code).toBe(8);
    expect(await run("trust", "--yes")).toMatchObject({ code: 0 });
    await soonUses(ofTheProject);
    expect(await run("trust", "rm", ".")).toMatchObject({ code: 0 });
    await soonUses(ofTheUser);
    await daemon.stop();
  });
});

describeAtTerminal("a run at a terminal", () => {
  it("asks once whether to trust the files of the folder", async ({ expect, onTestFinished }) => {
    const { repository, home, env, models } = await createFixture({ onTestFinished });
    await mkdir(path.join(home, "user"), { recursive: true });
    const options = { home, cwd: repository.folder, env, test: { onTestFinished } };
    const first = startInTerminal(["run", "do it"], options);
    await first.waitForOutput(/this project has .*: trust\? \[y\/N\]/);
    expect(await repository.started()).toEqual([]);
    await first.answer("y");
    expect(await first.ended).toMatchObject({ code: 0 });
    const second = startInTerminal(["run", "do it"], options);
    expect(await second.ended).toMatchObject({ code: 0 });
    expect(second.stdout()).not.toContain("trust?");
    expect(models()).toEqual([ofTheProject, ofTheProject]);
  });
});

async function logOf(home: string): Promise<string[]> {
  const folder = path.join(home, "logs");
  const files = await Promise.all((await readdir(folder)).map((name) => readFile(path.join(folder, name), "utf8")));
  return files.flatMap((text) => text.split("\n"));
}

/**
 * A command that deletes what git does not have asks by the default policy, and an approval is for the files that the user
 * saw.
 */
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { readSessionFeed } from "@troupe/recorder";
import { describe, it, type TestContext } from "vitest";
import { troupe } from "../harness/cli.ts";
import { startDaemonInProcess } from "../harness/daemon.ts";
import { expectReplayable } from "../harness/expect-replayable.ts";
import { askBeforeShell, writePolicy } from "../harness/home-files.ts";
import { writeSampleRepository } from "../harness/sample-repository.ts";
import { writeScenario } from "../harness/scenario-file.ts";
import { shell } from "../harness/scripted-calls.ts";
import { questionFor, responseOf } from "../harness/session-queries.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";

type Test = Pick<TestContext, "onTestFinished" | "expect">;

/** A session with one command in a repository with two untracked files. */
async function startSession(test: Test, command: string, policy?: string) {
  const home = await tempFolder("losses", test);
  const workspace = await tempFolder("losses-workspace", test);
  await writeSampleRepository(workspace);
  await mkdir(path.join(workspace, "drafts"));
  for (const name of ["one.md", "two.md"]) await writeFile(path.join(workspace, "drafts", name), name);
  await writeFile(path.join(workspace, "build.sh"), "echo built > built.txt\n");
  if (policy !== undefined) await writePolicy(home, policy);
  const agents = { main: [{ steps: [{ calls: [shell(command)] }, { text: "{{result.0.output}}" }] }] };
  const scenario = await writeScenario(home, agents, "losses");
  const daemon = await startDaemonInProcess({ home, test });
  const { session } = await daemon.client.submit({ task: "go", scenario, workspace, origin: "api" });
  return { home, workspace, daemon, session };
}

describe("a command that deletes untracked files, by the default policy", () => {
  for (const [answer, stillExists] of [
    ["deny", true],
    ["approve", false],
  ] as const) {
    it(`asks with their names: ${answer}`, async (test) => {
      const { expect } = test;
      const { home, workspace, daemon, session } = await startSession(test, "rm -rf drafts");
      const asked = await questionFor(daemon, session, "rm -rf drafts");
      expect(asked).toMatchObject({ losses: { count: 2, bytes: 12 } });
      expect(asked.reason).toContain("drafts/one.md, drafts/two.md");
      const list = await troupe(["approvals", "ls"], { home });
      expect(list.stdout).toContain("lost, and not in git: 2 files");
      expect(list.stdout).toContain("drafts/two.md (6 bytes)");
      expect((await troupe(["approvals", answer, asked.id], { home })).code).toBe(0);
      await responseOf(daemon, session);
      expect(existsSync(path.join(workspace, "drafts/one.md"))).toBe(stillExists);
      await expectReplayable(await readSessionFeed({ file: path.join(home, "journal.db"), session }));
    });
  }
});

it("an approved script that has changed is asked about again, and runs only as it was shown", async (test) => {
  const { expect } = test;
  const { home, workspace, daemon, session } = await startSession(test, "sh build.sh", askBeforeShell);
  const first = await questionFor(daemon, session, "sh build.sh");
  await writeFile(path.join(workspace, "build.sh"), "echo stolen > stolen.txt\n");
  await daemon.client.answer(first.id, { approved: true });
  const second = await until(async () => {
    const { approvals } = await daemon.client.approvals({ limit: 100 });
    return approvals.find((row) => row.session === session && row.state === "waiting" && row.id !== first.id);
  });
  expect(second.reason).toBe("build.sh has changed since the approval");
  expect(existsSync(path.join(workspace, "stolen.txt"))).toBe(false);
  await writeFile(path.join(workspace, "build.sh"), "echo built > built.txt\n");
  await daemon.client.answer(second.id, { approved: true });
  // It is the content of the first question again, and needs a new answer all the same.
  const third = await until(async () => {
    const { approvals } = await daemon.client.approvals({ limit: 100 });
    return approvals.find((row) => row.session === session && ![first.id, second.id].includes(row.id));
  });
  expect((await troupe(["approvals", "approve", third.id], { home })).code).toBe(0);
  await responseOf(daemon, session);
  expect(existsSync(path.join(workspace, "built.txt"))).toBe(true);
  expect(existsSync(path.join(workspace, "stolen.txt"))).toBe(false);
  await expectReplayable(await readSessionFeed({ file: path.join(home, "journal.db"), session }));
});

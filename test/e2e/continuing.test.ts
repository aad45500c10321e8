/** Sessions of several turns, by the commands that people type; and a daemon that is killed in the middle of a turn. */
import path from "node:path";
import { RunResponse } from "@troupe/core";
import { readSessionFeed } from "@troupe/recorder";
import { describe, expect, it } from "vitest";
import { troupe } from "../harness/cli.ts";
import { expectReplayable } from "../harness/expect-replayable.ts";
import { chainProblems, readJournalFile } from "../harness/journal-file.ts";
import { repeatedKeys } from "../harness/ledger.ts";
import { outcomesIn } from "../harness/outcomes.ts";
import { type Agents, writeScenario } from "../harness/scenario-file.ts";
import { startKillableScriptedDaemon } from "../harness/scripted-daemon.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";

const agents: Agents = {
  main: [
    {
      when: { continued: true, task: "slowly" },
      steps: [
        { calls: [{ tool: "write", args: { path: "second.md", content: "twice" } }] },
        { latencyMs: 1_500, text: "Written, slowly." },
      ],
    },
    { when: { continued: true }, steps: [{ text: "As before, and {{task}}." }] },
    { steps: [{ calls: [{ tool: "write", args: { path: "first.md", content: "once" } }] }, { text: "Written." }] },
  ],
};

describe.concurrent("troupe run --continue and --resume", () => {
  it("continue a session in its folder; the answer is that of the turn", async (test) => {
    const { expect } = test;
    const home = await tempFolder("continue", test);
    const folder = await tempFolder("continue-work", test);
    const env = { TROUPE_MODEL: `scripted/${await writeScenario(home, agents)}` };
    const ask = (...args: string[]) => troupe(["run", ...args], { home, cwd: folder, env });
    const first = await ask("--json", "--workspace", folder, "write it");
    const { sessionId: session, runId } = RunResponse.parse(JSON.parse(first.stdout));

    const second = await ask("--json", "--continue", "say more");
    expect(second.stderr).toContain(`continuing session ${session}: write it`);
    const answer = RunResponse.parse(JSON.parse(second.stdout));
    expect(answer).toMatchObject({ sessionId: session, details: "As before, and say more." });
    expect(answer.runId).not.toBe(runId);

    const third = await ask("--resume", session.slice(0, 8), "and more");
    expect([third.code, third.stdout]).toEqual([0, "As before, and and more.\n"]);
    const shown = await troupe(["sessions", "show", session, "--json"], { home });
    expect(JSON.parse(shown.stdout)).toMatchObject({
      session: { turns: 3, task: "write it", status: "completed", workspace: folder },
      runs: [{ order: 0, run: runId }, { order: 1, run: answer.runId }, { order: 2 }],
      response: { details: "As before, and and more." },
    });
    const tree = await troupe(["sessions", "show", session, "--tree"], { home });
    expect(tree.stdout).toMatch(/write it.*say more.*and more/s);

    const again = await troupe(["sessions", "replay", session.slice(0, 8)], { home });
    expect([again.code, again.stdout]).toEqual([0, "same: 3 turns, 3 runs, 4 model calls, 1 tool call\n"]);

    const elsewhere = await ask("--resume", session, "--workspace", home, "not here");
    expect(elsewhere).toMatchObject({ code: 2, stdout: "" });
    expect(elsewhere.stderr).toContain(folder);
  });
});

it("a daemon killed in the middle of a turn continues it, with the whole conversation", {
  timeout: 180_000,
}, async (test) => {
  const daemon = await startKillableScriptedDaemon({ test, agents });
  const file = path.join(daemon.home, "journal.db");
  const { session } = await daemon.client.submit({ task: "write it", origin: "api" });
  await until(async () => (await daemon.client.response(session).catch(() => null))?.success);
  const { run } = await daemon.client.submit({ task: "slowly", continues: session, origin: "api" });
  await until(() =>
    readJournalFile(file)
      .get(run)
      ?.some(({ entry }) => entry.kind === "tool.finished"),
  );
  await daemon.kill();

  const second = await daemon.startAgain();
  const response = await until(async () => {
    const found = await second.client.response(session).catch(() => null);
    return found?.runId === run && found;
  });
  expect(response).toMatchObject({ status: "completed", details: "Written, slowly.", filesCreated: ["second.md"] });
  expect((await second.client.session(session))?.session).toMatchObject({
    turns: 2,
    rootRun: run,
    status: "completed",
  });
  await second.stop();

  const journal = readJournalFile(file);
  for (const entries of journal.values()) expect(chainProblems(entries)).toEqual([]);
  expect(repeatedKeys(outcomesIn(journal))).toEqual([]);
  const entries = journal.get(run)?.map(({ entry }) => entry) ?? [];
  expect(entries.map(({ kind }) => kind)).toContain("run.claimed");
  const [opened] = entries;
  if (opened?.kind !== "run.opened") throw new Error("not opened");
  expect(opened.pin.history.map(({ role, text }) => [role, text])).toEqual([
    ["user", "write it"],
    ["assistant", ""],
    ["tool", expect.stringContaining("first.md")],
    ["assistant", "Written."],
  ]);
  await expectReplayable(await readSessionFeed({ file, session }));
});

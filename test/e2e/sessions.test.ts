/** Tests commands for existing sessions, with and without a daemon. */
import { existsSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import path from "node:path";
import { RunResponse, SessionDetail, SessionRow } from "@troupe/core";
import { CancelOutcome } from "@troupe/core/internal";
import { openRecord } from "@troupe/recorder";
import { describe, it } from "vitest";
import { z } from "zod";
import { troupe } from "../harness/cli.ts";
import { startInProcess } from "../harness/cli-in-process.ts";
import { startDaemon, startDaemonInProcess } from "../harness/daemon.ts";
import { writeFastDemo } from "../harness/fast-demo.ts";
import { findProcesses, newMark } from "../harness/find-processes.ts";
import { readJournalFile } from "../harness/journal-file.ts";
import { saying, writeScenario } from "../harness/scenario-file.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";

describe.concurrent("troupe cancel", () => {
  it("ends the whole tree, with every process of its tools, and a second one changes nothing", async ({
    expect,
    onTestFinished,
  }) => {
    const test = { onTestFinished };
    const home = await tempFolder("cancel", test);
    // The shell leaves one in the background, says so, and waits for ever.
    const mark = newMark();
    const command = `sleep ${mark} & touch asleep; wait`;
    const delegate = (task: string) => ({ tool: "delegate", args: { agent: "coder", task } });
    const scenario = await writeScenario(home, {
      main: [{ steps: [{ calls: [delegate("run"), delegate("think")] }] }],
      coder: [
        { when: { task: "run" }, steps: [{ calls: [{ tool: "shell", args: { command } }] }] },
        { when: { task: "think" }, steps: [{ text: "never said", latencyMs: 600_000 }] },
      ],
    });
    const daemon = await startDaemonInProcess({ home, test });
    const run = startInProcess(["run", "work", "--scenario", scenario], { home });
    const [, session = "", folder = ""] = await run.waitForOutput(/session (\S+) {2}in (.+)\n/);
    await until(() => existsSync(path.join(folder, "asleep")));
    expect((await findProcesses(mark)).length).toBeGreaterThanOrEqual(2);
    await until(async () => (await daemon.client.session(session))?.runs[2]);

    const first = await troupe(["cancel", session.slice(0, 13)], { home });
    expect(first).toMatchObject({ code: 0, stdout: `cancelling ${session}\n` });
    expect(await run.ended).toMatchObject({ code: 6, stdout: "" });
    expect(run.stderr()).toContain("error: the run was cancelled");
    // They are told when the run is, and go while it settles.
    await until(async () => (await findProcesses(mark)).length === 0);
    const settled = await daemon.client.session(session);
    expect(settled?.session.status).toBe("cancelled");
    expect(settled?.runs.map(({ agent, exactStatus }) => `${agent} ${exactStatus}`)).toEqual([
      "main cancelled",
      "coder cancelled",
      "coder cancelled",
    ]);

    const again = await troupe(["cancel", session, "--json"], { home });
    expect(again.code).toBe(0);
    expect(CancelOutcome.parse(JSON.parse(again.stdout))).toEqual({ session, outcome: "settled", status: "cancelled" });
    expect(await daemon.client.session(session)).toEqual(settled);
    await daemon.stop();
    // Nothing was sent to it the second time, either.
    expect((await troupe(["cancel", session], { home })).stdout).toBe(`${session} has already settled: cancelled\n`);
    for (const entries of readJournalFile(path.join(home, "journal.db")).values()) {
      expect(entries.at(-1)?.entry.kind).toBe("run.settled");
    }
  });
});

describe.concurrent("troupe sessions", () => {
  it("prints the same with a daemon and without, for people and for programs", async ({ expect, onTestFinished }) => {
    const test = { onTestFinished };
    const home = await tempFolder("sessions", test);
    expect(await troupe(["sessions", "ls"], { home })).toMatchObject({ code: 0, stdout: "" });
    expect(await troupe(["sessions", "ls", "--json"], { home })).toMatchObject({ code: 0, stdout: "[]\n" });
    const older = await troupe(["run", "older", "--json", "--scenario", await writeScenario(home, saying("1st"))], {
      home,
    });
    const daemon = await startDaemonInProcess({ home, test });
    const demo = await troupe(["run", "newer", "--json", "--scenario", await writeFastDemo(home, 50)], { home });
    const { sessionId } = RunResponse.parse(JSON.parse(demo.stdout));

    const ask = async () => {
      const [list, show, tree, text] = await Promise.all([
        troupe(["sessions", "ls", "--json"], { home }),
        troupe(["sessions", "show", sessionId, "--json"], { home }),
        troupe(["sessions", "show", sessionId, "--tree"], { home }),
        troupe(["sessions", "ls"], { home }),
      ]);
      expect([list, show, tree, text].map(({ code }) => code)).toEqual([0, 0, 0, 0]);
      // Ages go on, and with them the width of their column; nothing else does.
      const table = text.stdout.replace(/ +\S+ (ms|s)$/gm, "").replace(/ +/g, " ");
      return { list: list.stdout, show: show.stdout, tree: tree.stdout, table };
    };
    const attached = await ask();
    await daemon.stop();
    const alone = await ask();
    expect(alone).toEqual(attached);

    const rows = z.array(SessionRow).parse(JSON.parse(alone.list));
    expect(rows.map(({ task, status }) => `${task} ${status}`)).toEqual(["newer completed", "older completed"]);
    expect(alone.table.split("\n")[1]).toMatch(/✓ completed main newer 6 /);
    const detail = SessionDetail.extend({ response: RunResponse }).parse(JSON.parse(alone.show));
    expect(detail.response).toEqual(JSON.parse(demo.stdout));
    expect(detail.runs).toHaveLength(6);
    const drawn = alone.tree.split("\n").filter((line) => /steps?/.test(line));
    expect(drawn.map((line) => /^[│├└─ ]*[✓✗] \w+ +\w+/.exec(line)?.[0].replace(/ +/g, " ")).sort()).toEqual(
      [
        "✓ main completed",
        "├─ ✓ researcher completed",
        "├─ ✗ researcher failed",
        "├─ ✓ coder completed",
        "│ └─ ✓ tester completed",
        "└─ ✓ researcher completed",
      ].sort(),
    );
    expect(alone.tree).toMatch(/attempt 2\/2/);
    expect(older.code).toBe(0);
  });

  it("shows how a session without an owner can continue, and stores a cancel for the next owner", async ({
    expect,
    onTestFinished,
  }) => {
    const test = { onTestFinished };
    const home = await tempFolder("orphan", test);
    const scenario = await writeScenario(home, saying("never said", 600_000));
    const daemon = await startDaemon({ home, test });
    const { session } = await daemon.client.submit({ task: "wait", scenario, origin: "api" });
    await until(async () => (await daemon.client.session(session).catch(() => null))?.session.status === "running");
    await daemon.kill();
    const list = await troupe(["sessions", "ls"], { home });
    expect(list.stdout).toMatch(/● running +main +wait/);
    expect(list.stderr).toContain("troupe up");
    const cancel = await troupe(["cancel", session], { home });
    expect(cancel).toMatchObject({ code: 0, stdout: `cancelling ${session}\n` });
    expect(cancel.stderr).toContain("takes effect with the next: troupe up");
    const next = await startDaemonInProcess({ home, test });
    await until(async () => (await next.client.session(session)).session.status === "cancelled");
  });
});

describe.concurrent("the record", () => {
  it("is rebuilt, equal, when its file was deleted while no daemon ran", async ({ expect, onTestFinished }) => {
    const test = { onTestFinished };
    const home = await tempFolder("rebuild", test);
    const failing = { main: [{ steps: [{ text: "x", error: { type: "model" as const, message: "no way in" } }] }] };
    const scenarios = [await writeFastDemo(home, 50), await writeScenario(home, failing)];
    const runs = await Promise.all(scenarios.map((scenario) => troupe(["run", "x", "--scenario", scenario], { home })));
    expect(
      runs.map(({ code }) => code),
      runs.map(({ stderr }) => stderr).join("\n"),
    ).toEqual([0, 6]);
    const before = await recorded(home);
    expect(before).toHaveLength(2);
    for (const name of await readdir(home)) {
      if (name.startsWith("troupe.db")) await rm(path.join(home, name));
    }
    expect((await troupe(["sessions", "ls"], { home })).stdout).toBe("");
    const daemon = await startDaemonInProcess({ home, test });
    await until(async () => {
      const { sessions } = await daemon.client.sessions({ limit: 9 });
      return sessions.length === 2 && sessions.every(({ completedAt }) => completedAt !== null);
    });
    await daemon.stop();
    expect(await recorded(home)).toEqual(before);
  });
});

/** All that the record can be asked, session by session. */
async function recorded(home: string) {
  const { reader, close } = await openRecord({ file: path.join(home, "troupe.db") });
  try {
    const sessions = await reader.sessions({ limit: 100 });
    return await Promise.all(
      sessions.map(async ({ session }) => {
        const detail = await reader.session(session);
        const entries = (detail?.runs ?? []).map(({ run }) => reader.entries(run, { from: 0, limit: 1_000 }));
        return { detail, response: await reader.response(session), entries: await Promise.all(entries) };
      }),
    );
  } finally {
    close();
  }
}

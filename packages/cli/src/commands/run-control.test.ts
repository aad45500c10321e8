import { existsSync } from "node:fs";
import { join } from "node:path";
import { isLocked } from "troupe/internal";
import { afterEach, describe, expect, test } from "vitest";
import { createFakeCli, removeTemporaryFolders } from "../testing/fake-cli.ts";
import { createOfflineCli } from "../testing/offline-troupe.ts";
import { newestSession, startOtherOwner } from "../testing/other-owner.ts";
import { aRun, aSession } from "../testing/rows.ts";

// cancel, steer, pause, resume: through the owner of the home, and offline in the home itself.

afterEach(removeTemporaryFolders);

const session = "0198a222-0000-7000-8000-000000000002";
const root = "0198a222-0000-7000-8000-000000000003";
const child = "5c5c5c5c-0000-8000-8000-000000000004";
const old = "0198a111-0000-7000-8000-000000000001";

function homeWithRunningSession() {
  const active = { status: "running", completedAt: null } as const;
  const row = aSession({ session, rootRun: root, ...active });
  const runs = [
    aRun({ run: root, session, ...active }),
    aRun({ run: child, session, parentRun: root, order: 1, agent: "coder", ...active }),
  ];
  const settled = aSession({ session: old, rootRun: "0198a111-0000-7000-8000-000000000009" });
  return createOfflineCli([
    { row: settled, runs: [aRun({ run: settled.rootRun, session: old })] },
    { row, runs },
  ]);
}

const offlineNote = "no daemon is running; this takes effect with the next: troupe up";

describe("without an owner a command is stored in the home, which is free afterwards:", () => {
  test.each([
    [["cancel", "5c5c"], `cancelling ${child}`, ["cancel: cancelled on the command line"]],
    [["steer", "5c5c", "mind the tests"], `steering ${child}`, ["steer: mind the tests (ada)"]],
    [["steer", session, " be brief "], `steering ${root}`, ["steer: be brief (ada)"]],
    [["pause", child], `pausing ${child}`, ["pause (ada)"]],
    [["pause", session.slice(0, 8)], `pausing ${root}`, ["pause (ada)"]],
    [["resume", "5C5C"], `resuming ${child}`, ["resume (ada)"]],
  ])("%j", async (args, line, commands) => {
    const { cli, troupe } = homeWithRunningSession();
    expect(await cli.run(...args)).toBe(0);
    expect(cli.out()).toBe(`${line}\n`);
    expect(cli.err()).toBe(`${offlineNote}\n`);
    expect(troupe.commands).toEqual(commands);
    expect(cli.composition.offlineCloses).toBe(1);
    expect(isLocked(join(cli.home.path, "lock.db"))).toBe(false);
  });

  test("cancel of a whole session", async () => {
    const { cli, troupe } = homeWithRunningSession();
    expect(await cli.run("cancel", "0198a222", "--json")).toBe(0);
    expect(JSON.parse(cli.out())).toEqual({ session, outcome: "requested", status: "running" });
    expect(cli.err()).toBe("");
    await troupe.idle();
  });

  test("a command that fails releases the home too", async () => {
    const { cli, troupe } = homeWithRunningSession();
    troupe.pause = async () => {
      throw new Error("no");
    };
    expect(await cli.run("pause", child)).toBe(1);
    expect(cli.composition.offlineCloses).toBe(1);
    expect(isLocked(join(cli.home.path, "lock.db"))).toBe(false);
  });
});

test("a settled session stays unchanged", async () => {
  const { cli, troupe } = homeWithRunningSession();
  expect(await cli.run("cancel", old)).toBe(0);
  expect(cli.out()).toBe(`${old} has already settled: completed\n`);
  expect(await cli.run("pause", old)).toBe(0);
  expect(cli.out()).toContain("0198a111-0000-7000-8000-000000000009 has already settled: completed");
  expect(cli.err()).toBe("");
  expect(troupe.commands).toEqual([]);
});

describe("with an owner a command takes effect at once:", () => {
  test.each([
    ["cancel", [], "cancel: cancelled on the command line"],
    ["steer", ["mind the tests"], "steer: mind the tests (a person)"],
    ["pause", [], "pause (a person)"],
    ["resume", [], "resume (a person)"],
  ])("%s", async (verb, more, command) => {
    const cli = createFakeCli();
    const { home, troupe } = await startOtherOwner(cli);
    await troupe.submit({ task: "wait", origin: "page" });
    const id = await newestSession(() => troupe);
    troupe.addRun(id, aRun({ run: child, session: id, order: 1, status: "running", completedAt: null }));
    expect(await cli.run(verb, "5c5c5c5c", ...more, "--json")).toBe(0);
    expect(JSON.parse(cli.out())).toEqual({ session: id, run: child, outcome: "requested", status: "running" });
    expect(cli.err()).toBe("");
    expect(troupe.commands).toEqual([command]);
    await home.release();
  });

  test("cancel of a session, by the beginning of its id", async () => {
    const cli = createFakeCli();
    const { home, troupe } = await startOtherOwner(cli);
    await troupe.submit({ task: "wait", origin: "page" });
    const id = await newestSession(() => troupe);
    expect(await cli.run("cancel", id.slice(0, 8))).toBe(0);
    expect(cli.out()).toBe(`cancelling ${id}\n`);
    await troupe.idle();
    await home.release();
  });
});

describe("an unknown or ambiguous id is refused with 2:", () => {
  test.each([
    [["cancel", "nobody"], /there is no session or run "nobody"/, /troupe sessions ls/],
    [["cancel", "11111111-0000-8000-8000-000000000001"], /there is no session or run "1{8}/, /troupe sessions ls/],
    [["cancel", "0198a"], /"0198a" matches 2 sessions or runs: 0198a/, /type more of the id/],
    [["steer", "99", "x"], /there is no run "99"/, /troupe sessions show SESSION --tree/],
    [["pause", ""], /there is no run ""/, /troupe sessions show/],
    [["pause", "not-an-id-but-of-the-same-length-as-1"], /there is no run/, /troupe sessions show/],
    [["steer", "5c5c", "  "], /the message " " is empty/, /troupe steer 5c5c "what to consider"/],
    [["steer", "5c5c", "mind", "the", "tests"], /too many arguments/, /troupe steer 5c5c "mind the tests"/],
    [["resume"], /missing required argument 'id'/, /troupe resume --help/],
  ])("%j", async (args, message, fix) => {
    const { cli, troupe } = homeWithRunningSession();
    expect(await cli.run(...args)).toBe(2);
    expect(cli.err()).toMatch(message);
    expect(cli.err().split("fix:")[1]).toMatch(fix);
    expect(troupe.commands).toEqual([]);
    expect(cli.composition.offlineCloses).toBe(0);
  });

  test("a missing home is not created", async () => {
    const cli = createFakeCli();
    expect(await cli.run("pause", child)).toBe(2);
    expect(existsSync(cli.home.path)).toBe(false);
  });
});

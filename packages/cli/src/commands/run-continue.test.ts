import { join } from "node:path";
import { homeFiles } from "troupe/internal";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createFakeCli, type FakeCli, removeTemporaryFolders, temporaryFolder } from "../testing/fake-cli.ts";
import { startOtherOwner } from "../testing/other-owner.ts";
import { aResponse, aSession } from "../testing/rows.ts";

// `troupe run --continue` and `--resume`: which session is meant, and that the answer is that of the new turn.

afterEach(removeTemporaryFolders);

const old = "0198a111-0000-7000-8000-000000000001";
const newer = "0198a222-0000-7000-8000-000000000002";
const elsewhere = "0198a333-0000-7000-8000-000000000003";

/** A daemon with three settled sessions, newest last: two of the caller's folder, one of another. */
async function withSessions(cli: FakeCli) {
  const { troupe } = await startOtherOwner(cli);
  const seed = (session: string, workspace: string) =>
    troupe.seed(
      aSession({ session, workspace, task: `task of ${session}` }),
      [],
      aResponse({ sessionId: session, details: "the old answer" }),
    );
  seed(old, cli.cwd);
  seed(newer, cli.cwd);
  seed(elsewhere, temporaryFolder());
  return troupe;
}

describe("--continue", () => {
  test("adds a turn to the newest session of this folder, names it, and prints that turn's answer", async () => {
    const cli = createFakeCli();
    const troupe = await withSessions(cli);
    expect(await cli.run("run", "--continue", "answer 43")).toBe(0);
    expect(cli.out()).toBe("43\n");
    expect(cli.err()).toContain(`continuing session ${newer}: task of ${newer}`);
    expect(troupe.submissions).toEqual([
      { continues: newer, run: expect.any(String), task: "answer 43", origin: "cli" },
    ]);
    expect((await troupe.session(newer)).session).toMatchObject({ turns: 2, rootRun: troupe.submissions[0]?.run });
  });

  test("finds a session with a folder of its own, as a demo has, and the session of a named folder", async () => {
    const cli = createFakeCli();
    const troupe = await withSessions(cli);
    const demo = "0198a444-0000-7000-8000-000000000004";
    troupe.seed(aSession({ session: demo, workspace: join(homeFiles(cli.home).workspaces, demo) }));
    await cli.run("run", "--continue", "answer 1");
    const { workspace } = (await troupe.session(elsewhere)).session;
    await cli.run("run", "--continue", "--workspace", workspace, "answer 2");
    expect(troupe.submissions.map(({ continues }) => continues)).toEqual([demo, elsewhere]);
    expect(troupe.submissions.map((submission) => submission.workspace)).toEqual([undefined, workspace]);
  });

  test("without a session to continue it fails and submits nothing", async () => {
    const cli = createFakeCli();
    expect(await cli.run("run", "--continue", "answer 1")).toBe(2);
    expect(cli.err()).toContain("there is no session of");
    expect(cli.err()).toContain('troupe run "what to do"');
    expect(cli.composition.started).toEqual([]);
  });

  test("of a running session is refused with a fix, without a wait", async () => {
    const cli = createFakeCli();
    const troupe = await withSessions(cli);
    await troupe.submit({ session: newer, task: "wait", origin: "cli" });
    expect(await cli.run("run", "--resume", newer, "answer 1")).toBe(1);
    expect(cli.err()).toContain("still at work");
  });
});

describe("--resume", () => {
  test("accepts the beginning of an id, with flags for this turn", async () => {
    const cli = createFakeCli();
    const troupe = await withSessions(cli);
    expect(await cli.run("run", "--resume", "0198a111", "--agent", "lead", "--max-tokens", "5", "answer 1")).toBe(0);
    expect(troupe.submissions).toMatchObject([{ continues: old, agent: "lead", budget: { tokens: 5 } }]);
  });

  test.each([
    ["ffff", "UNKNOWN_SESSION", /there is no session "ffff"/],
    ["0198a", "USAGE", /matches 3 sessions/],
  ])("of %s is %s", async (given, _, words) => {
    const cli = createFakeCli();
    const troupe = await withSessions(cli);
    expect(await cli.run("run", "--resume", given, "answer 1")).toBe(2);
    expect(cli.err()).toMatch(words);
    expect(troupe.submissions).toEqual([]);
  });

  test("sends a full id to the owner even if the record does not have it", async () => {
    const cli = createFakeCli();
    const troupe = await withSessions(cli);
    const unrecorded = "0198a555-0000-7000-8000-000000000005";
    expect(await cli.run("run", "--resume", unrecorded, "answer 1")).toBe(2);
    expect(troupe.submissions).toMatchObject([{ continues: unrecorded }]);
  });

  test("and --continue exclude one another", async () => {
    const cli = createFakeCli();
    expect(await cli.run("run", "--resume", old, "--continue", "answer 1")).toBe(2);
    expect(cli.err()).toContain("--resume");
  });
});

test("--json prints the response of the new turn", async () => {
  const cli = createFakeCli();
  const troupe = await withSessions(cli);
  expect(await cli.run("run", "--json", "--continue", "answer 44")).toBe(0);
  expect(JSON.parse(cli.out())).toMatchObject({ details: "44", sessionId: newer, runId: troupe.submissions[0]?.run });
});

test("reads the response of its own turn only", async () => {
  const cli = createFakeCli();
  const troupe = await withSessions(cli);
  const response = vi.spyOn(troupe, "response");
  expect(await cli.run("run", "--continue", "answer 45")).toBe(0);
  expect(response).toHaveBeenCalledOnce();
});

/** Whole sessions are removed: by a command, and by the retention of a daemon. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it } from "vitest";
import { troupe } from "../harness/cli.ts";
import { startDaemonInProcess } from "../harness/daemon.ts";
import { readJournalFile } from "../harness/journal-file.ts";
import { describeAtTerminal, startInTerminal } from "../harness/terminal.ts";
import { until } from "../harness/until.ts";
import { leadAndScout, type RecordedHome, recordSession } from "./recorded-session.ts";

const timeout = 240_000;
const sessionsOf = async ({ cli }: Pick<RecordedHome, "cli">): Promise<string[]> =>
  JSON.parse((await cli("sessions", "ls", "--json")).stdout).map(({ session }: { session: string }) => session);
const blobsOf = async (home: string): Promise<string[]> =>
  (await readdir(path.join(home, "blobs"), { recursive: true }).catch(() => [])).filter((name) => name.length > 60);

describe.concurrent("troupe sessions rm", { timeout }, () => {
  it("deletes journal, rows and blobs of a session; shared blobs and other sessions stay", async (test) => {
    const recorded = await recordSession(test);
    const { cli, session, home, at, root } = recorded;
    const { expect } = test;
    const daemon = await startDaemonInProcess({ home, env: recorded.env, test });
    await writeFile(at("shared.txt"), "in both sessions");
    await writeFile(at("own.txt"), "in the first one only");
    for (const name of ["shared.txt", "own.txt"]) await cli("sessions", "upload", session, at(name));
    const fork = JSON.parse((await cli("sessions", "fork", session, "--at", `${root}/3`, "--json")).stdout).session;
    await until(async () => (await daemon.client.session(fork)).session.status === "completed");
    await writeFile(at("own.txt"), "another content");
    await cli("sessions", "upload", fork, at("own.txt"));
    const before = await blobsOf(home);
    const seal = readJournalFile(path.join(home, "journal.db")).get(root)?.at(-1)?.entry.hash ?? "no entry";

    const removed = await cli("sessions", "rm", session, "--yes", "--json");
    expect(JSON.parse(removed.stdout)).toMatchObject({ removed: [session], kept: [], blobs: 1 });
    expect(await sessionsOf(recorded)).toEqual([fork]);
    expect(await blobsOf(home)).toHaveLength(before.length - 1);
    const shared = await cli("sessions", "download", fork, "shared.txt", at("back.txt"));
    expect([shared.code, await readFile(at("back.txt"), "utf8")]).toEqual([0, "in both sessions"]);
    await daemon.stop();
    expect(
      [...readJournalFile(path.join(home, "journal.db")).values()]
        .flat()
        .some(({ entry }) => entry.session === session),
    ).toBe(false);
    // Nothing of it is left in unused pages either.
    for (const name of ["journal.db", "troupe.db"]) {
      expect((await readFile(path.join(home, name))).includes(seal), name).toBe(false);
    }
    expect(await cli("record", "verify")).toMatchObject({ code: 0 });
    await startDaemonInProcess({ home, env: recorded.env, test });
    expect(await sessionsOf(recorded)).toEqual([fork]);
  });

  it("also deletes the newest session, and its export can be imported again", async (test) => {
    const recorded = await recordSession(test);
    const { cli, session, at, home, env } = recorded;
    const { expect } = test;
    await cli("sessions", "export", session, "--out", "s.jsonl");
    expect(await cli("sessions", "rm", session, "--yes")).toMatchObject({ code: 0, stdout: `removed ${session}\n` });
    expect(await sessionsOf(recorded)).toEqual([]);
    const daemon = await startDaemonInProcess({ home, env, test });
    const again = await cli("sessions", "import", at("s.jsonl"), "--json");
    expect(JSON.parse(again.stdout)).toMatchObject({ outcome: "imported" });
    await until(async () => (await sessionsOf(recorded)).length === 1);
    await daemon.stop();
    expect(await cli("record", "verify")).toMatchObject({ code: 0 });
    expect(await cli("record", "rebuild")).toMatchObject({ code: 0 });
    expect(await sessionsOf(recorded)).toEqual([session]);
  });

  it("keeps a running session, and asks for --yes without a terminal", async (test) => {
    const agents = { main: [{ steps: [{ text: "late", latencyMs: 600_000 }] }] };
    const recorded = await recordSession(test);
    const { cli, session, home, folder } = recorded;
    const { expect } = test;
    const { writeScenario } = await import("../harness/scenario-file.ts");
    const slow = await writeScenario(folder, agents, "slow");
    const daemon = await startDaemonInProcess({ home, env: { TROUPE_MODEL: `scripted/${slow}` }, test });
    const { session: running } = await daemon.client.submit({ task: "wait" });
    await until(async () => (await sessionsOf(recorded)).length === 2);
    const refused = await cli("sessions", "rm", running, "--yes");
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining("has not settled, so it is kept") });
    const unsure = await cli("sessions", "rm", session);
    expect(unsure).toMatchObject({ code: 2, stderr: expect.stringContaining("--yes") });
    expect((await sessionsOf(recorded)).sort()).toEqual([session, running].sort());
    // A daemon that stops waits for a model's answer.
    await daemon.client.cancel(running);
  });
});

describeAtTerminal("troupe sessions rm at a terminal", () => {
  it("asks, and deletes only after y", { timeout }, async (test) => {
    const recorded = await recordSession(test);
    const { session, home, env } = recorded;
    for (const [key, left] of [
      ["n", 1],
      ["y", 0],
    ] as const) {
      const asked = startInTerminal(["sessions", "rm", session], { home, env, test });
      await asked.waitForOutput(/Delete this session\?/);
      await asked.answer(key);
      await asked.ended;
      test.expect(await sessionsOf(recorded)).toHaveLength(left);
    }
  });
});

describe.concurrent("retention", { timeout }, () => {
  it.for([
    ["by age", "retention: {maxAge: 1m}"],
    ["by size", "retention: {maxBytes: 1}"],
  ] as const)("%s: the daemon removes old settled sessions, and keeps recent ones", async ([, setting], test) => {
    const { expect } = test;
    const recorded = await recordSession(test);
    const { session, home, env, folder } = recorded;
    await recorded.cli("run", "--workspace", folder, "a recent one");
    const config = path.join(folder, "config.yaml");
    await writeFile(config, `${setting}\n`);
    const [recent = ""] = await sessionsOf(recorded);
    await makeOld(home, session);
    const daemon = await startDaemonInProcess({ home, env: { ...env, TROUPE_CONFIG: config }, test });
    await until(async () => (await sessionsOf(recorded)).length === 1);
    expect(await sessionsOf(recorded)).toEqual([recent]);
    await daemon.stop();
  });

  it("refuses a setting that is not a time or a size", async (test) => {
    const { home, folder, env } = await recordSession(test, { agents: leadAndScout });
    for (const [setting, key] of [
      ["retention: {maxAge: soon}", "retention.maxAge"],
      ["retention: {maxBytes: -1}", "retention.maxBytes"],
    ] as const) {
      const config = path.join(folder, "config.yaml");
      await writeFile(config, `${setting}\n`);
      const listed = await troupe(["config", "list"], { home, cwd: folder, env: { ...env, TROUPE_CONFIG: config } });
      test.expect(listed.code).toBe(3);
      test.expect(listed.stderr).toContain(key);
    }
  });
});

/** The retention reads the times of the record. */
async function makeOld(home: string, session: string): Promise<void> {
  const { openSqlite } = await import("@troupe/recorder/internal");
  const database = openSqlite(path.join(home, "troupe.db"));
  const at = new Date(Date.now() - 3 * 86_400_000).toISOString();
  database
    .prepare<[string, string, string]>("UPDATE sessions SET completed_at = ?, turn_started_at = ? WHERE session_id = ?")
    .run(at, at, session);
  database.close();
}

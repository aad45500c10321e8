/** A new session from a finished step of another one: through a real daemon process and through files. */
import path from "node:path";
import { describe, it } from "vitest";
import { startDaemonInProcess } from "../harness/daemon.ts";
import { readInboxFile, readJournalFile } from "../harness/journal-file.ts";
import { until } from "../harness/until.ts";
import { expectReplaysSame, recordSession } from "./recorded-session.ts";

const timeout = 240_000;

describe.concurrent("a fork", { timeout }, () => {
  it("goes on from each finished step, repeats no finished call, says where it comes from, and replays the same", async (test) => {
    const recorded = await recordSession(test);
    const { cli, session, root, home, env } = recorded;
    const { expect } = test;
    const daemon = await startDaemonInProcess({ home, env, test });
    for (const step of [0, 1, 2, 3]) {
      const made = await cli("sessions", "fork", session, "--at", `${root}/${step}`, "--json");
      expect(made.stderr).toBe("");
      const fork = JSON.parse(made.stdout);
      expect(fork.from).toEqual({ session, run: root, step });
      await until(async () => (await daemon.client.session(fork.session)).session.status === "completed");
      const { session: row } = await daemon.client.session(fork.session);
      expect(row.forkedFrom).toEqual({ session, run: root, step });
      const calls = entriesOf(home, fork.session, "tool.finished");
      const copied = calls.filter(({ host }) => host === "fork");
      expect(calls.map(({ kind }) => kind).length).toBe(3);
      expect(copied.length).toBe([0, 1, 2, 3][step]);
      await expectReplaysSame(recorded, fork.session, test);
      const shown = await cli("sessions", "show", fork.session);
      expect(shown.stdout).toContain(`session ${session}, run ${root}, step ${step}`);
    }
    // The original pays for the copied calls: a fork of its last step costs only the answer.
    const sessions = JSON.parse((await cli("sessions", "ls", "--json")).stdout);
    const tokens = (step: number): number =>
      sessions.find((row: { forkedFrom: { step: number } | null }) => row.forkedFrom?.step === step).totalTokens;
    expect(tokens(3)).toBeLessThan(tokens(0));
    await daemon.stop();
  });

  it("can begin inside of a sub-agent, and tells the new task to the first run", async (test) => {
    const recorded = await recordSession(test);
    const { cli, session, home, env } = recorded;
    const { expect } = test;
    const runs = [...readJournalFile(path.join(home, "journal.db")).keys()];
    const child = runs.find((run) => run !== recorded.root) ?? "";
    const made = await cli("sessions", "fork", session, "--at", `${child}/1`, "--task", "look twice", "--json");
    const fork = JSON.parse(made.stdout);
    const [request, steered] = readInboxFile(path.join(home, "journal.db"), fork.session);
    expect(request).toMatchObject({ kind: "session.requested", forkedFrom: { session, run: child, step: 1 } });
    expect(steered).toMatchObject({ kind: "run.steered", run: fork.run, text: "look twice" });
    const daemon = await startDaemonInProcess({ home, env, test });
    await until(async () => (await daemon.client.session(fork.session)).session.status === "completed");
    await daemon.stop();
    await expectReplaysSame(recorded, fork.session, test);
    expect(await cli("sessions", "replay", session)).toMatchObject({ code: 0 });
  });

  it("begins with a whole budget and with all of its turns", async (test) => {
    const { cli, session, root, home } = await recordSession(test);
    const { expect } = test;
    const { replayAgent } = await import("@troupe/core");
    const fork = JSON.parse((await cli("sessions", "fork", session, "--at", `${root}/3`, "--json")).stdout);
    const entries = (run: string) =>
      (readJournalFile(path.join(home, "journal.db")).get(run) ?? []).map(({ entry }) => entry);
    const [before, now] = [replayAgent(entries(root)), replayAgent(entries(fork.run))];
    expect(before.usage.charged).toMatchObject({ toolCalls: expect.any(Number), spawns: 1 });
    expect(before.usage.charged.tokens).toBeGreaterThan(0);
    expect(now.usage.charged).toEqual({ tokens: 0, costUsd: 0, toolCalls: 0, spawns: 0 });
    expect(now.usage.filesCreated).toEqual(before.usage.filesCreated);
    expect(now.pin.limits.maxIterations).toBeGreaterThanOrEqual(before.pin.limits.maxIterations + 3);
    expect(now.clock.activeMs).toBe(0);
  });

  it("at a step that is not settled or unknown is refused, with the possible steps", async (test) => {
    const { cli, session, root } = await recordSession(test);
    const { expect } = test;
    for (const step of [4, 9]) {
      const refused = await cli("sessions", "fork", session, "--at", `${root}/${step}`);
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain(`step ${step} of run ${root} is not settled, or is its answer`);
      expect(refused.stderr).toContain([0, 1, 2, 3].map((each) => `${root}/${each}`).join(", "));
    }
    const noPoint = await cli("sessions", "fork", session, "--at", "somewhere");
    expect(noPoint).toMatchObject({ code: 2, stderr: expect.stringContaining('"somewhere" is not RUN/STEP') });
    const noRun = await cli("sessions", "fork", session, "--at", "ffffffff/1");
    expect(noRun).toMatchObject({ code: 2, stderr: expect.stringContaining('there is no run "ffffffff"') });
    expect(JSON.parse((await cli("sessions", "ls", "--json")).stdout)).toHaveLength(1);
  });
});

function entriesOf(home: string, session: string, kind: string) {
  const runs = [...readJournalFile(path.join(home, "journal.db")).values()].flat();
  return runs.map(({ entry }) => entry).filter((entry) => entry.session === session && entry.kind === kind);
}

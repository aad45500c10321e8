/** A daemon in the background, seen by the commands that start, watch and stop it. */
import { appendFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { createFakeCli, removeTemporaryFolders } from "../testing/fake-cli.ts";
import { startOtherOwner } from "../testing/other-owner.ts";
import { aRun, aSession } from "../testing/rows.ts";

afterEach(removeTemporaryFolders);

const processes = {
  startDetached: async () => ({ firstLine: null, exitCode: 1 }),
  interrupt: () => false,
};

describe("troupe up -d", () => {
  test("beside a running daemon starts no other one, and prints its address", async () => {
    const cli = createFakeCli();
    await startOtherOwner(cli);
    expect(await cli.run("up", "-d")).toBe(0);
    expect(cli.out()).toMatch(/^running {2}http:\/\/127\.0\.0\.1:\d+\/#token=\S+\n$/);
    const again = createFakeCli({ home: cli.home.path, composition: cli.composition });
    expect(await again.run("up", "-d", "--json")).toBe(0);
    expect(JSON.parse(again.out())).toMatchObject({ event: "running", pid: process.pid, version: "0.1.0" });
  });

  test("beside a troupe run names it, and how to stop it", async () => {
    const cli = createFakeCli();
    await startOtherOwner(cli, "run");
    expect(await cli.run("up", "-d")).toBe(1);
    expect(cli.err()).toContain(`error: troupe run with pid ${process.pid} uses the home ${cli.home.path}`);
  });

  test("passes the error and the fix of a daemon that did not start", async () => {
    const cli = createFakeCli({
      processes: {
        ...processes,
        startDetached: async (args, errors) => {
          expect(args).toEqual([
            "up",
            "--host=127.0.0.1",
            "--port=0",
            "--agents=all",
            "--capacity=64",
            "--no-open",
            "--json",
          ]);
          appendFileSync(errors, "error: the disk is full\nfix:   df -h\n");
          return { firstLine: null, exitCode: 1 };
        },
      },
    });
    expect(await cli.run("up", "-d", "--port", "0")).toBe(1);
    expect(cli.err()).toBe("error: the disk is full\nfix:   df -h\n");
  });

  test("of a daemon that says nothing names its log", async () => {
    const cli = createFakeCli({ processes });
    expect(await cli.run("up", "-d")).toBe(1);
    expect(cli.err()).toMatch(/error: the daemon ended before it was ready\nfix: {3}cat .*up\.log\n/);
  });
});

describe("troupe down", () => {
  test("stops the daemon of the home and waits until it has gone", async () => {
    const cli = createFakeCli({ processes: { ...processes, interrupt: () => void home.release() === undefined } });
    const { home } = await startOtherOwner(cli);
    expect(await cli.run("down")).toBe(0);
    expect(cli.out()).toBe("stopped; unfinished sessions continue at the next troupe up\n");
    const again = createFakeCli({ home: cli.home.path });
    expect(await again.run("down", "--json")).toBe(0);
    expect(JSON.parse(again.out())).toEqual({ stopped: false, pid: null });
  });

  test("reports a daemon that does not stop in time", async () => {
    const cli = createFakeCli({ processes });
    const { home } = await startOtherOwner(cli);
    expect(await cli.run("down", "--timeout", "50")).not.toBe(0);
    expect(cli.err()).toContain(`the daemon with pid ${process.pid} has not stopped after 0.05 s`);
    expect(cli.err()).toContain("fix:   troupe down --timeout 2m");
    await home.release();
  });

  test("never stops a troupe run", async () => {
    const cli = createFakeCli();
    await startOtherOwner(cli, "run");
    expect(await cli.run("down")).toBe(1);
    expect(cli.err()).toContain("fix:   wait for it, or stop it: kill -INT");
  });
});

describe("troupe ps", () => {
  test("shows the daemon, and each run under way with its activity", async () => {
    const cli = createFakeCli();
    const { troupe } = await startOtherOwner(cli);
    const session = aSession({ status: "running", completedAt: null });
    const run = { session: session.session, status: "running", exactStatus: "running", completedAt: null } as const;
    troupe.seed(session, [
      aRun({ ...run, activity: "shell npm test\u001b[2J", task: "test it" }),
      aRun({ session: session.session, agent: "done" }),
    ]);
    expect(await cli.run("ps")).toBe(0);
    const [head, columns, ...rows] = cli.out().trim().split("\n");
    expect(head).toMatch(/^daemon {2}pid \d+ {2}http:\S+ {2}troupe 0\.1\.0 {2}up 10\.0 s$/);
    expect(columns).toMatch(/^SESSION +RUN +AGENT +STATUS +DOES +TOKENS +COST +TIME +TASK$/);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatch(/lead +● running +shell npm test +1,234 .* test it$/);
  });

  test("--json has no token", async () => {
    const cli = createFakeCli();
    await startOtherOwner(cli);
    expect(await cli.run("ps", "--json")).toBe(0);
    const { owner, sessions } = JSON.parse(cli.out());
    expect(owner).toMatchObject({ kind: "daemon", pid: process.pid });
    expect(owner).not.toHaveProperty("token");
    expect(sessions).toEqual([]);
  });

  test("without a daemon says how to start one", async () => {
    const cli = createFakeCli();
    expect(await cli.run("ps")).toBe(0);
    expect(cli.err()).toBe("no daemon runs: troupe up -d starts one\n");
  });
});

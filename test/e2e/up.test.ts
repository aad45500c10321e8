/** Tests `troupe up` as a process: its output, its shutdown, and conflicts over its home and port. */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { answeredEffect } from "@troupe/core/internal";
import { describe, it } from "vitest";
import { startTroupe, troupe } from "../harness/cli.ts";
import { startDaemon, startDaemonInProcess } from "../harness/daemon.ts";
import { writeFastDemo } from "../harness/fast-demo.ts";
import { readJournalFile } from "../harness/journal-file.ts";
import { saying, writeScenario } from "../harness/scenario-file.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";

describe.concurrent("a daemon that is ready", () => {
  it("reports it to programs in one line with exactly the keys of the contract", async ({ expect, onTestFinished }) => {
    const test = { onTestFinished };
    const home = await tempFolder("ready", test);
    const up = startTroupe(["up", "--json", "--no-open", "--port", "0"], { home, test });
    await up.waitForOutput(/\n/);
    const ready = JSON.parse(up.stdout());
    expect(ready).toStrictEqual({
      event: "ready",
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      token: expect.stringMatching(/^[\w-]{43}$/),
      bus: "in-process",
      store: path.join(home, "journal.db"),
      provider: "demo (scripted, offline)",
      model: "scripted/demo",
      agents: expect.any(Number),
      pid: up.process.pid,
    });
    expect(ready.agents).toBeGreaterThan(5);
    up.process.kill("SIGTERM");
    expect(await up.ended).toMatchObject({ code: 0, stdout: `${JSON.stringify(ready)}\n` });
  });

  it("shows people the facts, and a link that opens the page", async ({ expect, onTestFinished }) => {
    const test = { onTestFinished };
    const home = await tempFolder("ready", test);
    const up = startTroupe(["up", "--no-open", "--port", "0"], { home, test });
    const [, link = ""] = await up.waitForOutput(/^ready {2}(http:\S+)\n$/);
    expect(up.stderr()).toMatch(/^troupe \d+\.\d+\.\d+\n/);
    expect(up.stderr()).toContain("provider: demo (scripted, offline)\n  model: scripted/demo\n");
    expect(up.stderr()).toContain(`store: ${home}/journal.db\n`);

    const { origin, hash } = new URL(link);
    const page = await fetch(origin);
    expect(page.headers.get("content-type")).toMatch(/^text\/html/);
    const status = (token: string) =>
      fetch(`${origin}/api/v1/status`, { headers: { authorization: `Bearer ${token}` } }).then((reply) => reply.status);
    expect(await status(hash.replace("#token=", ""))).toBe(200);
    expect(await status("x".repeat(43))).toBe(401);

    up.process.kill("SIGINT");
    expect(await up.ended).toMatchObject({ code: 0, stdout: `ready  ${link}\n` });
    expect(up.stderr()).toMatch(/stopping\nstopped\n$/);
  });
});

describe.concurrent("Ctrl-C", () => {
  it("parks unfinished runs, and the next daemon completes them without repeating anything", async ({
    expect,
    onTestFinished,
  }) => {
    const test = { onTestFinished };
    const home = await tempFolder("park", test);
    const ledger = path.join(home, "ledger.jsonl");
    const env = { TROUPE_TEST_LEDGER: ledger };
    const first = await startDaemon({ home, test, env });
    const scenario = await writeFastDemo(home, 5);
    const { session } = await first.client.submit({ task: "go on", scenario, origin: "api" });
    await until(async () => (await first.client.session(session).catch(() => null))?.runs[3]);
    await first.stop();
    expect((await first.ended).code).toBe(0);
    expect(first.stderr()).toMatch(/stopping: waiting for 1 session \(\d runs?\)/);

    const parked = readJournalFile(path.join(home, "journal.db"));
    const lastKinds = [...parked.values()].map((entries) => entries.at(-1)?.entry.kind ?? "");
    expect(lastKinds).toContain("run.parked");
    expect(lastKinds.filter((kind) => !["run.parked", "run.settled"].includes(kind))).toEqual([]);

    const second = await startDaemonInProcess({ home, test, env });
    const response = await until(() => second.client.response(session).catch(() => null));
    expect(response).toMatchObject({ status: "completed" });
    await second.stop();

    const calls = (await readFile(ledger, "utf8")).trim().split("\n");
    const keys = calls.map((line) => String(JSON.parse(line).key));
    expect(new Set(calls.map((line) => JSON.parse(line).pid)).size).toBe(2);
    expect(keys.filter((key, i) => keys.indexOf(key) !== i)).toEqual([]);
    const entries = [...readJournalFile(path.join(home, "journal.db")).values()].flat().map(({ entry }) => entry);
    const answers = entries.flatMap((entry) => {
      const key = answeredEffect(entry);
      return key === null ? [] : [`${entry.run}/${key}`];
    });
    expect(answers.filter((key, i) => answers.indexOf(key) !== i)).toEqual([]);
    expect(entries.filter(({ kind }) => kind === "tool.finished").length).toBe(
      keys.filter((key) => key.includes("/tool/")).length,
    );
  });

  it("a second time ends at once, even during a call", async ({ expect, onTestFinished }) => {
    const test = { onTestFinished };
    const home = await tempFolder("twice", test);
    const scenario = await writeScenario(home, saying("never said", 600_000));
    const daemon = await startDaemon({ home, test });
    await daemon.client.submit({ task: "wait", scenario, origin: "api" });
    daemon.process.kill("SIGINT");
    await until(() => daemon.stderr().includes("stopping: waiting for 1 session"));
    // Two within a tenth of a second are one: a terminal and a package manager each pass the same key press on.
    await delay(150);
    daemon.process.kill("SIGINT");
    expect(await daemon.ended).toEqual({ code: 130, signal: null });
  });
});

describe.concurrent("a conflict about", () => {
  it("the home: the second daemon names the owner and ends with 1, the first continues", async ({
    expect,
    onTestFinished,
  }) => {
    const test = { onTestFinished };
    const home = await tempFolder("two", test);
    const first = await startDaemonInProcess({ home, test });
    const second = await troupe(["up", "--port", "0", "--no-open"], { home });
    expect(second).toMatchObject({ code: 1, stdout: "" });
    expect(second.stderr).toContain(`pid ${first.pid}`);
    expect(second.stderr).toContain(first.url);
    expect(second.stderr).toContain(`fix:   kill -INT ${first.pid}`);
    const asJson = await troupe(["up", "--json"], { home, ownProcess: false });
    expect(asJson.code).toBe(1);
    expect(JSON.parse(asJson.stdout)).toMatchObject({ error: { code: "HOME_OWNED" } });
    expect(await first.client.status()).toMatchObject({ pid: first.pid });
  });

  it("the port: the next free one is used, and printed", async ({ expect, onTestFinished }) => {
    const test = { onTestFinished };
    const home = await tempFolder("port", test);
    const taken = createServer().listen(0, "127.0.0.1");
    onTestFinished(() => void taken.close());
    await once(taken, "listening");
    const { port } = taken.address() as AddressInfo;
    const daemon = await startDaemonInProcess({ home, test, flags: ["--port", String(port)] });
    const used = Number(new URL(daemon.url).port);
    expect(used).toBeGreaterThan(port);
    expect(used).toBeLessThanOrEqual(port + 20);
    expect(daemon.stderr()).toContain(`port ${port} is taken; using ${used}\n`);
    expect(await daemon.client.status()).toMatchObject({ pid: daemon.pid });
  });
});

/** A daemon of another version in the same home: it is named, and replaced only while it works on nothing. */
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { describe, it, type TestContext } from "vitest";
import { troupe } from "../harness/cli.ts";
import { startDaemonInProcess } from "../harness/daemon.ts";
import { startKillableScriptedDaemon, startScriptedDaemon } from "../harness/scripted-daemon.ts";

const agents = { main: [{ steps: [{ text: "late", latencyMs: 600_000 }] }] };

/** Changes the announcement of a daemon about itself. */
async function announce(home: string, facts: object): Promise<void> {
  const file = path.join(home, "owner.json");
  await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, "utf8")), ...facts }));
}

describe("troupe up", () => {
  it("replaces an idle daemon of an older version", async (test) => {
    const { expect } = test;
    const old = await startKillableScriptedDaemon({ test, agents });
    await announce(old.home, { version: "0.0.1" });
    const next = await startDaemonInProcess({ home: old.home, test });
    expect(next.stderr()).toContain("stopped the idle daemon of version 0.0.1");
    expect(await old.ended).toEqual({ code: 0, signal: null });
    expect((await next.client.status()).pid).toBe(next.pid);
  });

  it("leaves an older daemon alone while it works, and a newer one always", async (test) => {
    const { expect } = test;
    const old = await startKillableScriptedDaemon({ test, agents });
    await old.client.submit({ task: "wait" });
    await announce(old.home, { version: "0.0.1" });
    const refused = await troupe(["up", "--no-open", "--port", "0"], { home: old.home, ownProcess: false });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/a daemon of version 0\.0\.1 \(pid \d+\) works on 1 session/);
    await announce(old.home, { version: "99.0.0" });
    const newer = await troupe(["up", "--no-open", "--port", "0"], { home: old.home, ownProcess: false });
    expect(newer.stderr).toMatch(/owned by a troupe daemon \(pid \d+\).*version 99\.0\.0/);
    expect((await old.client.status()).pid).toBe(old.pid);
  });
});

it("a command names the versions when the daemon does not know its routes", async (test) => {
  const { expect } = test;
  const old = await startScriptedDaemon({ test, agents });
  await announce(old.home, { version: "0.0.1", url: await startServerWithoutRoutes(test) });
  const listed = await troupe(["sessions", "ls"], { home: old.home });
  expect(listed.code).toBe(1);
  expect(listed.stderr).toMatch(/has version 0\.0\.1, and this command \d+\.\d+\.\d+/);
  expect(listed.stderr).toContain("troupe up");
});

/** Answers as a daemon from before `/api/v1`. */
async function startServerWithoutRoutes(test: TestContext): Promise<string> {
  const error = { code: "USAGE", message: "the API has no route GET /api/v1/status", fix: null };
  const server = createServer((_, response) => response.writeHead(404).end(JSON.stringify({ error })));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  test.onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { homeFiles, isLocked } from "troupe/internal";
import { afterEach, describe, expect, test, vi } from "vitest";
import { mayOpenPage, openerOf } from "../terminal/open-page.ts";
import { createFakeCli, type FakeCli, removeTemporaryFolders } from "../testing/fake-cli.ts";

afterEach(removeTemporaryFolders);

async function whenReady(cli: FakeCli): Promise<void> {
  await vi.waitFor(() => expect(cli.out()).not.toBe(""));
}

describe("the ready line", () => {
  test("for people: one line on stdout with the link that logs in", async () => {
    const cli = createFakeCli();
    const ended = cli.run("up");
    await whenReady(cli);
    expect(cli.out()).toMatch(/^ready {2}http:\/\/127\.0\.0\.1:4711\/#token=[\w-]{43}\n$/);
    expect(cli.err()).toMatch(
      /provider: anthropic\n {2}model: anthropic\/claude-sonnet-5\n {2}bus: in-process\n {2}store: sqlite\n {2}agents: 4/,
    );
    cli.send("SIGINT");
    expect(await ended).toBe(0);
  });

  test("a machine without a sandbox is reported, with the fix", async () => {
    const cli = createFakeCli();
    const detail = "commands run unconfined";
    cli.composition.sandbox = { kind: "process-group", contains: false, detail, fix: "apt-get install bubblewrap" };
    const ended = cli.run("up");
    await whenReady(cli);
    expect(cli.err()).toContain("sandbox: commands run unconfined; to fix it: apt-get install bubblewrap\n");
    cli.send("SIGINT");
    await ended;
  });

  test("for programs: one object with exactly these keys", async () => {
    const cli = createFakeCli();
    const ended = cli.run("up", "--json", "--port", "0");
    await whenReady(cli);
    const ready = JSON.parse(cli.out());
    expect(Object.keys(ready).sort()).toEqual(
      ["event", "url", "token", "bus", "store", "provider", "model", "agents", "pid"].sort(),
    );
    expect(ready).toMatchObject({ event: "ready", pid: process.pid, agents: 4 });
    cli.send("SIGTERM");
    expect(await ended).toBe(0);
    expect(cli.out().trim().split("\n")).toHaveLength(1);
  });

  test("a changed port is reported", async () => {
    const cli = createFakeCli();
    const { start } = cli.composition;
    cli.composition.start = (options) => start({ ...options, port: options.port + 1 });
    const ended = cli.run("up", "--port", "5000");
    await whenReady(cli);
    expect(cli.err()).toContain("port 5000 is taken; using 5001");
    cli.send("SIGINT");
    await ended;
  });
});

describe("stopping", () => {
  test("reports the sessions that it waits for, closes, and frees the home", async () => {
    const cli = createFakeCli();
    const ended = cli.run("up");
    await whenReady(cli);
    await cli.composition.started[0]?.submit({ task: "wait", origin: "page" });
    cli.send("SIGINT");
    expect(await ended).toBe(0);
    expect(cli.err()).toContain("stopping: waiting for 1 session (1 run) to stop");
    expect(cli.composition.started[0]?.closed).toBe(true);
    expect(isLocked(homeFiles(cli.home).lock)).toBe(false);
    expect(readdirSync(cli.home.path)).not.toContain("owner.json");
  });

  test("a second signal leaves at once with 130", async () => {
    const cli = createFakeCli();
    const ended = cli.run("up");
    await whenReady(cli);
    cli.send("SIGTERM");
    cli.send("SIGINT");
    expect(cli.exits).toEqual([130]);
    await ended;
  });
});

test("a second daemon on the home names the owner and changes nothing", async () => {
  const first = createFakeCli();
  const ended = first.run("up");
  await whenReady(first);
  const second = createFakeCli({ home: first.home.path, composition: first.composition });
  expect(await second.run("up")).toBe(1);
  expect(second.err()).toMatch(
    new RegExp(`error: .*${first.home.path}.*daemon.*pid ${process.pid}.*127\\.0\\.0\\.1:4711.*\\nfix: {3}kill -INT`),
  );
  expect(second.out()).toBe("");
  expect(first.composition.started).toHaveLength(1);

  const third = createFakeCli({ home: first.home.path, composition: first.composition });
  expect(await third.run("up", "--json")).toBe(1);
  expect(JSON.parse(third.out()).error.code).toBe("HOME_OWNED");
  first.send("SIGINT");
  await ended;
});

test("the log is in the home, and not on stdout", async () => {
  const cli = createFakeCli();
  const { start } = cli.composition;
  cli.composition.start = (options) => {
    options.logger.info({ session: "s", token: "secret" }, "hello");
    return start(options);
  };
  const ended = cli.run("up", "--json");
  await whenReady(cli);
  cli.send("SIGINT");
  await ended;
  expect(readdirSync(join(cli.home.path, "logs"))).toEqual(["troupe-1970-01-01.log"]);
  expect(cli.out()).not.toContain("hello");
});

test.each([
  [["--port", "abc"], /--port "abc" is not a whole number from 0 to 65535/],
  [["--port", "65536"], /--port "65536"/],
  [["--port", "-1"], /--port "-1"/],
  [["--host", "0.0.0.0"], /--host "0\.0\.0\.0" is not a loopback address/],
  [["--host", "example.org"], /--host "example\.org"/],
  [["extra"], /too many arguments/],
])("`up` with %j is refused with 2", async (args, message) => {
  const cli = createFakeCli();
  expect(await cli.run("up", ...args)).toBe(2);
  expect(cli.err()).toMatch(message);
  expect(cli.err()).toMatch(/\nfix: {3}troupe up/);
  expect(cli.composition.started).toEqual([]);
});

describe("the browser", () => {
  test.each([
    ["on a terminal", {}, true, [], 1],
    ["not with --no-open", {}, true, ["--no-open"], 0],
    ["not with --json", {}, true, ["--json"], 0],
    ["not in CI", { CI: "true" }, true, [], 0],
    ["not over SSH", { SSH_CONNECTION: "1 2 3 4" }, true, [], 0],
    ["not into a pipe", {}, false, [], 0],
  ])("is opened %s", async (_when, env, isTerminal, args, times) => {
    const cli = createFakeCli({ env, isTerminal });
    const ended = cli.run("up", ...args);
    await whenReady(cli);
    await vi.waitFor(() => expect(cli.opened).toHaveLength(times));
    cli.send("SIGINT");
    await ended;
    expect(cli.opened).toHaveLength(times);
  });

  test("needs a screen on Linux", () => {
    expect(openerOf("linux", {})).toBeNull();
    expect(openerOf("linux", { WAYLAND_DISPLAY: "w" })).toEqual(["xdg-open"]);
    expect(openerOf("darwin", {})).toEqual(["open"]);
    expect(mayOpenPage({ env: {}, isTerminal: true })).toBe(true);
  });
});

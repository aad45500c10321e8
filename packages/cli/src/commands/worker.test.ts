/** `troupe worker`: its ready line, its name and lock, its refusals, and its stop. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { tryLock } from "troupe/internal";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createFakeCli, type FakeCli, removeTemporaryFolders } from "../testing/fake-cli.ts";

afterEach(removeTemporaryFolders);

async function whenReady(cli: FakeCli): Promise<void> {
  await vi.waitFor(() => expect(cli.out()).not.toBe(""));
}

describe("a worker", () => {
  test("reports once on stdout that it is ready, for programs with exactly these keys", async () => {
    const cli = createFakeCli();
    const flags = ["--agents", "coder, tester", "--capacity", "3", "--name", "gpu-1", "--nats", "nats://h"];
    const ended = cli.run("worker", "--json", ...flags);
    await whenReady(cli);
    expect(JSON.parse(cli.out())).toEqual({
      ...{ event: "ready", host: "gpu-1", agents: ["coder", "tester"], capacity: 3 },
      ...{ place: "m1", bus: "nats://h:4222", pid: process.pid },
    });
    cli.send("SIGTERM");
    expect(await ended).toBe(0);
    expect(cli.err()).toContain("draining: other hosts continue its runs\nstopped\n");
    expect(cli.composition.workersClosed).toBe(1);
    expect(cli.composition.workers[0]).toMatchObject({ nats: { nats: "nats://h" }, workspace: cli.cwd, isNamed: true });
  });

  test("exits with 0 after a drain request, too", async () => {
    const cli = createFakeCli();
    const ended = cli.run("worker", "--agents", "all");
    await whenReady(cli);
    expect(cli.composition.workers[0]?.work).toEqual({ serve: "all", capacity: 16 });
    cli.composition.drainRequested.resolve("ada");
    expect(await ended).toBe(0);
    expect(cli.err()).toContain("draining for ada");
  });

  test("without a name gets one, and leaves nothing behind", async () => {
    const cli = createFakeCli();
    const ended = cli.run("worker", "--agents", "coder");
    await whenReady(cli);
    expect(cli.out()).toMatch(/^ready {2}worker-[\w-]+-[0-9a-z]{4}\n$/);
    const folder = join(cli.home.path, "workers");
    expect(readdirSync(folder)).toHaveLength(1);
    cli.send("SIGTERM");
    await ended;
    expect(readdirSync(folder)).toEqual([]);
  });

  test("shares a home with its owner, and with workers of other names", async () => {
    const one = createFakeCli();
    const owner = createFakeCli({ home: one.home.path, composition: one.composition });
    const up = owner.run("up");
    await whenReady(owner);
    const first = one.run("worker", "--agents", "coder", "--name", "a");
    await whenReady(one);
    const other = createFakeCli({ home: one.home.path, composition: one.composition });
    expect(await other.run("worker", "--agents", "coder", "--name", "a")).toBe(1);
    expect(other.err()).toMatch(/a worker named a is already running with this home\nfix: .*--name a-2/);
    expect(existsSync(join(one.home.path, "workers", "a", "logs"))).toBe(true);
    owner.send("SIGINT");
    one.send("SIGINT");
    expect(await Promise.all([up, first])).toEqual([0, 0]);
    const lock = tryLock(join(one.home.path, "workers", "a", "lock.db"));
    expect(lock).not.toBeNull();
    lock?.release();
  });

  test("exits at once when it is stopped twice", async () => {
    const cli = createFakeCli();
    const ended = cli.run("worker", "--agents", "coder");
    await whenReady(cli);
    cli.send("SIGTERM");
    cli.send("SIGTERM");
    expect(cli.exits).toEqual([143]);
    await ended;
  });
});

test.each([
  [["worker"], /--agents/],
  [["worker", "--agents", ""], /--agents is empty/],
  [["worker", "--agents", "a b"], /not a list of names/],
  [["worker", "--agents", "coder", "--capacity", "0"], /--capacity "0" is not a whole number/],
  [["worker", "--agents", "coder", "--name", "a.b"], /"a\.b" is not a valid host name/],
  [["worker", "--agents", "coder", "--name", "all"], /"all" is not a valid host name/],
  [["worker", "--agents", "coder", "--lease", "5"], /--lease "5" is not a whole number from 500/],
  [["up", "--nats", "nats://h", "--context", "x"], /--nats and --context cannot be used together/],
])("%j is refused with 2", async (args, words) => {
  const cli = createFakeCli();
  expect(await cli.run(...args)).toBe(2);
  expect(cli.err()).toMatch(words);
  expect(cli.composition.workers).toEqual([]);
});

test("up shows announcements of other hosts, and the problems of the server", async () => {
  const cli = createFakeCli();
  const { start } = cli.composition;
  const seen: unknown[] = [];
  cli.composition.start = async (options) => {
    seen.push(options.nats, options.work);
    const contextFile = "/home/nats/context.json";
    return Object.assign(await start(options), {
      warnings: ["too old"],
      ownServer: { url: "nats://o:1", contextFile },
    });
  };
  const ended = cli.run("up", "--context", "--namespace", "n", "--lease", "2s", "--agents", "", "--capacity", "5");
  await whenReady(cli);
  expect(seen).toEqual([
    { nats: undefined, context: true, namespace: "n", place: undefined, leaseMs: 2_000 },
    { serve: [], capacity: 5 },
  ]);
  expect(cli.err()).toContain("nats: too old");
  expect(cli.err()).toContain("troupe worker --context /home/nats/context.json --agents coder");
  cli.send("SIGINT");
  await ended;
});

test("a run that connects to the owner of the home says that its flag is ignored", async () => {
  const owner = createFakeCli();
  const up = owner.run("up");
  await whenReady(owner);
  const cli = createFakeCli({ home: owner.home.path, composition: owner.composition });
  expect(await cli.run("run", "answer this", "--nats", "nats://h")).toBe(0);
  expect(cli.err()).toMatch(
    /daemon with pid \d+ already runs this home; its NATS connection is used and the flag is ignored/,
  );
  owner.send("SIGINT");
  await up;
});

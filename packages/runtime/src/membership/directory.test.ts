/** Who can run what: heard from hosts that come, change, drain, leave, and go without a word. */
import { TroupeError } from "@troupe/core";
import { encode, type HostView } from "@troupe/core/internal";
import { createMemoryBus } from "@troupe/core/memory";
import { describe, expect, test } from "vitest";
import { beatMs, createHostsFixture, served, settle } from "./hosts.fixture.ts";

const coder = served("coder");
const tester = served("tester");

function names(views: readonly HostView[]): string[] {
  return views.map(({ host }) => host);
}

describe("a host is known", () => {
  test("by whoever listens when it comes, with all that it says of itself", async () => {
    const stage = createHostsFixture();
    const directory = await stage.directory();
    const host = await stage.host("worker-a", { agents: [coder], capacity: 3, place: "disk-1" });
    host.work({ runs: 2, busy: 1 });
    await stage.pass(beatMs);
    expect(directory.list()).toEqual([
      {
        ...{ host: "worker-a", role: "worker", version: "1.0.0", protocol: 1, pid: 7, place: "disk-1", capacity: 3 },
        ...{ agents: [coder], beatMs, startedAt: new Date(1_000_000).toISOString() },
        ...{ runs: 2, busy: 1, draining: false, silentMs: 0, alive: true },
      },
    ]);
  });

  test("by whoever comes later: everybody is asked at the start", async () => {
    const stage = createHostsFixture();
    await stage.host("worker-b");
    await stage.host("worker-a");
    await stage.pass(200);
    expect(names((await stage.directory()).list())).toEqual(["worker-a", "worker-b"]);
  });

  test("with its new agents as soon as they change, though its announcement was lost", async () => {
    const stage = createHostsFixture();
    const host = await stage.host("worker-a", { agents: [coder] });
    await stage.pass(200);
    const directory = await stage.directory();
    const changes: string[][] = [];
    directory.onChange(() => changes.push([...directory.served().keys()]));
    host.serve([coder, tester]);
    await stage.pass(200);
    expect([...directory.served().keys()]).toEqual(["coder", "tester"]);
    expect(changes.at(-1)).toEqual(["coder", "tester"]);
  });

  test("and is asked when only its heartbeat was heard", async () => {
    const stage = createHostsFixture();
    const heard: string[] = [];
    await stage.bus.subscribe(stage.subjects.control("stranger"), ({ bytes }) => {
      heard.push(JSON.parse(Buffer.from(bytes).toString()).kind);
    });
    const directory = await stage.directory();
    const beat = { v: 1, kind: "host.beat", host: "stranger", announced: "x", runs: 0, busy: 0, draining: false };
    stage.bus.publish(stage.subjects.host("stranger"), encode(beat));
    await settle();
    expect(heard).toEqual(["hosts.asked"]);
    expect(directory.list()).toEqual([]);
  });
});

describe("a host that was", () => {
  test("silent for three beats is gone, shown for a while, and then forgotten", async () => {
    const stage = createHostsFixture();
    const missed: string[] = [];
    const directory = await stage.directory({ onMissing: (host) => missed.push(host) });
    await stage.host("worker-a", { agents: [coder] });
    await stage.pass(beatMs);
    // It dies: nothing of it is heard any more.
    stage.bus.publish = () => {};
    await stage.pass(3 * beatMs - 100);
    expect(directory.list()).toMatchObject([{ alive: true, silentMs: 3 * beatMs - 100 }]);
    expect(missed).toEqual([]);
    await stage.pass(100);
    expect(missed).toEqual(["worker-a"]);
    expect(directory.list()).toMatchObject([{ alive: false }]);
    expect(directory.served().size).toBe(0);
    await stage.pass(11 * 60_000);
    expect(directory.list()).toEqual([]);
  });

  test("gone is back with its next heartbeat", async () => {
    const stage = createHostsFixture();
    const directory = await stage.directory();
    const host = await stage.host("worker-a", { agents: [coder] });
    const { publish } = stage.bus;
    stage.bus.publish = () => {};
    await stage.pass(4 * beatMs);
    expect(directory.list()).toMatchObject([{ alive: false }]);
    stage.bus.publish = publish;
    await stage.pass(beatMs);
    expect(directory.list()).toMatchObject([{ alive: true }]);
    host.stop();
  });

  test("leaving says so, and is missed by nobody", async () => {
    const stage = createHostsFixture();
    const missed: string[] = [];
    const directory = await stage.directory({ onMissing: (host) => missed.push(host) });
    const host = await stage.host("worker-a", { agents: [coder] });
    host.stop();
    await settle();
    expect(directory.list()).toMatchObject([{ host: "worker-a", alive: false }]);
    await stage.pass(5 * beatMs);
    expect(missed).toEqual([]);
  });
});

describe("who serves an agent", () => {
  test("is every living host that announces it, at that place or at whichever", async () => {
    const stage = createHostsFixture();
    const directory = await stage.directory();
    await stage.host("here", { agents: [coder, tester], place: "disk-1" });
    await stage.host("there", { agents: [coder], place: "disk-2" });
    const leaving = await stage.host("leaving", { agents: [coder], place: "disk-1" });
    leaving.work({ draining: true });
    leaving.changed();
    await stage.pass(200);
    expect(names(await directory.serving("coder", "any"))).toEqual(["here", "there"]);
    expect(names(await directory.serving("coder", "disk-1"))).toEqual(["here"]);
    expect(names(await directory.serving("tester", "any"))).toEqual(["here"]);
  });

  test("is asked of all before nobody is said to be there, for half a second", async () => {
    const stage = createHostsFixture();
    await stage.host("worker-a", { agents: [tester] });
    const directory = await stage.directory();
    let found: readonly HostView[] | null = null;
    void directory.serving("coder", "any").then((views) => {
      found = views;
    });
    await stage.pass(400);
    expect(found).toBeNull();
    await stage.pass(100);
    expect(found).toEqual([]);
  });

  test("is known at once when one answers meanwhile", async () => {
    const stage = createHostsFixture();
    await stage.host("worker-a", { agents: [tester] });
    const directory = await stage.directory();
    const serving = directory.serving("coder", "any");
    await stage.host("worker-b", { agents: [coder] });
    expect(names(await serving)).toEqual(["worker-b"]);
  });

  test("cannot be said where nobody can be asked: that is no proof that nobody is there", async () => {
    const stage = createHostsFixture();
    await stage.host("worker-a", { agents: [tester] });
    const directory = await stage.directory();
    stage.bus.request = () => Promise.reject(new TroupeError("UNREACHABLE", "no server"));
    await expect(directory.serving("coder", "any")).rejects.toMatchObject({ code: "UNREACHABLE" });
  });

  test("is this process's own host, for whatever agent, where it takes everything", async () => {
    const stage = createHostsFixture();
    const own = await stage.host("own", { place: "disk-1" });
    const directory = await stage.directory({ own, ownServesAll: true });
    expect(names(await directory.serving("anybody", "any"))).toEqual(["own"]);
    expect(names(await directory.serving("anybody", "disk-1"))).toEqual(["own"]);
  });
});

test("agents that others serve are those that its own host does not; of two definitions the newer host's counts", async () => {
  const stage = createHostsFixture();
  const own = await stage.host("own", { agents: [coder] });
  const directory = await stage.directory({ own });
  await stage.host("old", { agents: [coder, tester], startedAt: "2026-01-01T00:00:00Z" });
  const newer = served("tester", { description: "tests better" });
  await stage.host("a-new-one", { agents: [newer], startedAt: "2026-01-02T00:00:00Z" });
  expect([...directory.served()]).toEqual([["tester", newer]]);
  expect(names(directory.list())).toEqual(["a-new-one", "old", "own"]);
});

describe("what does not fit has no effect", () => {
  const announcement = {
    ...{ v: 1, kind: "host.announced", host: "evil", role: "worker", version: "1", protocol: 1, pid: 1, place: "p" },
    ...{ capacity: 1, agents: [coder], startedAt: "2026-01-01T00:00:00Z", beatMs: 1_000, announced: "1" },
  };
  const agents = Array.from({ length: 1_001 }, (_, i) => served(`agent-${i}`));

  test.each<[string, unknown]>([
    ["a thousand and one agents", { ...announcement, agents }],
    ["another host's name", { ...announcement, host: "worker-a" }],
    ["a name that is no token", { ...announcement, host: "evil.>" }],
    ["an agent whose name is no token", { ...announcement, agents: [{ ...coder, definition: { id: "../x" } }] }],
    ["a heart that never beats", { ...announcement, beatMs: 1e15 }],
    ["more bytes than anybody needs", { ...announcement, version: "x".repeat(600_000) }],
    ["a newer version", { ...announcement, v: 2 }],
    ["no capacity", { ...announcement, capacity: 0 }],
    ["not an object", "hello"],
    ["a depth that exhausts a stack", Buffer.from(`${'{"v":'.repeat(50_000)}1${"}".repeat(50_000)}`)],
  ])("%s", async (_, message) => {
    const stage = createHostsFixture();
    const directory = await stage.directory();
    await stage.host("worker-a", { agents: [tester] });
    const before = directory.list();
    const bytes = message instanceof Uint8Array ? message : encode(message);
    for (let time = 0; time < 3; time += 1) stage.bus.publish(stage.subjects.host("evil"), bytes);
    stage.bus.publish(stage.subjects.host("evil"), new Uint8Array([0xff, 0x00]));
    await settle();
    expect(directory.list()).toEqual(before);
    expect(directory.refused).toBe(4);
    expect(stage.logged.length).toBeLessThanOrEqual(2);
  });

  test("in this host's own name: it knows best what it is", async () => {
    const stage = createHostsFixture();
    const own = await stage.host("own", { agents: [coder] });
    const directory = await stage.directory({ own });
    for (const said of [
      { ...announcement, host: "own", agents: [tester] },
      { v: 1, kind: "host.left", host: "own" },
    ]) {
      stage.bus.publish(stage.subjects.host("own"), encode(said));
    }
    await settle();
    expect(directory.list()).toMatchObject([{ host: "own", alive: true, agents: [coder] }]);
    expect(stage.logged).toHaveLength(1);
  });

  test("a flood of hosts takes so much memory and no more; those who were there stay", async () => {
    const stage = createHostsFixture(createMemoryBus({ payloadBytesMax: 2 ** 20 }));
    const directory = await stage.directory();
    await stage.host("worker-a", { agents: [tester] });
    for (let i = 0; i < 1_200; i += 1) {
      const host = `flood-${i}`;
      stage.bus.publish(stage.subjects.host(host), encode({ ...announcement, host }));
    }
    await settle();
    expect(directory.list()).toHaveLength(1_000);
    expect(directory.list().find(({ host }) => host === "worker-a")).toMatchObject({ alive: true });
    const fat = Array.from({ length: 900 }, (_, i) => served(`fat-${i}`, { description: "x".repeat(100) }));
    for (let i = 0; i < 400; i += 1) {
      const host = `flood-${i}`;
      stage.bus.publish(stage.subjects.host(host), encode({ ...announcement, host, agents: fat, announced: "2" }));
    }
    await settle();
    const kept = directory.list().reduce((sum, view) => sum + view.agents.length, 0);
    expect(kept * 450).toBeLessThan(80 * 2 ** 20);
    expect(directory.list().find(({ host }) => host === "worker-a")).toMatchObject({ alive: true });
  });
});

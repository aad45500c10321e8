/** Which host serves which agent, while hosts start, change, drain, leave and crash. */
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
  test("to a directory that listens when it starts, with its whole announcement", async () => {
    const fixture = createHostsFixture();
    const directory = await fixture.directory();
    const host = await fixture.host("worker-a", { agents: [coder], capacity: 3, place: "disk-1" });
    host.work({ runs: 2, busy: 1 });
    await fixture.pass(beatMs);
    expect(directory.list()).toEqual([
      {
        ...{ host: "worker-a", role: "worker", version: "1.0.0", protocol: 1, pid: 7, place: "disk-1", capacity: 3 },
        ...{ agents: [coder], beatMs, startedAt: new Date(1_000_000).toISOString() },
        ...{ runs: 2, busy: 1, draining: false, silentMs: 0, alive: true },
      },
    ]);
  });

  test("to a directory that starts later, because it queries all hosts", async () => {
    const fixture = createHostsFixture();
    await fixture.host("worker-b");
    await fixture.host("worker-a");
    await fixture.pass(200);
    expect(names((await fixture.directory()).list())).toEqual(["worker-a", "worker-b"]);
  });

  test("with its new agents even if the announcement was lost", async () => {
    const fixture = createHostsFixture();
    const host = await fixture.host("worker-a", { agents: [coder] });
    await fixture.pass(200);
    const directory = await fixture.directory();
    const changes: string[][] = [];
    directory.onChange(() => changes.push([...directory.served().keys()]));
    host.serve([coder, tester]);
    await fixture.pass(200);
    expect([...directory.served().keys()]).toEqual(["coder", "tester"]);
    expect(changes.at(-1)).toEqual(["coder", "tester"]);
  });

  test("and is queried if only its heartbeat arrived", async () => {
    const fixture = createHostsFixture();
    const kinds: string[] = [];
    await fixture.bus.subscribe(fixture.subjects.control("stranger"), ({ bytes }) => {
      kinds.push(JSON.parse(Buffer.from(bytes).toString()).kind);
    });
    const directory = await fixture.directory();
    const beat = { v: 1, kind: "host.beat", host: "stranger", announced: "x", runs: 0, busy: 0, draining: false };
    fixture.bus.publish(fixture.subjects.host("stranger"), encode(beat));
    await settle();
    expect(kinds).toEqual(["hosts.asked"]);
    expect(directory.list()).toEqual([]);
  });
});

describe("a host that is", () => {
  test("silent for three beats is gone, shown for a while, and then forgotten", async () => {
    const fixture = createHostsFixture();
    const missed: string[] = [];
    const directory = await fixture.directory({ onMissing: (host) => missed.push(host) });
    await fixture.host("worker-a", { agents: [coder] });
    await fixture.pass(beatMs);
    // The host crashes: none of its messages arrives any more.
    fixture.bus.publish = () => {};
    await fixture.pass(3 * beatMs - 100);
    expect(directory.list()).toMatchObject([{ alive: true, silentMs: 3 * beatMs - 100 }]);
    expect(missed).toEqual([]);
    await fixture.pass(100);
    expect(missed).toEqual(["worker-a"]);
    expect(directory.list()).toMatchObject([{ alive: false }]);
    expect(directory.served().size).toBe(0);
    await fixture.pass(11 * 60_000);
    expect(directory.list()).toEqual([]);
  });

  test("gone counts as alive after its next heartbeat", async () => {
    const fixture = createHostsFixture();
    const directory = await fixture.directory();
    const host = await fixture.host("worker-a", { agents: [coder] });
    const { publish } = fixture.bus;
    fixture.bus.publish = () => {};
    await fixture.pass(4 * beatMs);
    expect(directory.list()).toMatchObject([{ alive: false }]);
    fixture.bus.publish = publish;
    await fixture.pass(beatMs);
    expect(directory.list()).toMatchObject([{ alive: true }]);
    host.stop();
  });

  test("leaving announces it, and does not count as missing", async () => {
    const fixture = createHostsFixture();
    const missed: string[] = [];
    const directory = await fixture.directory({ onMissing: (host) => missed.push(host) });
    const host = await fixture.host("worker-a", { agents: [coder] });
    host.stop();
    await settle();
    expect(directory.list()).toMatchObject([{ host: "worker-a", alive: false }]);
    await fixture.pass(5 * beatMs);
    expect(missed).toEqual([]);
  });
});

describe("serving", () => {
  test("returns every living host with the agent, on one disk or on any", async () => {
    const fixture = createHostsFixture();
    const directory = await fixture.directory();
    await fixture.host("here", { agents: [coder, tester], place: "disk-1" });
    await fixture.host("there", { agents: [coder], place: "disk-2" });
    const leaving = await fixture.host("leaving", { agents: [coder], place: "disk-1" });
    leaving.work({ draining: true });
    leaving.changed();
    await fixture.pass(200);
    expect(names(await directory.serving("coder", "any"))).toEqual(["here", "there"]);
    expect(names(await directory.serving("coder", "disk-1"))).toEqual(["here"]);
    expect(names(await directory.serving("tester", "any"))).toEqual(["here"]);
  });

  test("queries all hosts for half a second before it returns none", async () => {
    const fixture = createHostsFixture();
    await fixture.host("worker-a", { agents: [tester] });
    const directory = await fixture.directory();
    let found: readonly HostView[] | null = null;
    void directory.serving("coder", "any").then((views) => {
      found = views;
    });
    await fixture.pass(400);
    expect(found).toBeNull();
    await fixture.pass(100);
    expect(found).toEqual([]);
  });

  test("returns as soon as a host answers", async () => {
    const fixture = createHostsFixture();
    await fixture.host("worker-a", { agents: [tester] });
    const directory = await fixture.directory();
    const serving = directory.serving("coder", "any");
    await fixture.host("worker-b", { agents: [coder] });
    expect(names(await serving)).toEqual(["worker-b"]);
  });

  test("rejects if the query cannot be sent, because a host could exist", async () => {
    const fixture = createHostsFixture();
    await fixture.host("worker-a", { agents: [tester] });
    const directory = await fixture.directory();
    fixture.bus.request = () => Promise.reject(new TroupeError("UNREACHABLE", "no server"));
    await expect(directory.serving("coder", "any")).rejects.toMatchObject({ code: "UNREACHABLE" });
  });

  test("returns the own host for any agent if it serves all", async () => {
    const fixture = createHostsFixture();
    const own = await fixture.host("own", { place: "disk-1" });
    const directory = await fixture.directory({ own, ownServesAll: true });
    expect(names(await directory.serving("anybody", "any"))).toEqual(["own"]);
    expect(names(await directory.serving("anybody", "disk-1"))).toEqual(["own"]);
  });
});

test("served lists the agents of other hosts only; of two definitions the newer host's counts", async () => {
  const fixture = createHostsFixture();
  const own = await fixture.host("own", { agents: [coder] });
  const directory = await fixture.directory({ own });
  await fixture.host("old", { agents: [coder, tester], startedAt: "2026-01-01T00:00:00Z" });
  const newer = served("tester", { description: "tests better" });
  await fixture.host("a-new-one", { agents: [newer], startedAt: "2026-01-02T00:00:00Z" });
  expect([...directory.served()]).toEqual([["tester", newer]]);
  expect(names(directory.list())).toEqual(["a-new-one", "old", "own"]);
});

describe("an invalid message has no effect:", () => {
  const announcement = {
    ...{ v: 1, kind: "host.announced", host: "evil", role: "worker", version: "1", protocol: 1, pid: 1, place: "p" },
    ...{ capacity: 1, agents: [coder], startedAt: "2026-01-01T00:00:00Z", beatMs: 1_000, announced: "1" },
  };
  const agents = Array.from({ length: 1_001 }, (_, i) => served(`agent-${i}`));

  test.each<[string, unknown]>([
    ["a thousand and one agents", { ...announcement, agents }],
    ["another host's name", { ...announcement, host: "worker-a" }],
    ["a name that is not a token", { ...announcement, host: "evil.>" }],
    ["an agent whose name is not a token", { ...announcement, agents: [{ ...coder, definition: { id: "../x" } }] }],
    ["a heart that never beats", { ...announcement, beatMs: 1e15 }],
    ["too many bytes", { ...announcement, version: "x".repeat(600_000) }],
    ["a newer version", { ...announcement, v: 2 }],
    ["no capacity", { ...announcement, capacity: 0 }],
    ["not an object", "hello"],
    ["a depth that exhausts a stack", Buffer.from(`${'{"v":'.repeat(50_000)}1${"}".repeat(50_000)}`)],
  ])("%s", async (_, message) => {
    const fixture = createHostsFixture();
    const directory = await fixture.directory();
    await fixture.host("worker-a", { agents: [tester] });
    const before = directory.list();
    const bytes = message instanceof Uint8Array ? message : encode(message);
    for (let time = 0; time < 3; time += 1) fixture.bus.publish(fixture.subjects.host("evil"), bytes);
    fixture.bus.publish(fixture.subjects.host("evil"), new Uint8Array([0xff, 0x00]));
    await settle();
    expect(directory.list()).toEqual(before);
    expect(directory.refused).toBe(4);
    expect(fixture.logged.length).toBeLessThanOrEqual(2);
  });

  test("sent in the name of this process's own host", async () => {
    const fixture = createHostsFixture();
    const own = await fixture.host("own", { agents: [coder] });
    const directory = await fixture.directory({ own });
    for (const forged of [
      { ...announcement, host: "own", agents: [tester] },
      { v: 1, kind: "host.left", host: "own" },
    ]) {
      fixture.bus.publish(fixture.subjects.host("own"), encode(forged));
    }
    await settle();
    expect(directory.list()).toMatchObject([{ host: "own", alive: true, agents: [coder] }]);
    expect(fixture.logged).toHaveLength(1);
  });

  test("a flood of hosts, which uses bounded memory and evicts no known host", async () => {
    const fixture = createHostsFixture(createMemoryBus({ payloadBytesMax: 2 ** 20 }));
    const directory = await fixture.directory();
    await fixture.host("worker-a", { agents: [tester] });
    for (let i = 0; i < 1_200; i += 1) {
      const host = `flood-${i}`;
      fixture.bus.publish(fixture.subjects.host(host), encode({ ...announcement, host }));
    }
    await settle();
    expect(directory.list()).toHaveLength(1_000);
    expect(directory.list().find(({ host }) => host === "worker-a")).toMatchObject({ alive: true });
    const fat = Array.from({ length: 900 }, (_, i) => served(`fat-${i}`, { description: "x".repeat(100) }));
    for (let i = 0; i < 200; i += 1) {
      const host = `flood-${i}`;
      fixture.bus.publish(fixture.subjects.host(host), encode({ ...announcement, host, agents: fat, announced: "2" }));
    }
    await settle();
    const listed = directory.list().reduce((sum, view) => sum + view.agents.length, 0);
    expect(listed * 450).toBeLessThan(80 * 2 ** 20);
    expect(directory.list().find(({ host }) => host === "worker-a")).toMatchObject({ alive: true });
  });
});

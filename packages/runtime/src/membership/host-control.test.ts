import type { BusMessage, HostDirectory } from "@troupe/core";
import { ControlMessage, decode } from "@troupe/core/internal";
import { describe, expect, test } from "vitest";
import { createHostControl } from "./host-control.ts";
import { createHostsFixture, served, settle } from "./hosts.fixture.ts";

const hostId = "daemon-7";

async function open() {
  const fixture = createHostsFixture();
  const own = await fixture.host(hostId, { role: "daemon" });
  const hosts = await fixture.directory({ own });
  const received: ControlMessage[] = [];
  const listen = ({ bytes }: BusMessage): void => void received.push(decode(ControlMessage, bytes, "control"));
  await fixture.bus.subscribe(fixture.subjects.drain("worker"), listen);
  return { fixture, received, control: createHostControl({ ...fixture, hosts, hostId }) };
}

describe("the list of hosts", () => {
  test("has this process's host first, then the others by name, each with its agents and load", async () => {
    const { fixture, control } = await open();
    const coder = served("coder");
    const worker = await fixture.host("a-worker", { agents: [coder] });
    worker.work({ runs: 3, busy: 2 });
    await fixture.pass(2_000);
    await fixture.pass(1_500);
    const rows = await control.hosts();
    expect(rows.map(({ host }) => host)).toEqual([hostId, "a-worker"]);
    expect(rows[1]).toEqual({
      ...{ host: "a-worker", role: "worker", version: "1.0.0", pid: 7, place: "box", status: "alive" },
      agents: [{ id: "coder", hash: coder.hash }],
      ...{ capacity: 4, runs: 3, busy: 2 },
      startedAt: new Date(1_000_000).toISOString(),
      lastHeartbeatAt: new Date(1_002_000).toISOString(),
    });
  });

  test("shows hosts as alive, draining or gone before it forgets them", async () => {
    const { fixture, control } = await open();
    const worker = await fixture.host("worker");
    const status = async () => (await control.hosts()).find(({ host }) => host === "worker")?.status;
    expect(await status()).toBe("alive");
    worker.work({ draining: true });
    await fixture.pass(2_000);
    expect(await status()).toBe("draining");
    worker.stop();
    await settle();
    expect(await status()).toBe("gone");
    await fixture.pass(10 * 60_000);
    expect(await status()).toBeUndefined();
  });

  test("is empty if no host is known", async () => {
    const { fixture } = await open();
    expect(await createHostControl({ ...fixture, hostId }).hosts()).toEqual([]);
  });
});

describe("a drain", () => {
  test("is sent once; for a draining or gone host it only reports that", async () => {
    const { fixture, received, control } = await open();
    const worker = await fixture.host("worker");
    expect(await control.drainHost("worker", "ada")).toEqual({ host: "worker", outcome: "requested" });
    worker.work({ draining: true });
    await fixture.pass(2_000);
    expect(await control.drainHost("worker", "ada")).toEqual({ host: "worker", outcome: "draining" });
    worker.stop();
    await settle();
    expect(await control.drainHost("worker", "ada")).toEqual({ host: "worker", outcome: "gone" });
    const drains = received.filter(({ kind }) => kind === "drain.asked");
    expect(drains).toEqual([{ v: 1, kind: "drain.asked", host: "worker", by: "ada" }]);
  });

  test.each([
    [[], "no host is known"],
    [["a", "b"], "known hosts: a, b"],
    [Array.from({ length: 23 }, (_, i) => `w${i}`), "w18, w19 and 3 more"],
  ])("of an unknown host is an error that lists the known ones: %j", async (names, words) => {
    const { fixture } = await open();
    const list = () => names.map((host) => ({ host }));
    const control = createHostControl({ ...fixture, hostId, hosts: { list } as unknown as HostDirectory });
    await expect(control.drainHost("x.y", "ada")).rejects.toMatchObject({
      code: "UNKNOWN_HOST",
      message: expect.stringMatching(new RegExp(`^there is no host "x.y"; .*${words}$`)),
      fix: "troupe hosts ls",
    });
  });
});

import type { BusMessage, HostDirectory } from "@troupe/core";
import { ControlMessage, decode } from "@troupe/core/internal";
import { describe, expect, test } from "vitest";
import { createHostControl } from "./host-control.ts";
import { createHostsFixture, served, settle } from "./hosts.fixture.ts";

const hostId = "daemon-7";

async function open() {
  const stage = createHostsFixture();
  const own = await stage.host(hostId, { role: "daemon" });
  const hosts = await stage.directory({ own });
  const said: ControlMessage[] = [];
  const listen = ({ bytes }: BusMessage): void => void said.push(decode(ControlMessage, bytes, "control"));
  await stage.bus.subscribe(stage.subjects.all.control, listen);
  return { stage, said, control: createHostControl({ ...stage, hosts, hostId }) };
}

describe("hosts, as people are shown them", () => {
  test("are this one first, then the others by name, each with what it serves and how busy it is", async () => {
    const { stage, control } = await open();
    const coder = served("coder");
    const worker = await stage.host("a-worker", { agents: [coder] });
    worker.work({ runs: 3, busy: 2 });
    await stage.pass(2_000);
    await stage.pass(1_500);
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

  test("are alive, draining, or gone for a while before they are forgotten", async () => {
    const { stage, control } = await open();
    const worker = await stage.host("worker");
    const status = async () => (await control.hosts()).find(({ host }) => host === "worker")?.status;
    expect(await status()).toBe("alive");
    worker.work({ draining: true });
    await stage.pass(2_000);
    expect(await status()).toBe("draining");
    worker.stop();
    await settle();
    expect(await status()).toBe("gone");
    await stage.pass(10 * 60_000);
    expect(await status()).toBeUndefined();
  });

  test("are none where nobody is known", async () => {
    const { stage } = await open();
    expect(await createHostControl({ ...stage, hostId }).hosts()).toEqual([]);
  });
});

describe("a host that is asked to leave", () => {
  test("is told once; of one that drains or has gone it is said that it does, or has", async () => {
    const { stage, said, control } = await open();
    const worker = await stage.host("worker");
    expect(await control.drainHost("worker", "ada")).toEqual({ host: "worker", outcome: "requested" });
    worker.work({ draining: true });
    await stage.pass(2_000);
    expect(await control.drainHost("worker", "ada")).toEqual({ host: "worker", outcome: "draining" });
    worker.stop();
    await settle();
    expect(await control.drainHost("worker", "ada")).toEqual({ host: "worker", outcome: "gone" });
    const drains = said.filter(({ kind }) => kind === "drain.asked");
    expect(drains).toEqual([{ v: 1, kind: "drain.asked", host: "worker", by: "ada" }]);
  });

  test.each([
    [[], "no host is known"],
    [["a", "b"], "known hosts: a, b"],
    [Array.from({ length: 23 }, (_, i) => `w${i}`), "w18, w19 and 3 more"],
  ])("is an error where it is none, which names those that there are: %j", async (names, words) => {
    const { stage } = await open();
    const list = () => names.map((host) => ({ host }));
    const control = createHostControl({ ...stage, hostId, hosts: { list } as unknown as HostDirectory });
    await expect(control.drainHost("x.y", "ada")).rejects.toMatchObject({
      code: "UNKNOWN_HOST",
      message: expect.stringMatching(new RegExp(`^there is no host "x.y"; .*${words}$`)),
      fix: "troupe hosts ls",
    });
  });
});

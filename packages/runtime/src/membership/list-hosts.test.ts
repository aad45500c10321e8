import type { Bus } from "@troupe/core";
import { describe, expect, test } from "vitest";
import { createHostsFixture, type HostsFixture, served, settle } from "./hosts.fixture.ts";
import { type HostListing, listHosts } from "./list-hosts.ts";

/** Somebody who looks, while time goes on. */
async function look(stage: HostsFixture): Promise<HostListing> {
  const looking = listHosts(stage);
  await stage.pass(600);
  return looking;
}

describe("somebody who runs nothing himself", () => {
  test("sees who is there, with what they serve and how busy they are", async () => {
    const stage = createHostsFixture();
    const worker = await stage.host("worker-a", { agents: [served("coder")], beatMs: 60_000 });
    worker.work({ runs: 2, busy: 1 });
    await stage.host("daemon-b", { role: "daemon", beatMs: 60_000 });
    const round = await look(stage);
    expect(await round.hosts()).toMatchObject([
      { host: "daemon-b", role: "daemon", status: "alive" },
      { host: "worker-a", agents: [{ id: "coder" }], runs: 2, busy: 1 },
    ]);
    round.stop();
  });

  test("sees nobody where nobody is", async () => {
    const round = await look(createHostsFixture());
    expect(await round.hosts()).toEqual([]);
    await expect(round.drainHost("worker-a", "ada")).rejects.toMatchObject({ code: "UNKNOWN_HOST" });
  });

  test("can ask one of them to leave", async () => {
    const stage = createHostsFixture();
    const wanted: string[] = [];
    await stage.host("worker-a", { onDrain: (by) => wanted.push(by) });
    const round = await look(stage);
    expect(await round.drainHost("worker-a", "ada")).toEqual({ host: "worker-a", outcome: "requested" });
    await settle();
    expect(wanted).toEqual(["ada"]);
  });

  test("listens to nobody any more once it has stopped, or could not ask", async () => {
    const stage = createHostsFixture();
    const round = await look(stage);
    round.stop();
    await stage.host("worker-late");
    expect(await round.hosts()).toEqual([]);

    const open: string[] = [];
    const bus: Bus = {
      ...stage.bus,
      request: () => Promise.reject(new Error("no connection")),
      async subscribe(pattern, listener) {
        open.push(pattern);
        const subscription = await stage.bus.subscribe(pattern, listener);
        return { unsubscribe: () => open.splice(open.indexOf(pattern), 1) && subscription.unsubscribe() };
      },
    };
    await expect(listHosts({ ...stage, bus })).rejects.toThrow("no connection");
    expect(open).toEqual([]);
  });
});

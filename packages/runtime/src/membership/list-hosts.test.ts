import type { Bus } from "@troupe/core";
import { describe, expect, test } from "vitest";
import { createHostsFixture, type HostsFixture, served, settle } from "./hosts.fixture.ts";
import { type HostListing, listHosts } from "./list-hosts.ts";

/** Lists hosts while the simulated time advances. */
async function look(fixture: HostsFixture): Promise<HostListing> {
  const looking = listHosts(fixture);
  await fixture.pass(600);
  return looking;
}

describe("a process without a host", () => {
  test("lists the hosts with their agents and load", async () => {
    const fixture = createHostsFixture();
    const worker = await fixture.host("worker-a", { agents: [served("coder")], beatMs: 60_000 });
    worker.work({ runs: 2, busy: 1 });
    await fixture.host("daemon-b", { role: "daemon", beatMs: 60_000 });
    const round = await look(fixture);
    expect(await round.hosts()).toMatchObject([
      { host: "daemon-b", role: "daemon", status: "alive" },
      { host: "worker-a", agents: [{ id: "coder" }], runs: 2, busy: 1 },
    ]);
    round.stop();
  });

  test("lists none if no host is alive", async () => {
    const round = await look(createHostsFixture());
    expect(await round.hosts()).toEqual([]);
    await expect(round.drainHost("worker-a", "ada")).rejects.toMatchObject({ code: "UNKNOWN_HOST" });
  });

  test("can drain a host", async () => {
    const fixture = createHostsFixture();
    const wanted: string[] = [];
    await fixture.host("worker-a", { onDrain: (by) => wanted.push(by) });
    const round = await look(fixture);
    expect(await round.drainHost("worker-a", "ada")).toEqual({ host: "worker-a", outcome: "requested" });
    await settle();
    expect(wanted).toEqual(["ada"]);
  });

  test("stops listening after stop, or if the query failed", async () => {
    const fixture = createHostsFixture();
    const round = await look(fixture);
    round.stop();
    await fixture.host("worker-late");
    expect(await round.hosts()).toEqual([]);

    const open: string[] = [];
    const bus: Bus = {
      ...fixture.bus,
      request: () => Promise.reject(new Error("no connection")),
      async subscribe(pattern, listener) {
        open.push(pattern);
        const subscription = await fixture.bus.subscribe(pattern, listener);
        return { unsubscribe: () => open.splice(open.indexOf(pattern), 1) && subscription.unsubscribe() };
      },
    };
    await expect(listHosts({ ...fixture, bus })).rejects.toThrow("no connection");
    expect(open).toEqual([]);
  });
});

import { existsSync } from "node:fs";
import { TroupeError } from "@troupe/core";
import { afterEach, describe, expect, test } from "vitest";
import { createFakeCli, removeTemporaryFolders } from "../testing/fake-cli.ts";
import { startOtherOwner } from "../testing/other-owner.ts";
import { aHost } from "../testing/rows.ts";

// The owner of the home knows the hosts.

afterEach(removeTemporaryFolders);

const hosts = [
  aHost({ host: "daemon-1", role: "daemon", agents: [], runs: 0, busy: 0, lastHeartbeatAt: at(10_000) }),
  aHost(),
  aHost({ host: "worker-b", status: "draining", agents: [{ id: "writer", hash: "2f" }], runs: 1, busy: 1 }),
  aHost({ host: "worker-c", status: "gone", version: "0.2.0\u001b[2J", place: "attic", lastHeartbeatAt: at(-90_000) }),
];

function at(ms: number): string {
  return new Date(ms).toISOString();
}

async function owned() {
  const cli = createFakeCli({ env: { USER: "ada" } });
  const { troupe } = await startOtherOwner(cli);
  troupe.hostRows = hosts;
  return { cli, troupe };
}

describe("hosts ls", () => {
  test("shows each host with its agents, load and last heartbeat", async () => {
    const { cli } = await owned();
    expect(await cli.run("hosts", "ls")).toBe(0);
    expect(cli.out().split("\n")).toEqual([
      "HOST      ROLE    STATUS      AGENTS         BUSY  RUNS  PLACE  VERSION         HEARD",
      "daemon-1  daemon  ● alive     none            0/4     0  box    0.1.0        0 ms ago",
      "worker-a  worker  ● alive     coder, tester   2/4     3  box    0.1.0       1.2 s ago",
      "worker-b  worker  ◌ draining  writer          1/4     1  box    0.1.0       1.2 s ago",
      "worker-c  worker  ✗ gone      coder, tester     –     –  attic  0.2.0    1 m 40 s ago",
      "",
    ]);
    expect(cli.err()).toBe("");
  });

  test("--json prints the unchanged rows", async () => {
    const { cli } = await owned();
    expect(await cli.run("hosts", "ls", "--json")).toBe(0);
    expect(JSON.parse(cli.out())).toEqual(hosts);
  });
});

describe("hosts drain", () => {
  test.each([
    ["worker-a", "requested", "asked worker-a to drain: it takes no new runs, gives its runs to other hosts and stops"],
    ["worker-b", "draining", "worker-b is already draining; nothing changed"],
    ["worker-c", "gone", "worker-c is gone; nothing changed"],
  ])("%s: %s", async (host, outcome, words) => {
    const { cli, troupe } = await owned();
    expect(await cli.run("hosts", "drain", host)).toBe(0);
    expect(cli.out()).toBe(`${words}\n`);
    expect(troupe.commands).toEqual(outcome === "requested" ? [`drain ${host} (ada)`] : []);
    const json = createFakeCli({ composition: cli.composition, home: cli.home.path });
    expect(await json.run("hosts", "drain", host, "--json")).toBe(0);
    expect(JSON.parse(json.out())).toEqual({ host, outcome });
  });

  test("an unknown host exits with 2 and names the known hosts", async () => {
    const { cli } = await owned();
    expect(await cli.run("hosts", "drain", "worker-z")).toBe(2);
    expect(cli.err()).toContain('there is no host "worker-z"; there are a, b');
  });
});

describe("hosts on a named server", () => {
  function watching(rows = hosts) {
    const cli = createFakeCli({ env: { USER: "ada" } });
    const watch = {
      server: "nats://h:4222 (namespace troupe)",
      drains: [] as string[],
      closed: 0,
      hosts: async () => rows,
      async drainHost(host: string, by: string) {
        watch.drains.push(`${host} (${by})`);
        return { host, outcome: "requested" as const };
      },
      async close() {
        watch.closed += 1;
      },
    };
    cli.composition.hostWatch = watch;
    return { cli, watch };
  }

  test.each([
    [["--nats", "nats://h:4222"], { nats: "nats://h:4222" }],
    [["--context", "work"], { context: "work" }],
    [["--namespace", "blue", "--context"], { namespace: "blue", context: true }],
    [[], {}],
  ])("are queried directly: %j", async (flags, natsFlags) => {
    const { cli, watch } = watching();
    expect(await cli.run("hosts", "ls", "--json", ...flags)).toBe(0);
    expect(JSON.parse(cli.out())).toEqual(hosts);
    expect(cli.composition.watched).toMatchObject([natsFlags]);
    expect(await cli.run("hosts", "drain", "worker-a", ...flags)).toBe(0);
    expect(watch).toMatchObject({ drains: ["worker-a (ada)"], closed: 2 });
  });

  test("are queried at a server that a flag names, and otherwise at the home's daemon", async () => {
    const { cli, watch } = watching();
    const { troupe } = await startOtherOwner(cli);
    troupe.hostRows = hosts.slice(0, 1);
    await cli.run("hosts", "ls", "--json", "--nats", "nats://h:4222");
    await cli.run("hosts", "ls", "--json");
    expect(
      cli
        .out()
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).length),
    ).toEqual([4, 1]);
    expect(watch.closed).toBe(1);
  });

  test("is empty if no host answers, which is not an error", async () => {
    const { cli } = watching([]);
    expect(await cli.run("hosts", "ls", "--nats", "nats://h:4222")).toBe(0);
    expect(cli.out()).toBe("");
    expect(cli.err()).toBe("no host answers on nats://h:4222 (namespace troupe)\n");
  });

  test("are released even if one of them cannot be queried", async () => {
    const { cli, watch } = watching();
    watch.hosts = () => Promise.reject(new TroupeError("UNREACHABLE", "no connection"));
    expect(await cli.run("hosts", "ls", "--nats", "nats://h:4222")).toBe(5);
    expect(watch.closed).toBe(1);
  });

  test("cannot be named twice", async () => {
    const { cli } = watching();
    expect(await cli.run("hosts", "ls", "--nats", "nats://h:4222", "--context", "work")).toBe(2);
  });
});

test.each([[["ls"]], [["ls", "--json"]], [["drain", "worker-a"]]])("without an owner %j exits with 5", async (args) => {
  const cli = createFakeCli();
  expect(await cli.run("hosts", ...args)).toBe(5);
  const output = cli.out() + cli.err();
  expect(output).toMatch(/no daemon runs the home \S+ and no NATS server is configured/);
  expect(output).toContain("troupe up");
  expect(existsSync(cli.home.path)).toBe(false);
});

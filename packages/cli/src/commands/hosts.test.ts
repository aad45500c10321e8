import { existsSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { createFakeCli, removeTemporaryFolders } from "../testing/fake-cli.ts";
import { otherOwner } from "../testing/other-owner.ts";
import { aHost } from "../testing/rows.ts";

// Hosts are known to whoever runs the home, and to nobody else.

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
  const { troupe } = await otherOwner(cli);
  troupe.hostRows = hosts;
  return { cli, troupe };
}

describe("hosts ls", () => {
  test("shows who runs what, how busy each is, and when it was heard of", async () => {
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

  test("--json has the rows as they are", async () => {
    const { cli } = await owned();
    expect(await cli.run("hosts", "ls", "--json")).toBe(0);
    expect(JSON.parse(cli.out())).toEqual(hosts);
  });
});

describe("hosts drain", () => {
  test.each([
    ["worker-a", "requested", "worker-a was asked to drain: it takes nothing new, leaves its runs to others, and goes"],
    ["worker-b", "draining", "worker-b drains already; nothing changed"],
    ["worker-c", "gone", "worker-c has gone; nothing changed"],
  ])("%s: %s", async (host, outcome, words) => {
    const { cli, troupe } = await owned();
    expect(await cli.run("hosts", "drain", host)).toBe(0);
    expect(cli.out()).toBe(`${words}\n`);
    expect(troupe.wishes).toEqual(outcome === "requested" ? [`drain ${host} (ada)`] : []);
    const json = createFakeCli({ composition: cli.composition, home: cli.home.path });
    expect(await json.run("hosts", "drain", host, "--json")).toBe(0);
    expect(JSON.parse(json.out())).toEqual({ host, outcome });
  });

  test("one that there is not exits with 2 and names those that there are", async () => {
    const { cli } = await owned();
    expect(await cli.run("hosts", "drain", "worker-z")).toBe(2);
    expect(cli.err()).toContain('there is no host "worker-z"; there are a, b');
  });
});

test.each([[["ls"]], [["ls", "--json"]], [["drain", "worker-a"]]])("without an owner %j exits with 5", async (args) => {
  const cli = createFakeCli();
  expect(await cli.run("hosts", ...args)).toBe(5);
  const said = cli.out() + cli.err();
  expect(said).toMatch(/nobody runs the home \S+, so that no host is known/);
  expect(said).toContain("troupe up");
  expect(existsSync(cli.home.path)).toBe(false);
});

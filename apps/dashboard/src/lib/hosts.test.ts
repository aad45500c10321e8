import { describe, expect, it } from "vitest";
import { hostRow } from "./fixtures.test-helper.ts";
import { announceHosts, conflictingAgents, hostTotals, isPageServer, natsUrlOf, sortHosts } from "./hosts.ts";

describe("hosts", () => {
  it("keep their order, with gone ones at the end", () => {
    const rows = [hostRow("c"), hostRow("a", { status: "gone" }), hostRow("b", { status: "draining" })];
    expect(sortHosts(rows).map(({ host }) => host)).toEqual(["c", "b", "a"]);
  });

  it("have sums without gone ones", () => {
    const rows = [
      hostRow("a", { busy: 1 }),
      hostRow("b", { busy: 3, status: "draining" }),
      hostRow("c", { status: "gone" }),
    ];
    expect(hostTotals(rows)).toEqual({ online: 2, busy: 4, capacity: 8 });
    expect(hostTotals([])).toEqual({ online: 0, busy: 0, capacity: 0 });
  });

  it("conflict about an agent if two online ones have different definitions", () => {
    const serves = (...agents: [string, string][]) => ({ agents: agents.map(([id, hash]) => ({ id, hash })) });
    const rows = [hostRow("a", serves(["coder", "1"], ["tester", "1"])), hostRow("b", serves(["coder", "1"]))];
    expect([...conflictingAgents(rows)]).toEqual([]);
    rows.push(hostRow("c", serves(["coder", "2"])));
    expect([...conflictingAgents(rows)]).toEqual(["coder"]);
    expect([...conflictingAgents(rows.map((row) => (row.host === "c" ? { ...row, status: "gone" } : row)))]).toEqual(
      [],
    );
  });

  it.each([
    [hostRow("a", { role: "daemon", pid: 7 }), { pid: 7 }, true],
    [hostRow("a", { role: "run", pid: 7 }), { pid: 7 }, true],
    [hostRow("a", { role: "daemon", pid: 8 }), { pid: 7 }, false],
    [hostRow("a", { role: "worker", pid: 7 }), { pid: 7 }, false],
    [hostRow("a", { role: "daemon", pid: 7 }), null, false],
  ])("serve the page only with the right role and process: %#", (row, status, own) => {
    expect(isPageServer(row, status)).toBe(own);
  });

  const [a, b] = [hostRow("a"), hostRow("b")];
  const many = Array.from({ length: 5 }, (_, i) => hostRow(`w${i}`));
  it.each([
    ["nothing", [a], [a], null],
    ["a new host", [a], [a, b], "b: alive"],
    ["a removed host", [a, { ...b, status: "gone" as const }], [a], null],
    [
      "a draining and a gone host",
      [a, b],
      [
        { ...a, status: "draining" as const },
        { ...b, status: "gone" as const },
      ],
      "a: draining. b: gone",
    ],
    ["a new host that is already gone", [a], [a, { ...b, status: "gone" as const }], null],
    ["more than three hosts", [], many, "5 hosts: alive"],
  ])("announce %s", (_, before, after, text) => {
    expect(announceHosts(before, after)).toBe(text);
  });
});

it.each([
  ["in-process", "nats://SERVER:4222"],
  ["nats://127.0.0.1:4222", "nats://SERVER:4222"],
  ["nats://localhost:4222", "nats://SERVER:4222"],
  ["nats://10.0.0.5:4222", "nats://10.0.0.5:4222"],
  ["nats://10.0.0.5:4222,nats://10.0.0.6:4222 (namespace troupe)", "nats://10.0.0.5:4222"],
  ["NATS 2.15.1 at tls://nats.example:4222 (troupe)", "tls://nats.example:4222"],
])("the URL for a worker of %s is %s", (bus, server) => {
  expect(natsUrlOf(bus)).toBe(server);
});

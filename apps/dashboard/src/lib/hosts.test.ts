import { describe, expect, it } from "vitest";
import { hostRow } from "./fixtures.test-helper.ts";
import { announceHosts, disputedAgents, hostTotals, inOrder, isOwn, serverOf } from "./hosts.ts";

describe("hosts", () => {
  it("stand in the order in which they come, those who have gone behind the others", () => {
    const rows = [hostRow("c"), hostRow("a", { status: "gone" }), hostRow("b", { status: "draining" })];
    expect(inOrder(rows).map(({ host }) => host)).toEqual(["c", "b", "a"]);
  });

  it("are added up without those who have gone", () => {
    const rows = [
      hostRow("a", { busy: 1 }),
      hostRow("b", { busy: 3, status: "draining" }),
      hostRow("c", { status: "gone" }),
    ];
    expect(hostTotals(rows)).toEqual({ there: 2, busy: 4, capacity: 8 });
    expect(hostTotals([])).toEqual({ there: 0, busy: 0, capacity: 0 });
  });

  it("disagree about an agent when two that are there have another definition of it", () => {
    const serves = (...agents: [string, string][]) => ({ agents: agents.map(([id, hash]) => ({ id, hash })) });
    const rows = [hostRow("a", serves(["coder", "1"], ["tester", "1"])), hostRow("b", serves(["coder", "1"]))];
    expect([...disputedAgents(rows)]).toEqual([]);
    rows.push(hostRow("c", serves(["coder", "2"])));
    expect([...disputedAgents(rows)]).toEqual(["coder"]);
    expect([...disputedAgents(rows.map((row) => (row.host === "c" ? { ...row, status: "gone" } : row)))]).toEqual([]);
  });

  it.each([
    [hostRow("a", { role: "daemon", pid: 7 }), { pid: 7 }, true],
    [hostRow("a", { role: "run", pid: 7 }), { pid: 7 }, true],
    [hostRow("a", { role: "daemon", pid: 8 }), { pid: 7 }, false],
    [hostRow("a", { role: "worker", pid: 7 }), { pid: 7 }, false],
    [hostRow("a", { role: "daemon", pid: 7 }), null, false],
  ])("are this page's own only where role and process say so: %#", (row, status, own) => {
    expect(isOwn(row, status)).toBe(own);
  });

  const [a, b] = [hostRow("a"), hostRow("b")];
  const many = Array.from({ length: 5 }, (_, i) => hostRow(`w${i}`));
  it.each([
    ["nothing", [a], [a], null],
    ["one that came", [a], [a, b], "b: alive"],
    ["one that is forgotten", [a, { ...b, status: "gone" as const }], [a], null],
    [
      "one that drains and one that went",
      [a, b],
      [
        { ...a, status: "draining" as const },
        { ...b, status: "gone" as const },
      ],
      "a: draining. b: gone",
    ],
    ["one that was gone when it was first heard of", [a], [a, { ...b, status: "gone" as const }], null],
    ["more than can be listened to", [], many, "5 hosts: alive"],
  ])("tell those who hear the page of %s", (_, before, after, words) => {
    expect(announceHosts(before, after)).toBe(words);
  });
});

it.each([
  ["in-process", "nats://SERVER:4222"],
  ["nats://127.0.0.1:4222", "nats://SERVER:4222"],
  ["nats://localhost:4222", "nats://SERVER:4222"],
  ["nats://10.0.0.5:4222", "nats://10.0.0.5:4222"],
  ["nats://10.0.0.5:4222,nats://10.0.0.6:4222 (namespace troupe)", "nats://10.0.0.5:4222"],
  ["NATS 2.15.1 at tls://nats.example:4222 (troupe)", "tls://nats.example:4222"],
])("a worker is told of %s as %s", (bus, server) => {
  expect(serverOf(bus)).toBe(server);
});

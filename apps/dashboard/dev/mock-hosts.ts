import type { HostRow } from "@troupe/core";

const agents = ["main", "coder", "tester", "reviewer", "planner", "debugger", "researcher", "report", "email", "slack"];

/** Creates a number of mock hosts. The first one is the daemon. */
export function mockHosts(count: number): HostRow[] {
  return Array.from({ length: count }, (_, i) => (i === 0 ? daemon() : worker(i)));
}

function daemon(): HostRow {
  const facts = { role: "daemon", version: "0.1.0", pid: process.pid, place: "place-0a0a", status: "alive" } as const;
  const load = { capacity: 64, busy: 3, runs: 5 };
  return {
    host: `daemon-${process.pid}`,
    ...facts,
    ...load,
    agents: agents.map(definitionOf),
    ...timesOf(4_000_000, 0),
  };
}

function worker(i: number): HostRow {
  const status = i % 7 === 3 ? "draining" : i % 9 === 5 ? "gone" : "alive";
  const capacity = 4 * (1 + (i % 3));
  const busy = (i * 5) % (capacity + 1);
  return {
    host: `worker-${["anvil", "birch", "cedar"][i % 3]}-${i}`,
    role: "worker",
    version: i % 11 === 4 ? "0.2.0-rc.1" : "0.1.0",
    pid: 4_000 + i,
    place: `place-${(i % 4).toString(16).repeat(8)}`,
    status,
    agents: agents
      .slice(i % 8, (i % 8) + 1 + (i % 4))
      .map((id) => (i === 1 && id === "coder" ? { id, hash: "9b8a7c6d" } : definitionOf(id))),
    capacity,
    runs: busy + (i % 3),
    busy,
    ...timesOf(1_000_000 * (i + 1), status === "gone" ? 9_500 * i : (i * 311) % 2_000),
  };
}

function definitionOf(id: string): { id: string; hash: string } {
  return { id, hash: "3f2a1b0c" };
}

function timesOf(upMs: number, silentMs: number): Pick<HostRow, "startedAt" | "lastHeartbeatAt"> {
  const ago = (ms: number): string => new Date(Date.now() - ms).toISOString();
  return { startedAt: ago(upMs), lastHeartbeatAt: ago(silentMs) };
}

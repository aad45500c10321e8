import type { HostRow } from "@troupe/core";

/** True for a host that can still run something. */
export function isOnline({ status }: Pick<HostRow, "status">): boolean {
  return status !== "gone";
}

/** Online hosts first. Otherwise the order stays, so that rows do not move under the pointer. */
export function sortHosts(rows: readonly HostRow[]): HostRow[] {
  return [...rows.filter(isOnline), ...rows.filter((row) => !isOnline(row))];
}

/** True for the process that serves this page. */
export function isPageServer(row: Pick<HostRow, "role" | "pid">, status: { pid: number } | null): boolean {
  return row.role !== "worker" && row.pid === status?.pid;
}

/** The start of a definition's hash, which is enough to see a difference. */
export function shortHash(hash: string): string {
  return hash.slice(0, 8);
}

/** Agents with different definitions on online hosts. The host that takes a run decides which definition it follows. */
export function conflictingAgents(rows: readonly HostRow[]): ReadonlySet<string> {
  const first = new Map<string, string>();
  const conflicting = new Set<string>();
  for (const { id, hash } of rows.filter(isOnline).flatMap(({ agents }) => agents)) {
    if ((first.get(id) ?? hash) !== hash) conflicting.add(id);
    first.set(id, hash);
  }
  return conflicting;
}

/** The sums of all online hosts. */
export function hostTotals(rows: readonly HostRow[]): { online: number; busy: number; capacity: number } {
  const online = rows.filter(isOnline);
  const sum = (count: (row: HostRow) => number): number => online.reduce((total, row) => total + count(row), 0);
  return { online: online.length, busy: sum(({ busy }) => busy), capacity: sum(({ capacity }) => capacity) };
}

/** An announcement counts more hosts than this instead of naming them. */
const namedMax = 3;

/** Announces changed statuses of hosts to screen readers; `null` without a change. */
export function announceHosts(before: readonly HostRow[], after: readonly HostRow[]): string | null {
  const known = new Map(before.map((row) => [row.host, row.status]));
  const changed = after.filter(({ host, status }) => (known.get(host) ?? "gone") !== status);
  const parts = (["alive", "draining", "gone"] as const).map((status) => {
    const names = changed.filter((row) => row.status === status).map(({ host }) => host);
    if (names.length === 0) return null;
    return `${names.length > namedMax ? `${names.length} hosts` : names.join(", ")}: ${status}`;
  });
  return parts.filter((part) => part !== null).join(". ") || null;
}

/** The NATS URL for a worker on another machine, from the daemon's description of its bus. */
export function natsUrlOf(bus: string): string {
  const [server = ""] = /(nats|tls):\/\/[^\s,]+/.exec(bus) ?? [];
  const isLoopback = /\/\/(127\.|localhost|\[::1\])/.test(server);
  return server === "" || isLoopback ? "nats://SERVER:4222" : server;
}

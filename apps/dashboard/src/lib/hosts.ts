import type { HostRow } from "@troupe/core";

/** Whether it still may run something. */
export function isThere({ status }: Pick<HostRow, "status">): boolean {
  return status !== "gone";
}

/** Those who are there before those who have gone; otherwise as they come, so that no row moves away from a pointer. */
export function inOrder(rows: readonly HostRow[]): HostRow[] {
  return [...rows.filter(isThere), ...rows.filter((row) => !isThere(row))];
}

/** Whether it is the process that serves this page. */
export function isOwn(row: Pick<HostRow, "role" | "pid">, status: { pid: number } | null): boolean {
  return row.role !== "worker" && row.pid === status?.pid;
}

/** Enough of a definition's hash to tell two of them apart. */
export function shortHash(hash: string): string {
  return hash.slice(0, 8);
}

/** Agents of which hosts that are there have different definitions: which one does a run then depends on who takes it. */
export function disputedAgents(rows: readonly HostRow[]): ReadonlySet<string> {
  const first = new Map<string, string>();
  const disputed = new Set<string>();
  for (const { id, hash } of rows.filter(isThere).flatMap(({ agents }) => agents)) {
    if ((first.get(id) ?? hash) !== hash) disputed.add(id);
    first.set(id, hash);
  }
  return disputed;
}

/** All hosts in one line. */
export function hostTotals(rows: readonly HostRow[]): { there: number; busy: number; capacity: number } {
  const there = rows.filter(isThere);
  const sum = (of: (row: HostRow) => number): number => there.reduce((total, row) => total + of(row), 0);
  return { there: there.length, busy: sum(({ busy }) => busy), capacity: sum(({ capacity }) => capacity) };
}

/** More than this at once is told as a number. */
const namedMax = 3;

/** Who came, who drains and who has gone since, for those who hear the page; null where nothing of that has changed. */
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

/** Where a worker finds the server that this daemon is connected to, as far as the daemon's word for its bus tells. */
export function serverOf(bus: string): string {
  const [server = ""] = /(nats|tls):\/\/[^\s,]+/.exec(bus) ?? [];
  const isOfThisMachineAlone = /\/\/(127\.|localhost|\[::1\])/.test(server);
  return server === "" || isOfThisMachineAlone ? "nats://SERVER:4222" : server;
}

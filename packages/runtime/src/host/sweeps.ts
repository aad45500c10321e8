import type { World } from "./world.ts";

/** After a host has gone its tasks come back one after the other: so many leases long others look for them quickly. */
const quickLeases = 2;

/** How often in a lease they look then. */
const quickLooks = 8;

export interface SweepOptions {
  world: Pick<World, "clock" | "hosts" | "leaseMs">;
  /** How often to look for tasks without having been told. */
  sweepMs: number;
  look(): void;
}

/**
 * Looks for tasks now and then, whatever hints were lost, and more often for a while after another host went missing.
 *
 * @returns what stops it
 */
export function startSweeps({ world, sweepMs, look }: SweepOptions): () => void {
  const { clock, hosts, leaseMs } = world;
  let quickUntilMs = Number.NEGATIVE_INFINITY;
  let cancel = (): void => {};
  const sweep = (): void => {
    look();
    const isQuick = leaseMs !== undefined && clock.monotonicMs() < quickUntilMs;
    cancel();
    cancel = clock.after(isQuick ? Math.min(sweepMs, leaseMs / quickLooks) : sweepMs, sweep);
  };
  const aliveHosts = (): Set<string> => new Set(hosts?.list().flatMap(({ host, alive }) => (alive ? [host] : [])));
  let alive = aliveHosts();
  const stopWatching = hosts?.onChange(() => {
    const before = alive;
    alive = aliveHosts();
    if (leaseMs === undefined || [...before].every((host) => alive.has(host))) return;
    quickUntilMs = clock.monotonicMs() + quickLeases * leaseMs;
    sweep();
  });
  sweep();
  return () => {
    stopWatching?.();
    cancel();
  };
}

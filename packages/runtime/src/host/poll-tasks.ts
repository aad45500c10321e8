import type { HostDeps } from "./host-deps.ts";

export interface PollOptions {
  deps: Pick<HostDeps, "clock" | "hosts" | "queue">;
  /** How often to look for tasks without having been told. */
  sweepMs: number;
  look(): void;
}

/**
 * Looks for tasks now and then, whatever hints were lost, and has the queue looked through more often for a while after
 * another host went missing: its tasks come back one after the other.
 *
 * @returns what stops it
 */
export function startPolling({ deps, sweepMs, look }: PollOptions): () => void {
  const { clock, hosts, queue } = deps;
  let cancel = (): void => {};
  const sweep = (): void => {
    cancel = clock.after(sweepMs, sweep);
    look();
  };
  const aliveHosts = (): Set<string> => new Set(hosts?.list().flatMap(({ host, alive }) => (alive ? [host] : [])));
  let alive = aliveHosts();
  const stopWatching = hosts?.onChange(() => {
    const before = alive;
    alive = aliveHosts();
    if ([...before].some((host) => !alive.has(host))) queue.pollFaster();
  });
  sweep();
  return () => {
    stopWatching?.();
    cancel();
  };
}

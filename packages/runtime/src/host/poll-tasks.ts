import type { HostDeps } from "./host-deps.ts";

export interface PollOptions {
  deps: Pick<HostDeps, "clock" | "hosts" | "queue">;
  /** How often the queue is polled without a hint. */
  pollMs: number;
  poll(): void;
}

/**
 * Polls for tasks at a fixed interval, because a hint of the queue can get lost. When another host disappears, its tasks
 * come back one by one; the queue is then polled faster for a while.
 *
 * @returns a function that stops the polling
 */
export function startPolling({ deps, pollMs, poll }: PollOptions): () => void {
  const { clock, hosts, queue } = deps;
  let cancel = (): void => {};
  const pollAgain = (): void => {
    cancel = clock.after(pollMs, pollAgain);
    poll();
  };
  const aliveHosts = (): Set<string> => new Set(hosts?.list().flatMap(({ host, alive }) => (alive ? [host] : [])));
  let alive = aliveHosts();
  const stopWatching = hosts?.onChange(() => {
    const before = alive;
    alive = aliveHosts();
    if ([...before].some((host) => !alive.has(host))) queue.pollFaster();
  });
  pollAgain();
  return () => {
    stopWatching?.();
    cancel();
  };
}

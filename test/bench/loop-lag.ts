/** How often the event loop is asked whether it is there. */
const everyMs = 2;

export interface Lag {
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

/**
 * Measures how long a task that arrives at a random moment waits for the event loop. A loop that is busy for 100 ms
 * counts for every task that would arrive in that time, not as one late answer.
 */
export function watchLoopLag(): { stop(): Lag } {
  const lagsMs: number[] = [];
  let dueMs = performance.now() + everyMs;
  let timer: NodeJS.Timeout;
  const look = (): void => {
    const now = performance.now();
    for (let lagMs = Math.max(0, now - dueMs); lagMs >= 0; lagMs -= everyMs) lagsMs.push(lagMs);
    dueMs = now + everyMs;
    timer = setTimeout(look, everyMs);
  };
  timer = setTimeout(look, everyMs);
  return {
    stop() {
      clearTimeout(timer);
      lagsMs.sort((a, b) => a - b);
      const at = (share: number): number => lagsMs[Math.ceil(share * lagsMs.length) - 1] ?? 0;
      return { p50Ms: at(0.5), p99Ms: at(0.99), maxMs: at(1) };
    },
  };
}

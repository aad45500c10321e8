import { useSyncExternalStore } from "react";

const tickMs = 1_000;
const tickers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let stoppedAt: number | null = null;

/** The wall clock in whole seconds, for a component that shows something running; 0, and no ticking, for one that does not. */
export function useNow(running: boolean): number {
  return useSyncExternalStore(running ? subscribe : ignore, running ? currentSecond : never);
}

/** Lets all figures stand still at a time, or with `null` go on: nothing may seem to run while the daemon is away. */
export function stopClock(at: number | null): void {
  stoppedAt = at;
  tick();
}

function subscribe(ticker: () => void): () => void {
  tickers.add(ticker);
  timer ??= setInterval(tick, tickMs);
  return () => {
    tickers.delete(ticker);
    if (tickers.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** One timer for the whole page: all figures change in the same frame. */
function tick(): void {
  for (const ticker of tickers) ticker();
}

function currentSecond(): number {
  return Math.floor((stoppedAt ?? Date.now()) / tickMs) * tickMs;
}

function ignore(): () => void {
  return () => {};
}

function never(): number {
  return 0;
}

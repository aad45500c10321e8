import { useSyncExternalStore } from "react";

const tickMs = 1_000;
const tickers = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let stoppedAt: number | null = null;

/** The time in whole seconds, updated every second while `isRunning`; otherwise 0. */
export function useNow(isRunning: boolean): number {
  return useSyncExternalStore(isRunning ? subscribe : subscribeNever, isRunning ? currentSecond : zero);
}

/** Stops the clock at a time, because nothing may seem to run without the daemon. `null` starts it again. */
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

/** One timer for the page, so that all times change in the same frame. */
function tick(): void {
  for (const ticker of tickers) ticker();
}

function currentSecond(): number {
  return Math.floor((stoppedAt ?? Date.now()) / tickMs) * tickMs;
}

function subscribeNever(): () => void {
  return () => {};
}

function zero(): number {
  return 0;
}

/**
 * Keeps everybody from a model that answers nobody. Closed: requests pass. Open: none does, until a time. Then a single
 * one tries it; its outcome closes the breaker, or opens it for twice as long.
 *
 * It is told the time and has no timers. What becomes of a request counts only if nothing has opened or closed since
 * it began.
 */
export interface Breaker {
  /** Until when requests are refused; null when the next one may be made. */
  refusedUntilMs(nowMs: number): number | null;
  /** One request begins: `refusedUntilMs` has just said that it may. */
  begin(nowMs: number): Trial;
}

/** The outcome of one request: one of these is called, once. */
export interface Trial {
  /** The model, or its provider, has said something sensible, be it no. */
  answered(nowMs: number): void;
  failed(nowMs: number, retryAfterMs: number | null): void;
  /** Nobody knows: it was stopped from our side. */
  abandoned(): void;
}

/** So many failures one after another open it. */
const inARowMax = 10;
/** So do so many failures among the last requests. */
const recentCount = 20;
const recentFailuresMax = 16;
/** Outcomes from before a silence of this length say nothing about now. */
const forgottenAfterMs = 60_000;

const openMs = { first: 10_000, most: 60_000 };

export function createBreaker(): Breaker {
  /** Grows whenever it opens, closes, or lets its probe pass: what began before is void. */
  let era = 0;
  let recent: boolean[] = [];
  let lastMs = 0;
  let open: { untilMs: number; forMs: number; probed: boolean } | null = null;

  const openFor = (forMs: number, nowMs: number, retryAfterMs: number | null): void => {
    era += 1;
    recent = [];
    open = { untilMs: nowMs + Math.max(forMs, retryAfterMs ?? 0), forMs, probed: false };
  };
  const close = (): void => {
    era += 1;
    recent = [];
    open = null;
  };
  const note = (isFailure: boolean, nowMs: number): void => {
    if (nowMs - lastMs > forgottenAfterMs) recent = [];
    lastMs = nowMs;
    recent = [...recent, isFailure].slice(-recentCount);
  };

  return {
    refusedUntilMs(nowMs) {
      if (open === null) return null;
      // How long the probe takes nobody knows: look again when the breaker would have been opened once more.
      if (open.probed) return Math.max(open.untilMs, nowMs) + open.forMs;
      return nowMs < open.untilMs ? open.untilMs : null;
    },
    begin() {
      if (open !== null) {
        open.probed = true;
        era += 1;
      }
      const begunIn = era;
      const ifCurrent =
        <A extends unknown[]>(count: (...args: A) => void) =>
        (...args: A): void => {
          if (begunIn === era) count(...args);
        };
      return {
        answered: ifCurrent((nowMs) => (open === null ? note(false, nowMs) : close())),
        failed: ifCurrent((nowMs, retryAfterMs) => {
          if (open !== null) return openFor(Math.min(openMs.most, open.forMs * 2), nowMs, retryAfterMs);
          note(true, nowMs);
          if (isDown(recent)) openFor(openMs.first, nowMs, retryAfterMs);
        }),
        abandoned: ifCurrent(() => {
          if (open !== null) open.probed = false;
        }),
      };
    },
  };
}

function isDown(recent: readonly boolean[]): boolean {
  const inARow = recent.length - 1 - recent.lastIndexOf(false);
  return inARow >= inARowMax || recent.filter((isFailure) => isFailure).length >= recentFailuresMax;
}

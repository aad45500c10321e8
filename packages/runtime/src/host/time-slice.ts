/** How long the runs of a process may occupy the event loop before timers and sockets get a turn. */
const sliceMs = 10;

const resolved = Promise.resolve();
const waiting: (() => void)[] = [];
/** Start of the current slice; null between slices. */
let sliceStartMs: number | null = null;
/** Whether a caller has the turn. The turn ends when its microtasks and next ticks are done. */
let isTurnTaken = false;

/**
 * Resolves when the caller may run: at once if the turn is free and the slice has time left. When thousands of runs
 * resume in the same moment, they run one after the other, and the event loop turns between slices.
 *
 * The run may end during the wait. The caller checks afterwards that its work is still wanted.
 */
export function waitForTimeSlice(): Promise<void> {
  if (!isTurnTaken && waiting.length === 0 && hasTime()) {
    takeTurn();
    return resolved;
  }
  return new Promise((resolve) => waiting.push(resolve));
}

/** The turn is over when the microtask queue and the next-tick queue are empty. */
function takeTurn(): void {
  isTurnTaken = true;
  queueMicrotask(() => process.nextTick(passTurn));
}

function passTurn(): void {
  isTurnTaken = false;
  if (waiting.length === 0 || !hasTime()) return;
  takeTurn();
  waiting.shift()?.();
}

function hasTime(): boolean {
  sliceStartMs ??= startSlice();
  return performance.now() - sliceStartMs < sliceMs;
}

function startSlice(): number {
  setImmediate(() => {
    sliceStartMs = null;
    passTurn();
  });
  return performance.now();
}

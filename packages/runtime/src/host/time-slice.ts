/** So long the runs of a process may keep its event loop before timers, sockets and everybody else get it. */
const sliceMs = 10;

const atOnce = Promise.resolve();
const waiting: (() => void)[] = [];
/** When the slice that lasts began; null while there is none. */
let beganMs: number | null = null;
/** Somebody has the turn: all that follows from it at once is not over yet. */
let isTaken = false;

/**
 * Resolves when it is one's turn: at once, as a rule. Where thousands of runs hear something in the same moment (their
 * models have answered, a commit has ended), they come one after the other, and between slices the event loop goes
 * round. Whoever has to look whether it is still wanted has to do so after this.
 */
export function createTimeSlice(): Promise<void> {
  if (!isTaken && waiting.length === 0 && hasTime()) {
    take();
    return atOnce;
  }
  return new Promise((resolve) => waiting.push(resolve));
}

/** Nothing else is begun until the event loop has nothing left to do at once: only then is a turn known to be over. */
function take(): void {
  isTaken = true;
  queueMicrotask(() => process.nextTick(passOn));
}

function passOn(): void {
  isTaken = false;
  if (waiting.length === 0 || !hasTime()) return;
  take();
  waiting.shift()?.();
}

function hasTime(): boolean {
  beganMs ??= begin();
  return performance.now() - beganMs < sliceMs;
}

function begin(): number {
  setImmediate(() => {
    beganMs = null;
    passOn();
  });
  return performance.now();
}

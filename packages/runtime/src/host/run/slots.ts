/**
 * How many runs of a host may be at work at once. A run holds a slot while it thinks or acts and gives it back while
 * it waits for children, so nested delegation cannot starve itself.
 */
export interface Slots {
  free(): number;
  /** Takes a slot if one is free and no waiting run wants it first. */
  tryTake(): boolean;
  /** Waits for a slot. Runs that go on come before new tasks. */
  take(): Promise<void>;
  give(): void;
  /** Returns a slot that was taken and turned out not to be needed: nobody is told, but whoever waits gets it. */
  giveBack(): void;
  /** Calls back when a slot has become free that nobody waits for. */
  onFree(listener: () => void): void;
}

export function createSlots(capacity: number): Slots {
  let taken = 0;
  const waiting: (() => void)[] = [];
  let notify: () => void = () => {};
  /** Whether the slot went to nobody. */
  const release = (): boolean => {
    const next = waiting.shift();
    if (next) next();
    else taken -= 1;
    return next === undefined;
  };
  const free = (): number => (waiting.length > 0 ? 0 : capacity - taken);

  return {
    free,
    tryTake() {
      if (free() <= 0) return false;
      taken += 1;
      return true;
    },
    take() {
      if (taken < capacity && waiting.length === 0) {
        taken += 1;
        return Promise.resolve();
      }
      return new Promise((resolve) => waiting.push(resolve));
    },
    give() {
      if (release()) notify();
    },
    giveBack() {
      release();
    },
    onFree(listener) {
      notify = listener;
    },
  };
}

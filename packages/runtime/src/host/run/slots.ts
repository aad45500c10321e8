/**
 * The capacity of a host: how many runs may call models and tools at once. A run releases its slot while it waits for
 * children, so nested delegation cannot block itself.
 */
export interface Slots {
  free(): number;
  /** Acquires a slot if one is free and no run waits for one. */
  tryAcquire(): boolean;
  /** Waits for a slot. Running runs come before new tasks. */
  acquire(): Promise<void>;
  /** Releases a slot. If no run waits for it, the listener of `onFree` is called. */
  release(): void;
  /** Releases a slot that was not needed. A waiting run gets it; the listener of `onFree` is not called. */
  returnUnused(): void;
  /** Sets the listener that is called when a slot is free and no run waits for it. */
  onFree(listener: () => void): void;
}

export function createSlots(capacity: number): Slots {
  let used = 0;
  const waiting: (() => void)[] = [];
  let notify: () => void = () => {};
  /** Whether the slot is free now: no waiting run got it. */
  const passOn = (): boolean => {
    const next = waiting.shift();
    if (next) next();
    else used -= 1;
    return next === undefined;
  };
  const free = (): number => (waiting.length > 0 ? 0 : capacity - used);

  return {
    free,
    tryAcquire() {
      if (free() <= 0) return false;
      used += 1;
      return true;
    },
    acquire() {
      if (used < capacity && waiting.length === 0) {
        used += 1;
        return Promise.resolve();
      }
      return new Promise((resolve) => waiting.push(resolve));
    },
    release() {
      if (passOn()) notify();
    },
    returnUnused() {
      passOn();
    },
    onFree(listener) {
      notify = listener;
    },
  };
}

/** The slot of one run. The run releases it while it waits and acquires it again for work. */
export class RunSlot {
  readonly #slots: Slots;
  #state: "none" | "waiting" | "held" | "closed" = "held";
  #acquired: Promise<void> = Promise.resolve();

  /** Owns the slot that the host acquired for the run. */
  constructor(slots: Slots) {
    this.#slots = slots;
  }

  get isHeld(): boolean {
    return this.#state === "held";
  }

  /** Waits for a slot unless the run has one. Concurrent callers wait for the same slot. */
  acquire(): Promise<void> {
    if (this.#state !== "none") return this.#acquired;
    this.#state = "waiting";
    this.#acquired = this.#slots.acquire().then(() => {
      if (this.#state === "waiting") this.#state = "held";
      else this.#slots.release();
    });
    return this.#acquired;
  }

  release(): void {
    if (this.#state !== "held") return;
    this.#state = "none";
    this.#slots.release();
  }

  /** Releases the slot for good. A slot that arrives later is released at once. */
  close(): void {
    this.release();
    this.#state = "closed";
  }
}

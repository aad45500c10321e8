/** Something that a test lets happen when it wants to, and how many have come to it. */
export interface Gate {
  /** Waits until it is opened. */
  pass(): Promise<void>;
  open(): void;
  /** Resolves when so many have come. */
  reachedBy(count: number): Promise<void>;
  /** The most that were ever inside at once. */
  readonly mostAtOnce: number;
  /** Counts the callers that are inside at the same time. */
  within<T>(work: () => Promise<T> | T): Promise<T>;
}

export function createGate(): Gate {
  const opened = Promise.withResolvers<void>();
  const waiting: { count: number; resolve: () => void }[] = [];
  let came = 0;
  let inside = 0;
  let mostAtOnce = 0;
  const pass = async (): Promise<void> => {
    came += 1;
    for (const { count, resolve } of waiting) if (came >= count) resolve();
    await opened.promise;
  };
  return {
    pass,
    open: () => opened.resolve(),
    reachedBy(count) {
      const reached = Promise.withResolvers<void>();
      waiting.push({ count, resolve: reached.resolve });
      if (came >= count) reached.resolve();
      return reached.promise;
    },
    get mostAtOnce() {
      return mostAtOnce;
    },
    async within(work) {
      inside += 1;
      mostAtOnce = Math.max(mostAtOnce, inside);
      try {
        return await work();
      } finally {
        inside -= 1;
      }
    },
  };
}

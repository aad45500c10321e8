/** Steps that close the parts of a process, in the reverse order of their start. */
export interface Cleanup {
  /** Adds a step. It runs before every step that was added earlier. */
  add(step: () => unknown): void;
  /** Runs and forgets every step, so that a second call does nothing. A step that throws leaves the earlier ones for it. */
  run(): Promise<void>;
}

export function createCleanup(): Cleanup {
  const steps: (() => unknown)[] = [];
  return {
    add: (step) => void steps.push(step),
    async run() {
      for (let step = steps.pop(); step; step = steps.pop()) await step();
    },
  };
}

/**
 * Opens something in several steps. If one step fails, the cleanup runs before the error is passed on.
 *
 * @example
 * const running = await openWithCleanup((cleanup) => startTroupe(options, cleanup));
 */
export async function openWithCleanup<T>(open: (cleanup: Cleanup) => Promise<T>): Promise<T> {
  const cleanup = createCleanup();
  try {
    return await open(cleanup);
  } catch (error) {
    await cleanup.run();
    throw error;
  }
}

/** Waits for work, but at most `ms`. The work goes on after that, and its failure is ignored. */
export async function withTimeout(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => {});
  }
}

import type { Scan } from "./scan.ts";
import type { Scanner } from "./scanner.ts";

/** After a failure, the folder is not scanned for this time: a failed scan can take long. */
const pauseMs = 600_000;

/** Scans of one folder that follow each other. */
export interface TimedScans {
  /** A scan that begins after this call; null if the folder cannot be scanned. */
  next(): Promise<Scan | null>;
  /** The last scan, if no program has changed the folder since, else the next one. Only while no command runs. */
  nextIfChanged(): Promise<Scan | null>;
  /** Why the folder cannot be scanned; null if it can. */
  failure(): string | null;
}

export function createTimedScans(scanner: Scanner): TimedScans {
  let failure: string | null = null;
  let pausedUntilMs = 0;
  const next = inTurns(async (): Promise<Scan | null> => {
    if (performance.now() < pausedUntilMs) return null;
    try {
      const scan = await scanner.scan();
      failure = null;
      return scan;
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
      pausedUntilMs = performance.now() + pauseMs;
      return null;
    }
  });
  return {
    next,
    nextIfChanged: async () => (await scanner.lastIfQuiet()) ?? (await next()),
    failure: () => failure,
  };
}

/** Work that runs once at a time. All calls that arrive while it runs share the next run. */
export function inTurns<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | null = null;
  return () => {
    next ??= running.then(() => {
      next = null;
      const now = work();
      running = now.catch(() => {});
      return now;
    });
    return next;
  };
}

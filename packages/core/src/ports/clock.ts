/** The source of time. No code in core or a host reads the machine's clock directly. */
export interface Clock {
  /** Wall clock, in ms since 1970. May jump. */
  now(): number;
  /** Never jumps back. Only differences are meaningful. */
  monotonicMs(): number;
  /** Calls back once after `delayMs`, which has no upper limit. Returns the canceller. */
  after(delayMs: number, callback: () => void): () => void;
}

/** Creates new ids. Derived ids (`childRunId`) are pure and need no port. */
export interface Ids {
  /** A UUIDv7: later ones sort after earlier ones. */
  next(): string;
}

/** A point in time by both clocks: the monotonic one stops while the machine sleeps, and the wall clock may be set. */
export interface Moment {
  monotonicMs: number;
  wallMs: number;
}

export function momentOf(clock: Clock): Moment {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.now() };
}

/** The larger age of both clocks. A wall clock that was set back counts as time passed, because the real time is unknown. */
export function ageMs(clock: Clock, { monotonicMs, wallMs }: Moment): number {
  return Math.max(clock.monotonicMs() - monotonicMs, Math.abs(clock.now() - wallMs));
}

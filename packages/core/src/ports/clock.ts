/** Time, injected. Nothing in core or in a host reads the machine's clock itself. */
export interface Clock {
  /** Wall clock, in ms since 1970. May jump. */
  now(): number;
  /** Never jumps back; only differences mean anything. */
  monotonicMs(): number;
  /** Calls back once after `delayMs`, however long that is. Returns the canceller. */
  after(delayMs: number, callback: () => void): () => void;
}

/** Ids of what is new. Derived ids (`childRunId`) need no port: they are pure. */
export interface Ids {
  /** A UUIDv7: later ones sort after earlier ones. */
  next(): string;
}

/**
 * Ephemeral messages by subject: at most once, no order across subjects, gone when nobody listens.
 * Bytes only, so that nothing is ever shared between sender and receiver.
 */
export interface Bus {
  /** Largest payload in bytes; a larger one is refused with `TOO_LARGE` before it is sent. */
  readonly payloadBytesMax: number;
  publish(subject: string, bytes: Uint8Array): void;
  /** Calls back for each message on a pattern (`*` one token, `>` the rest). */
  subscribe(pattern: string, listener: (message: BusMessage) => void): Promise<Subscription>;
  /**
   * Publishes and waits for the first reply. Fails with `NO_RESPONDERS` at once when nobody listens, with `TIMEOUT`
   * when nobody answers in time.
   */
  request(subject: string, bytes: Uint8Array, options: { timeoutMs: number }): Promise<Uint8Array>;
  /** Resolves when everything published so far has left this process. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface BusMessage {
  subject: string;
  bytes: Uint8Array;
  /** Answers a request; does nothing for a plain message. */
  respond(bytes: Uint8Array): void;
}

export interface Subscription {
  unsubscribe(): void;
}

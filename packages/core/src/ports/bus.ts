/**
 * Ephemeral messages by subject: at most once, no order across subjects, gone when nobody listens.
 * Bytes only, so that nothing is ever shared between sender and receiver.
 */
export interface Bus {
  /** Largest payload in bytes; a larger one is refused with `TOO_LARGE` before it is sent. */
  readonly payloadBytesMax: number;
  /**
   * Sends and forgets. Without a connection to the others the message is lost, without an error: what has to arrive
   * belongs into the journal. Adapters that can lose a connection count what was lost. Throws only for what can never
   * be sent: `TOO_LARGE`, `CLOSED`.
   */
  publish(subject: string, bytes: Uint8Array): void;
  /**
   * Calls back for each message on a pattern (`*` one token, `>` the rest), once resolved for all that is sent from
   * then on, by anybody; of servers that are one cluster, those that others are connected with hear of it some
   * milliseconds later. A listener that throws keeps its subscription.
   */
  subscribe(pattern: string, listener: (message: BusMessage) => void): Promise<Subscription>;
  /**
   * Publishes and waits for the first reply. Fails with `NO_RESPONDERS` at once when nobody listens, with `TIMEOUT`
   * when nobody answers in time, with `UNREACHABLE` when there is no connection to ask over.
   */
  request(subject: string, bytes: Uint8Array, options: { timeoutMs: number }): Promise<Uint8Array>;
  /**
   * Calls back when a connection that was lost is there again: messages may have been missed. Returns the unsubscriber.
   *
   * @default no connection can be lost
   */
  onReconnect?(listener: () => void): () => void;
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

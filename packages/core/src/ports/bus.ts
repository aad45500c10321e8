import { TroupeError } from "../errors.ts";

/**
 * Ephemeral messages by subject: delivered at most once, unordered across subjects, lost without a subscriber. Messages are
 * bytes, so that sender and receiver share no objects.
 *
 * @example
 * await bus.subscribe("troupe.settled.*", ({ subject }) => console.log(subject));
 * bus.publish(subjects.settled(run), encode(message));
 */
export interface Bus {
  /** Largest payload. A larger one is refused with `TOO_LARGE` before it is sent. */
  readonly payloadBytesMax: number;
  /**
   * Sends without waiting. Without a connection the message is lost without an error, so important facts belong in the
   * journal. Adapters that can lose a connection count lost messages. Throws only `TOO_LARGE` and `CLOSED`.
   */
  publish(subject: string, bytes: Uint8Array): void;
  /**
   * Calls the listener for each message on a pattern (`*` is one token, `>` the rest). When the promise resolves, the
   * subscription is active; other servers of a cluster learn of it some milliseconds later. A listener that throws keeps
   * its subscription.
   */
  subscribe(pattern: string, listener: (message: BusMessage) => void): Promise<Subscription>;
  /**
   * Publishes and waits for the first reply. Fails with `NO_RESPONDERS` at once without a subscriber, with `TIMEOUT`
   * without a reply in time, with `UNREACHABLE` without a connection.
   */
  request(subject: string, bytes: Uint8Array, options: { timeoutMs: number }): Promise<Uint8Array>;
  /**
   * Calls the listener when a lost connection is restored: messages may have been missed. Returns the unsubscriber.
   *
   * @default absent: the connection cannot be lost
   */
  onReconnect?(listener: () => void): () => void;
  /** Resolves when everything published so far has left this process. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface BusMessage {
  subject: string;
  bytes: Uint8Array;
  /** Replies to a request. Does nothing for a plain message. */
  respond(bytes: Uint8Array): void;
}

export interface Subscription {
  unsubscribe(): void;
}

export function tooLarge(bytes: number, max: number): TroupeError {
  return new TroupeError("TOO_LARGE", `a message of ${bytes} bytes is over the bus's ${max}`, {
    fix: "send large bodies by reference, through Blobs",
  });
}

export function noResponders(subject: string): TroupeError {
  return new TroupeError("NO_RESPONDERS", `no subscriber on ${subject}`);
}

export function timedOut(subject: string, timeoutMs: number): TroupeError {
  return new TroupeError("TIMEOUT", `no reply on ${subject} within ${timeoutMs} ms`);
}

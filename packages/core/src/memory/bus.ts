import { TroupeError } from "../errors.ts";
import { type Bus, type BusMessage, noResponders, type Subscription, timedOut, tooLarge } from "../ports/bus.ts";
import { subjectMatches } from "../protocol/subjects.ts";

interface BusListener {
  pattern: string;
  deliver: (message: BusMessage) => void;
  active: boolean;
}

export interface MemoryBusOptions {
  /** @default 1 MiB */
  payloadBytesMax?: number;
  /** Receives errors of listeners. @default the error is thrown outside of any call, so that a bug is noticed */
  onListenerError?(error: unknown, subject: string): void;
}

/** The in-process bus. It follows the rules of NATS and copies bytes, so that sender and receiver share no objects. */
export function createMemoryBus(options: MemoryBusOptions = {}): Bus {
  const payloadBytesMax = options.payloadBytesMax ?? 1024 * 1024;
  const listeners = new Set<BusListener>();
  /** Listeners on patterns without wildcards, by subject: a host waits for thousands of single runs at once. */
  const exact = new Map<string, Set<BusListener>>();
  const waiting = new Set<(error: TroupeError) => void>();
  let closed = false;

  const check = (bytes: Uint8Array): void => {
    if (closed) throw new TroupeError("CLOSED", "the bus is closed");
    if (bytes.byteLength > payloadBytesMax) throw tooLarge(bytes.byteLength, payloadBytesMax);
  };

  const deliver = (listener: BusListener, message: BusMessage): void => {
    try {
      listener.deliver(message);
    } catch (error) {
      if (!options.onListenerError) throw error;
      options.onListenerError(error, message.subject);
    }
  };

  /** Delivers asynchronously, like a socket. Returns the number of current listeners. */
  const send = (subject: string, bytes: Uint8Array, respond: (reply: Uint8Array) => void): number => {
    const matching = [...listeners].filter((listener) => subjectMatches(listener.pattern, subject));
    matching.push(...(exact.get(subject) ?? []));
    for (const listener of matching) {
      const copy = new Uint8Array(bytes); // slice() of a Buffer would be a view
      queueMicrotask(() => {
        if (!closed && listener.active) deliver(listener, { subject, bytes: copy, respond });
      });
    }
    return matching.length;
  };

  return {
    payloadBytesMax,
    publish(subject, bytes) {
      check(bytes);
      send(subject, bytes, () => {});
    },
    async subscribe(pattern, deliver): Promise<Subscription> {
      if (closed) throw new TroupeError("CLOSED", "the bus is closed");
      const listener = { pattern, deliver, active: true };
      const group = hasWildcard(pattern) ? listeners : listenersOf(exact, pattern);
      group.add(listener);
      return {
        unsubscribe: () => {
          listener.active = false;
          group.delete(listener);
          if (group !== listeners && group.size === 0) exact.delete(pattern);
        },
      };
    },
    async request(subject, bytes, { timeoutMs }) {
      check(bytes);
      return await new Promise((resolve, reject) => {
        const settle = (act: () => void): void => {
          clearTimeout(timer);
          waiting.delete(fail);
          act();
        };
        const fail = (error: TroupeError): void => settle(() => reject(error));
        const timer = setTimeout(() => fail(timedOut(subject, timeoutMs)), timeoutMs);
        waiting.add(fail);
        const listening = send(subject, bytes, (reply) => {
          if (closed) return;
          check(reply);
          settle(() => resolve(new Uint8Array(reply)));
        });
        if (listening === 0) fail(noResponders(subject));
      });
    },
    async flush() {
      await Promise.resolve();
    },
    async close() {
      closed = true;
      listeners.clear();
      exact.clear();
      for (const fail of waiting) fail(new TroupeError("CLOSED", "the bus was closed while waiting"));
    },
  };
}

function hasWildcard(pattern: string): boolean {
  return pattern.split(".").some((token) => token === "*" || token === ">");
}

function listenersOf(exact: Map<string, Set<BusListener>>, subject: string): Set<BusListener> {
  const known = exact.get(subject);
  if (known) return known;
  const created = new Set<BusListener>();
  exact.set(subject, created);
  return created;
}

import type { Msg, MsgHdrs, NatsConnection } from "@nats-io/transport-node";
import type { NatsLink, NatsLinkEvent } from "./link.ts";

export interface SentMessage {
  subject: string;
  payload: string;
  reply: string | undefined;
}

/** A link without a server: it records all messages, and the test answers. */
export interface TestLink extends NatsLink {
  /** All requests and messages, in order. */
  sent: SentMessage[];
  /** A request gets a reply when the returned promise resolves, and fails when it rejects. @default at once */
  onRequest(answer: (request: SentMessage) => Promise<void>): void;
  /** A flush ends when the returned promise resolves. @default at once */
  onFlush(flush: () => Promise<void>): void;
  /** Delivers a message to the subscriber of `to`. */
  deliver(message: { subject: string; to: string; reply?: string; text?: string; code?: number }): void;
  subscriptions(): string[];
  disconnect(): void;
  reconnect(): void;
}

export function createTestLink(): TestLink {
  const sent: SentMessage[] = [];
  const listeners = new Set<(event: NatsLinkEvent) => void>();
  const subscribers = new Map<string, (error: Error | null, message: Msg) => void>();
  const state = { connected: true, closed: false };
  let answer: (request: SentMessage) => Promise<void> = async () => {};
  let flush: () => Promise<void> = async () => {};
  const emit = (event: NatsLinkEvent): void => {
    for (const listener of [...listeners]) listener(event);
  };
  const record = (subject: string, payload: unknown, reply?: string): SentMessage => {
    const text = typeof payload === "string" ? payload : new TextDecoder().decode(payload as Uint8Array);
    const message = { subject, payload: text, reply };
    sent.push(message);
    return message;
  };
  const connection = {
    flush: () => flush(),
    publish(subject: string, payload: unknown, { reply }: { reply?: string } = {}) {
      const request = record(subject, payload, reply);
      const onReply = subscribers.get(`${reply?.slice(0, reply.lastIndexOf("."))}.*`);
      if (!reply || !onReply) return;
      void answer(request).then(
        () => onReply(null, messageOf({ subject: reply })),
        () => onReply(null, messageOf({ subject: reply, code: 503 })),
      );
    },
    subscribe(subject: string, { callback }: { callback(error: Error | null, message: Msg): void }) {
      subscribers.set(subject, callback);
      return { unsubscribe: () => subscribers.delete(subject) };
    },
  } as unknown as NatsConnection;

  return {
    connection,
    sent,
    redactedUrl: "nats://test",
    inboxPrefix: "_INBOX",
    payloadBytesMax: 1024 * 1024,
    get connected() {
      return state.connected;
    },
    get closed() {
      return state.closed;
    },
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async close() {
      state.closed = true;
    },
    onRequest(next) {
      answer = next;
    },
    onFlush(next) {
      flush = next;
    },
    deliver: ({ to, ...message }) => subscribers.get(to)?.(null, messageOf(message)),
    subscriptions: () => [...subscribers.keys()],
    disconnect() {
      state.connected = false;
      emit({ kind: "disconnected", server: "test" });
    },
    reconnect() {
      state.connected = true;
      emit({ kind: "reconnected", server: "test" });
    },
  };
}

function messageOf({
  subject,
  reply,
  text = "",
  code,
}: {
  subject: string;
  reply?: string;
  text?: string;
  code?: number;
}): Msg {
  const data = new TextEncoder().encode(text);
  return {
    subject,
    data,
    ...(reply === undefined ? {} : { reply }),
    ...(code === undefined ? {} : { headers: { code } as MsgHdrs }),
    string: () => text,
  } as Msg;
}

/** Lets all pending work run that needs no time to pass. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

import { headers as createHeaders, type Msg, type MsgHdrs, type NatsConnection } from "@nats-io/transport-node";
import type { Delivery } from "../task-queue/pulls.ts";
import type { NatsLink, NatsLinkEvent } from "./link.ts";

export interface Said {
  subject: string;
  word: string;
  reply: string | undefined;
}

/** The near end of a connection: what is said over it is kept, and a test is what answers. */
export interface TestLink extends NatsLink {
  /** Everything that was asked and published, in order. */
  said: Said[];
  /** What is asked is answered when this resolves, and fails when it rejects. @default at once */
  onAsk(answer: (said: Said) => Promise<void>): void;
  /** Until this resolves the server is not heard. @default at once */
  onFlush(heard: () => Promise<void>): void;
  /** Hands a message to whoever subscribed to its subject. */
  deliver(message: { subject: string; to: string; reply?: string; text?: string; code?: number }): void;
  subscriptions(): string[];
  disconnect(): void;
  reconnect(): void;
}

export function createTestLink(): TestLink {
  const said: Said[] = [];
  const listeners = new Set<(event: NatsLinkEvent) => void>();
  const subscribers = new Map<string, (error: Error | null, message: Msg) => void>();
  const state = { connected: true, closed: false };
  let answer: (said: Said) => Promise<void> = async () => {};
  let flush: () => Promise<void> = async () => {};
  const tell = (event: NatsLinkEvent): void => {
    for (const listener of [...listeners]) listener(event);
  };
  const note = (subject: string, payload: unknown, reply?: string): Said => {
    const one = {
      subject,
      word: typeof payload === "string" ? payload : new TextDecoder().decode(payload as Uint8Array),
      reply,
    };
    said.push(one);
    return one;
  };
  const connection = {
    flush: () => flush(),
    publish(subject: string, payload: unknown, { reply }: { reply?: string } = {}) {
      const one = note(subject, payload, reply);
      const hear = subscribers.get(`${reply?.slice(0, reply.lastIndexOf("."))}.*`);
      if (!reply || !hear) return;
      void answer(one).then(
        () => hear(null, messageOf({ subject: reply })),
        () => hear(null, messageOf({ subject: reply, code: 503 })),
      );
    },
    subscribe(subject: string, { callback }: { callback(error: Error | null, message: Msg): void }) {
      subscribers.set(subject, callback);
      return { unsubscribe: () => subscribers.delete(subject) };
    },
  } as unknown as NatsConnection;

  return {
    connection,
    said,
    shown: "nats://test",
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
    onAsk(next) {
      answer = next;
    },
    onFlush(heard) {
      flush = heard;
    },
    deliver: ({ to, ...message }) => subscribers.get(to)?.(null, messageOf(message)),
    subscriptions: () => [...subscribers.keys()],
    disconnect() {
      state.connected = false;
      tell({ kind: "disconnected", server: "test" });
    },
    reconnect() {
      state.connected = true;
      tell({ kind: "reconnected", server: "test" });
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

/** A message as a consumer gave it out. */
export function deliveryOf(changes: Partial<Delivery> & Pick<Delivery, "askedAt">): Delivery {
  const { seq = 1, count = 1 } = changes;
  const reply = `$JS.ACK.tasks.coder@any.${count}.${seq}.1.1.0`;
  const subject = "troupe.task.any.coder.r1";
  return { subject, bytes: new Uint8Array(), headers: createHeaders(), reply, seq, count, ...changes };
}

/** Lets everything that can go on without time passing go on. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

import { createInbox, type Msg, type MsgHdrs } from "@nats-io/transport-node";
import { type Clock, TroupeError } from "@troupe/core";
import type { NatsLink } from "./link.ts";
import { unreachable } from "./link-errors.ts";

export interface Ask {
  subject: string;
  /** Not to be changed until the end of the turn: the client keeps no copy. */
  payload: Uint8Array | string;
  headers?: MsgHdrs;
  timeoutMs: number;
  /** Hears each answer; true for the last one. */
  hear(answer: Msg): boolean;
}

/**
 * Requests with one answer or several, over one subscription for all. The client's own requests make a timer and a race
 * of promises each, and go on waiting when the connection has been lost.
 */
export interface Requester {
  /**
   * Resolves with the last answer. Rejects with `UNREACHABLE` when the connection is, or was, away, `TIMEOUT` when the
   * last answer has not come, `NO_RESPONDERS` when nobody listens there, `FORBIDDEN` or `CLOSED`. Unless it is the
   * first or the last of these, nobody knows whether what was asked was done.
   */
  ask(ask: Ask): Promise<void>;
  /** The same, where there is one answer: resolves to its text. */
  askOnce(ask: Omit<Ask, "hear">): Promise<string>;
  close(): void;
}

interface Pending {
  subject: string;
  dueMs: number;
  timeoutMs: number;
  hear(answer: Msg): boolean;
  resolve(): void;
  reject(error: TroupeError): void;
}

/** So often those whose time is over are looked for. */
const sweepMs = 250;

export function createRequester({ link, clock }: { link: NatsLink; clock: Clock }): Requester {
  const inbox = createInbox(link.inboxPrefix);
  const answers = `${inbox}.*`;
  const pending = new Map<string, Pending>();
  /** The server lets no answer through to here. */
  let deaf: TroupeError | null = null;
  let count = 0;
  let closed = false;
  let sweeping: (() => void) | null = null;

  const take = (token: string): Pending | undefined => {
    const found = pending.get(token);
    pending.delete(token);
    return found;
  };
  const failAll = (error: () => TroupeError, of: (ask: Pending) => boolean = () => true): void => {
    for (const [token, ask] of [...pending]) if (of(ask)) take(token)?.reject(error());
  };
  const hear = (message: Msg): void => {
    const token = message.subject.slice(inbox.length + 1);
    const ask = pending.get(token);
    if (!ask) return;
    if (message.headers?.code === 503 && message.data.byteLength === 0) {
      take(token)?.reject(new TroupeError("NO_RESPONDERS", `nobody answers at ${ask.subject}`));
      return;
    }
    try {
      if (ask.hear(message)) take(token)?.resolve();
    } catch (error) {
      take(token)?.reject(asTroupeError(error, ask.subject));
    }
  };
  const sweep = (): void => {
    const nowMs = clock.monotonicMs();
    for (const [token, ask] of [...pending]) {
      if (ask.dueMs > nowMs) continue;
      const error = `${link.shown} did not answer within ${ask.timeoutMs} ms (${ask.subject})`;
      take(token)?.reject(new TroupeError("TIMEOUT", error));
    }
    sweeping = pending.size > 0 ? clock.after(sweepMs, sweep) : null;
  };
  const subscription = link.connection.subscribe(answers, {
    callback: (error, message) => {
      if (!error) hear(message);
    },
  });
  const stopFollowing = link.onEvent((event) => {
    if (event.kind === "disconnected" || event.kind === "closed") failAll(() => unreachable(link.shown));
    if (event.kind === "reconnected") deaf = null;
    if (event.kind !== "error" || !event.denied) return;
    const { error, denied } = event;
    if (denied.operation === "publish") {
      failAll(
        () => error,
        (ask) => ask.subject === denied.subject,
      );
    } else if (denied.subject === answers) {
      deaf = error;
      failAll(() => error);
    }
  });

  const asks: Requester = {
    ask({ subject, payload, headers, timeoutMs, hear }) {
      if (closed || link.closed) return Promise.reject(new TroupeError("CLOSED", "the connection to NATS is closed"));
      if (!link.connected) return Promise.reject(unreachable(link.shown));
      if (deaf) return Promise.reject(deaf);
      count += 1;
      const token = count.toString(36);
      return new Promise((resolve, reject) => {
        pending.set(token, { subject, dueMs: clock.monotonicMs() + timeoutMs, timeoutMs, hear, resolve, reject });
        sweeping ??= clock.after(sweepMs, sweep);
        try {
          link.connection.publish(subject, payload, { reply: `${inbox}.${token}`, ...(headers ? { headers } : {}) });
        } catch (error) {
          take(token)?.reject(asTroupeError(error, subject));
        }
      });
    },
    async askOnce(ask) {
      let text = "";
      await asks.ask({
        ...ask,
        hear(answer) {
          text = answer.string();
          return true;
        },
      });
      return text;
    },
    close() {
      if (closed) return;
      closed = true;
      sweeping?.();
      stopFollowing();
      subscription.unsubscribe();
      failAll(() => new TroupeError("CLOSED", "the connection to NATS is closed"));
    },
  };
  return asks;
}

function asTroupeError(error: unknown, subject: string): TroupeError {
  if (TroupeError.is(error)) return error;
  const why = error instanceof Error ? error.message : String(error);
  return new TroupeError("INTERNAL", `${subject} cannot be asked: ${why}`, { cause: error });
}

import { createInbox, type Msg, type MsgHdrs } from "@nats-io/transport-node";
import { type Clock, TroupeError } from "@troupe/core";
import type { NatsLink } from "./link.ts";
import { unreachable } from "./link-errors.ts";

export interface SingleRequest {
  subject: string;
  /** The client keeps no copy: do not change it before the end of the turn. */
  payload: Uint8Array | string;
  headers?: MsgHdrs;
  timeoutMs: number;
}

export interface ManyRequest extends SingleRequest {
  /** Called with each reply. Returns true for the last one. */
  onReply(reply: Msg): boolean;
}

/**
 * Requests with one reply or several, over one shared subscription. The client library's own requests create a timer and
 * a race of promises each, and keep waiting after the connection is lost.
 */
export interface Requester {
  /**
   * Resolves after the last reply. Rejects with:
   * - `UNREACHABLE` when the connection is lost, before or during the request,
   * - `TIMEOUT` when the last reply does not arrive in time,
   * - `NO_RESPONDERS` when no process subscribes to the subject,
   * - `FORBIDDEN` when the server refuses the request or the replies,
   * - `CLOSED`.
   *
   * After `TIMEOUT`, and after a connection that broke during the request, the responder may have acted or not.
   */
  requestMany(request: ManyRequest): Promise<void>;
  /** A request with one reply. Resolves to its text, and rejects as `requestMany` does. */
  request(request: SingleRequest): Promise<string>;
  close(): void;
}

interface PendingRequest {
  subject: string;
  deadlineMs: number;
  timeoutMs: number;
  onReply(reply: Msg): boolean;
  resolve(): void;
  reject(error: TroupeError): void;
}

/** Interval between two checks for overdue requests. */
const timeoutCheckMs = 250;

export function createRequester({ link, clock }: { link: NatsLink; clock: Clock }): Requester {
  const inbox = createInbox(link.inboxPrefix);
  const replySubjects = `${inbox}.*`;
  const pending = new Map<string, PendingRequest>();
  /** Set when the server refuses the subscription to the replies. */
  let subscriptionError: TroupeError | null = null;
  let requestCount = 0;
  let closed = false;
  let stopTimeoutChecks: (() => void) | null = null;

  const remove = (token: string): PendingRequest | undefined => {
    const found = pending.get(token);
    pending.delete(token);
    return found;
  };
  const rejectAll = (error: () => TroupeError, matches: (request: PendingRequest) => boolean = () => true): void => {
    for (const [token, request] of [...pending]) if (matches(request)) remove(token)?.reject(error());
  };
  const onReply = (message: Msg): void => {
    const token = message.subject.slice(inbox.length + 1);
    const request = pending.get(token);
    if (!request) return;
    if (message.headers?.code === 503 && message.data.byteLength === 0) {
      remove(token)?.reject(new TroupeError("NO_RESPONDERS", `no process answers at ${request.subject}`));
      return;
    }
    try {
      if (request.onReply(message)) remove(token)?.resolve();
    } catch (error) {
      remove(token)?.reject(toTroupeError(error, request.subject));
    }
  };
  const rejectOverdue = (): void => {
    const nowMs = clock.monotonicMs();
    for (const [token, request] of [...pending]) {
      if (request.deadlineMs > nowMs) continue;
      const message = `${link.redactedUrl} did not answer within ${request.timeoutMs} ms (${request.subject})`;
      remove(token)?.reject(new TroupeError("TIMEOUT", message));
    }
    stopTimeoutChecks = pending.size > 0 ? clock.after(timeoutCheckMs, rejectOverdue) : null;
  };
  const subscription = link.connection.subscribe(replySubjects, {
    callback: (error, message) => {
      if (!error) onReply(message);
    },
  });
  const stopListening = link.onEvent((event) => {
    if (event.kind === "disconnected" || event.kind === "closed") rejectAll(() => unreachable(link.redactedUrl));
    if (event.kind === "reconnected") subscriptionError = null;
    if (event.kind !== "error" || !event.denied) return;
    const { error, denied } = event;
    if (denied.operation === "publish") {
      rejectAll(
        () => error,
        (request) => request.subject === denied.subject,
      );
    } else if (denied.subject === replySubjects) {
      subscriptionError = error;
      rejectAll(() => error);
    }
  });

  const requester: Requester = {
    requestMany({ subject, payload, headers, timeoutMs, onReply }) {
      if (closed || link.closed) return Promise.reject(connectionClosed());
      if (!link.connected) return Promise.reject(unreachable(link.redactedUrl));
      if (subscriptionError) return Promise.reject(subscriptionError);
      requestCount += 1;
      const token = requestCount.toString(36);
      return new Promise((resolve, reject) => {
        const deadlineMs = clock.monotonicMs() + timeoutMs;
        pending.set(token, { subject, deadlineMs, timeoutMs, onReply, resolve, reject });
        stopTimeoutChecks ??= clock.after(timeoutCheckMs, rejectOverdue);
        try {
          link.connection.publish(subject, payload, { reply: `${inbox}.${token}`, ...(headers ? { headers } : {}) });
        } catch (error) {
          remove(token)?.reject(toTroupeError(error, subject));
        }
      });
    },
    async request(request) {
      let text = "";
      await requester.requestMany({
        ...request,
        onReply(reply) {
          text = reply.string();
          return true;
        },
      });
      return text;
    },
    close() {
      if (closed) return;
      closed = true;
      stopTimeoutChecks?.();
      stopListening();
      subscription.unsubscribe();
      rejectAll(connectionClosed);
    },
  };
  return requester;
}

function connectionClosed(): TroupeError {
  return new TroupeError("CLOSED", "the connection to NATS is closed");
}

function toTroupeError(error: unknown, subject: string): TroupeError {
  if (TroupeError.is(error)) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new TroupeError("INTERNAL", `the request to ${subject} failed: ${reason}`, { cause: error });
}

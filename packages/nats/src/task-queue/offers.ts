import type { JetStreamManager } from "@nats-io/jetstream";
import { type Clock, TroupeError } from "@troupe/core";
import type { NatsLink } from "../connection/link.ts";
import { unreachable } from "../connection/link-errors.ts";
import type { Requester } from "../connection/requester.ts";
import { apiCodes } from "../jetstream/errors.ts";
import { PublishAck } from "../jetstream/publisher.ts";
import type { TaskMessage } from "./wire.ts";

const attemptMs = 2_000;
const pauseMs = 100;

export interface Offers {
  /** Rejects with `UNREACHABLE` if no server acknowledges the offer in time. */
  publish(message: TaskMessage): Promise<"offered" | "duplicate">;
}

export interface OffersOptions {
  link: NatsLink;
  requester: Pick<Requester, "request">;
  manager: JetStreamManager;
  stream: string;
  clock: Clock;
  /** Time limit of an offer, over all attempts. */
  timeoutMs: number;
  isClosed(): boolean;
}

export function createOffers({ link, requester, manager, stream, clock, timeoutMs, isClosed }: OffersOptions): Offers {
  /** True if the stream has a task on the subject, whatever the reason of the refusal. */
  const isInStream = async (subject: string): Promise<boolean> => {
    try {
      return (await manager.streams.getMessage(stream, { last_by_subj: subject })) !== null;
    } catch (error) {
      throw unreachable(link.redactedUrl, error);
    }
  };

  /** Null if it is unknown whether the message was stored. */
  const attempt = async ({ subject, headers, bytes }: TaskMessage): Promise<"offered" | "duplicate" | null> => {
    let result: OfferResult;
    try {
      result = resultOf(await requester.request({ subject, payload: bytes, headers, timeoutMs: attemptMs }));
    } catch (error) {
      if (TroupeError.is(error) && error.code === "FORBIDDEN") throw error;
      if (TroupeError.is(error) && error.code === "INTERNAL") throw queueRefused(stream, error);
      return null;
    }
    if (result.kind === "stored") return "offered";
    if (result.kind === "duplicate" || (await isInStream(subject))) return "duplicate";
    throw queueRefused(stream, result.reason);
  };

  return {
    async publish(message) {
      const untilMs = clock.monotonicMs() + timeoutMs;
      for (;;) {
        if (isClosed()) throw new TroupeError("CLOSED", "the queue is closed");
        const result = await attempt(message);
        if (result) return result;
        if (clock.monotonicMs() > untilMs) throw unreachable(link.redactedUrl);
        await new Promise<void>((resolve) => clock.after(pauseMs, resolve));
      }
    },
  };
}

type OfferResult = { kind: "stored" } | { kind: "duplicate" } | { kind: "refused"; reason: string };

function resultOf(ack: string): OfferResult {
  const { error } = PublishAck.parse(JSON.parse(ack));
  if (!error) return { kind: "stored" };
  const { err_code: code, description } = error;
  // One code for every refusal of the store: only the description tells the reason.
  if (code === apiCodes.storeFailed && /per subject/.test(description)) return { kind: "duplicate" };
  return { kind: "refused", reason: `${description} (${code})` };
}

function queueRefused(stream: string, cause: unknown): TroupeError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new TroupeError("LIMIT_REACHED", `the work queue ${stream} takes no task: ${reason}`, {
    fix: "look at it with `troupe nats check`",
    cause,
  });
}

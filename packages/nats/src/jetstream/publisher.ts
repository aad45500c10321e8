import type { MsgHdrs } from "@nats-io/transport-node";
import { TroupeError } from "@troupe/core";
import { z } from "zod";
import type { Requester } from "../connection/requester.ts";
import { apiCodes, apiErrorOf } from "./errors.ts";

/**
 * Compare-and-set: the sequence of the newest message on the subject. The server refuses the message if another sequence
 * is the newest.
 */
export const expectedSequenceHeader = "Nats-Expected-Last-Subject-Sequence";

export interface Publication {
  subject: string;
  /** Do not change them before the end of the turn. */
  bytes: Uint8Array;
  headers?: MsgHdrs;
}

export type PublishResult =
  | { kind: "stored"; sequence: number }
  /** Another message is the newest on the subject. */
  | { kind: "conflict" }
  | { kind: "refused"; error: TroupeError }
  /** The message may be stored or not: no acknowledgement arrived. */
  | { kind: "unknown"; cause: TroupeError };

/** Publishes into a stream. The server acknowledges each message once it is durable. */
export interface Publisher {
  /** Never rejects for an error of the server or the connection. */
  publish(publication: Publication): Promise<PublishResult>;
}

/** A leader that has died never answers. Its successor can tell whether the message is stored. */
const ackTimeoutMsDefault = 2_000;

/** The acknowledgement of JetStream. */
export const PublishAck = z.object({
  seq: z.int().default(0),
  error: z.object({ err_code: z.int().default(0), description: z.string().default("") }).exactOptional(),
});

export function createPublisher({
  requester,
  ackTimeoutMs = ackTimeoutMsDefault,
}: {
  requester: Requester;
  /** @default 2_000 */
  ackTimeoutMs?: number | undefined;
}): Publisher {
  return {
    async publish({ subject, bytes, headers }) {
      const request = { subject, payload: bytes, timeoutMs: ackTimeoutMs, ...(headers ? { headers } : {}) };
      try {
        return resultOf(await requester.request(request), subject);
      } catch (error) {
        if (!TroupeError.is(error)) throw error;
        if (error.code === "FORBIDDEN" || error.code === "CLOSED") return { kind: "refused", error };
        return { kind: "unknown", cause: error };
      }
    },
  };
}

function resultOf(ack: string, subject: string): PublishResult {
  const { seq, error } = PublishAck.parse(JSON.parse(ack));
  if (!error) return { kind: "stored", sequence: seq };
  const { err_code: code, description } = error;
  if (code === apiCodes.wrongLastSequence || code === apiCodes.wrongLastSequenceUnknown) return { kind: "conflict" };
  const refusal = apiErrorOf(code, description, `publishing to ${subject}`);
  // A server that has just lost leadership refuses messages that its followers may already have.
  return refusal.code === "UNREACHABLE" ? { kind: "unknown", cause: refusal } : { kind: "refused", error: refusal };
}

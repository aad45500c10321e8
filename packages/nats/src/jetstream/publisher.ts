import type { MsgHdrs } from "@nats-io/transport-node";
import { TroupeError } from "@troupe/core";
import { z } from "zod";
import type { Requester } from "../connection/requester.ts";
import { apiCodes, refusalOf } from "./errors.ts";

/** The sequence of the newest message on the same subject; with another one there the server refuses the message. */
export const expectedHeader = "Nats-Expected-Last-Subject-Sequence";

export interface Publication {
  subject: string;
  /** Not to be changed until the end of the turn. */
  bytes: Uint8Array;
  headers?: MsgHdrs;
}

export type Published =
  | { kind: "stored"; sequence: number }
  /** Another message is the newest there. */
  | { kind: "conflict" }
  | { kind: "refused"; error: TroupeError }
  /** Nobody knows whether it is stored. */
  | { kind: "unknown"; cause: TroupeError };

/** Messages into a stream, each answered for by the server when it is durable. */
export interface Publisher {
  /** Never rejects. */
  publish(publication: Publication): Promise<Published>;
}

/** A leader that has died never answers, and the next one can tell what became of it. */
const answerTimeoutMsUsual = 2_000;

const Ack = z.object({
  seq: z.int().default(0),
  error: z.object({ err_code: z.int().default(0), description: z.string().default("") }).exactOptional(),
});

export function createPublisher({
  asks,
  answerTimeoutMs = answerTimeoutMsUsual,
}: {
  asks: Requester;
  /** @default 2_000 */
  answerTimeoutMs?: number | undefined;
}): Publisher {
  return {
    async publish({ subject, bytes, headers }) {
      const said = headers ? { headers } : {};
      try {
        return ackIn(await asks.askOnce({ subject, payload: bytes, timeoutMs: answerTimeoutMs, ...said }), subject);
      } catch (error) {
        return failed(error);
      }
    },
  };
}

function ackIn(answer: string, subject: string): Published {
  const { seq, error } = Ack.parse(JSON.parse(answer));
  if (!error) return { kind: "stored", sequence: seq };
  const { err_code: code, description } = error;
  if (code === apiCodes.wrongLastSequence || code === apiCodes.wrongLastSequenceUnknown) return { kind: "conflict" };
  const refusal = refusalOf(code, description, `publishing to ${subject}`);
  // Whoever has just stopped leading says no to what its followers may have by then.
  return refusal.code === "UNREACHABLE" ? { kind: "unknown", cause: refusal } : { kind: "refused", error: refusal };
}

function failed(error: unknown): Published {
  if (!TroupeError.is(error)) throw error;
  if (error.code === "FORBIDDEN" || error.code === "CLOSED") return { kind: "refused", error };
  return { kind: "unknown", cause: error };
}

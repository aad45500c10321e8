import type { Msg } from "@nats-io/transport-node";
import { TroupeError } from "@troupe/core";
import { z } from "zod";
import type { ManyRequest, Requester } from "../connection/requester.ts";
import { createJetStreamApi } from "./api.ts";
import { apiCodes } from "./errors.ts";

/** A message in a stream. */
export interface StoredMessage {
  sequence: number;
  subject: string;
  headers: HeaderFields;
  bytes: Uint8Array;
}

/** Headers of a message. */
export interface HeaderFields {
  /** The empty string for a missing header. */
  get(name: string): string;
}

/** Reads the messages of a stream. Every result is at least as new as the leader's state at the time of the call. */
export interface StoredMessages {
  /** The newest message on a subject, which may have wildcards. */
  lastOf(subject: string): Promise<StoredMessage | null>;
  /** The first message on a subject with this sequence or a later one. */
  nextOf(subject: string, sequence: number): Promise<StoredMessage | null>;
  /** All messages on a subject with this sequence or a later one, in order. */
  allOf(subject: string, sequence?: number): Promise<StoredMessage[]>;
}

/** Time limit of a replica. After that the leader is asked. */
const batchTimeoutMs = 2_000;
/** Limits of one request to a replica. */
const batchMessages = 512;
const batchBytes = 4 * 1024 * 1024;

/** After these errors of a batch, the leader is asked for each message. */
const codesWithFallback: ReadonlySet<string> = new Set(["NO_RESPONDERS", "FORBIDDEN", "TIMEOUT"]);

const Reply = z.object({
  message: z.object({
    subject: z.string(),
    seq: z.int(),
    hdrs: z.string().default(""),
    data: z.string().default(""),
  }),
});

/**
 * Reads a stream without a consumer. Single messages come from the leader. Batches come from any replica, which may be
 * behind the leader: the leader's newest message is requested at the same time, and the leader delivers the missing ones.
 *
 * Rejects with `JOURNAL_LOST` if the stream does not exist, and as `Requester.requestMany` does.
 */
export function createStoredMessages({ requester, stream }: { requester: Requester; stream: string }): StoredMessages {
  const api = createJetStreamApi(requester);
  const absent = [apiCodes.noMessageFound];
  const fromLeader = async (request: object): Promise<StoredMessage | null> => {
    const found = await api.call(`STREAM.MSG.GET.${stream}`, Reply, { request, absent });
    if (!found) return null;
    const { subject, seq, hdrs, data } = found.message;
    return { sequence: seq, subject, headers: parseHeaders(hdrs), bytes: Buffer.from(data, "base64") };
  };
  const lastOf = (subject: string): Promise<StoredMessage | null> => fromLeader({ last_by_subj: subject });
  const nextOf = (subject: string, seq: number): Promise<StoredMessage | null> =>
    fromLeader({ seq: Math.max(1, seq), next_by_subj: subject });

  /**
   * One batch from any replica: the messages up to the first one that the replica lacks or that was lost on the way. Empty
   * if no replica can be asked.
   */
  const readBatch = async (subject: string, seq: number): Promise<{ messages: StoredMessage[]; more: boolean }> => {
    const batch = createBatch();
    const query = { next_by_subj: subject, seq: Math.max(1, seq), batch: batchMessages, max_bytes: batchBytes };
    const request: ManyRequest = {
      subject: `$JS.API.DIRECT.GET.${stream}`,
      payload: JSON.stringify(query),
      timeoutMs: batchTimeoutMs,
      onReply: batch.onReply,
    };
    try {
      await requester.requestMany(request);
      return batch;
    } catch (error) {
      // The operator may have disabled direct reads, and a replica may die. The leader has every message.
      const { messages } = batch;
      if (TroupeError.is(error) && codesWithFallback.has(error.code)) return { messages, more: messages.length > 0 };
      throw error;
    }
  };
  const readBatches = async (subject: string, sequence: number): Promise<StoredMessage[]> => {
    const all: StoredMessage[] = [];
    for (let from = sequence; ; from = (all.at(-1)?.sequence ?? from) + 1) {
      const { messages, more } = await readBatch(subject, from);
      all.push(...messages);
      if (!more || messages.length === 0) return all;
    }
  };

  return {
    lastOf,
    nextOf,
    async allOf(subject, sequence = 1) {
      const [last, messages] = await Promise.all([lastOf(subject), readBatches(subject, sequence)]);
      if (!last) return [];
      for (;;) {
        const seen = messages.at(-1)?.sequence ?? sequence - 1;
        if (seen >= last.sequence) return messages;
        const next = seen + 1 === last.sequence ? last : await nextOf(subject, seen + 1);
        if (!next) return messages;
        messages.push(next);
      }
    },
  };
}

interface Batch {
  messages: StoredMessage[];
  /** True if the stream may have more messages after these. */
  more: boolean;
  /** Returns true for the reply that ends the batch. */
  onReply(reply: Msg): boolean;
}

/**
 * Collects the replies to one batch request. Each message names the sequence of the one before it, and the final reply
 * names the last one. A message may get lost between two servers: all messages after a gap are discarded.
 */
function createBatch(): Batch {
  let hasNoGap = true;
  const batch: Batch = {
    messages: [],
    more: false,
    onReply(reply) {
      const { headers } = reply;
      const before = batch.messages.at(-1)?.sequence ?? 0;
      hasNoGap &&= Number(headers?.get("Nats-Last-Sequence") ?? 0) === before;
      if (!headers?.code) {
        if (hasNoGap) batch.messages.push(toStoredMessage(reply));
        return false;
      }
      batch.more = !hasNoGap || (headers.code === 204 && Number(headers.get("Nats-Num-Pending")) > 0);
      return true;
    },
  };
  return batch;
}

function toStoredMessage({ headers, data }: Msg): StoredMessage {
  return {
    sequence: Number(headers?.get("Nats-Sequence")),
    subject: headers?.get("Nats-Subject") ?? "",
    headers: headers ?? { get: () => "" },
    // The client library returns views of its read buffer.
    bytes: data.slice(),
  };
}

function parseHeaders(base64: string): HeaderFields {
  const [, ...lines] = Buffer.from(base64, "base64").toString("utf8").split("\r\n");
  const fields = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon);
    if (colon > 0 && !fields.has(name)) fields.set(name, line.slice(colon + 1).trim());
  }
  return { get: (name) => fields.get(name) ?? "" };
}

import type { Msg } from "@nats-io/transport-node";
import { TroupeError } from "@troupe/core";
import { z } from "zod";
import type { Requester } from "../connection/requester.ts";
import { createJetStreamApi } from "./api.ts";
import { apiCodes } from "./errors.ts";

/** A message as a stream has it. */
export interface Stored {
  sequence: number;
  subject: string;
  headers: Fields;
  bytes: Uint8Array;
}

/** Headers of a message; empty for one that is not there. */
export interface Fields {
  get(name: string): string;
}

/** What a stream has. Nothing here is ever older than what the stream's leader knew when it was asked. */
export interface StoredMessages {
  /** The newest message on a subject, which may have wildcards. */
  lastOf(subject: string): Promise<Stored | null>;
  /** The first message on a subject that is not before a sequence. */
  nextOf(subject: string, sequence: number): Promise<Stored | null>;
  /** All messages on a subject from a sequence on, in order. */
  allOf(subject: string, sequence?: number): Promise<Stored[]>;
}

/** What a replica has not said by then the leader is asked for. */
const batchTimeoutMs = 2_000;
/** Of one request to whichever replica answers. */
const batchMessages = 512;
const batchBytes = 4 * 1024 * 1024;

/** Without a batch the leader is asked for each message. */
const dispensable: ReadonlySet<string> = new Set(["NO_RESPONDERS", "FORBIDDEN", "TIMEOUT"]);

const Reply = z.object({
  message: z.object({
    subject: z.string(),
    seq: z.int(),
    hdrs: z.string().default(""),
    data: z.string().default(""),
  }),
});

/**
 * Reads a stream without a consumer. Single messages come from the leader. Many come in batches from any replica, which
 * may be behind: the leader's newest is asked for at the same time, and what a replica lacks comes from the leader.
 *
 * Rejects with `JOURNAL_LOST` when there is no such stream, and as `Asks` does.
 */
export function createStoredMessages({ asks, stream }: { asks: Requester; stream: string }): StoredMessages {
  const api = createJetStreamApi(asks);
  const absent = [apiCodes.noMessageFound];
  const fromLeader = async (request: object): Promise<Stored | null> => {
    const found = await api.call(`STREAM.MSG.GET.${stream}`, Reply, { request, absent });
    if (!found) return null;
    const { subject, seq, hdrs, data } = found.message;
    return { sequence: seq, subject, headers: parseHeaders(hdrs), bytes: Buffer.from(data, "base64") };
  };
  const lastOf = (subject: string): Promise<Stored | null> => fromLeader({ last_by_subj: subject });
  const nextOf = (subject: string, seq: number): Promise<Stored | null> =>
    fromLeader({ seq: Math.max(1, seq), next_by_subj: subject });

  /**
   * One batch from any replica, up to what it lacks or what got lost on the way, and whether it may have more; nothing
   * where it cannot be asked for.
   */
  const batchOf = async (subject: string, seq: number): Promise<{ found: Stored[]; more: boolean }> => {
    const batch = createBatch();
    const query = { next_by_subj: subject, seq: Math.max(1, seq), batch: batchMessages, max_bytes: batchBytes };
    const ask = {
      subject: `$JS.API.DIRECT.GET.${stream}`,
      payload: JSON.stringify(query),
      timeoutMs: batchTimeoutMs,
      hear: batch.hear,
    };
    try {
      await asks.ask(ask);
      return batch;
    } catch (error) {
      // Whoever owns the stream may have turned such reads off, and a replica may die. The leader has everything.
      const { found } = batch;
      if (TroupeError.is(error) && dispensable.has(error.code)) return { found, more: found.length > 0 };
      throw error;
    }
  };
  const batchesOf = async (subject: string, sequence: number): Promise<Stored[]> => {
    const all: Stored[] = [];
    for (let from = sequence; ; from = (all.at(-1)?.sequence ?? from) + 1) {
      const { found, more } = await batchOf(subject, from);
      all.push(...found);
      if (!more || found.length === 0) return all;
    }
  };

  return {
    lastOf,
    nextOf,
    async allOf(subject, sequence = 1) {
      const [last, found] = await Promise.all([lastOf(subject), batchesOf(subject, sequence)]);
      if (!last) return [];
      for (;;) {
        const seen = found.at(-1)?.sequence ?? sequence - 1;
        if (seen >= last.sequence) return found;
        const next = seen + 1 === last.sequence ? last : await nextOf(subject, seen + 1);
        if (!next) return found;
        found.push(next);
      }
    },
  };
}

export function streamLost(stream: string): TroupeError {
  return new TroupeError("JOURNAL_LOST", `there is no stream ${stream} on the server`, {
    fix: "run `troupe nats check`: it says what is missing, and what to do",
  });
}

interface Batch {
  found: Stored[];
  more: boolean;
  /** True for its last word. */
  hear(answer: Msg): boolean;
}

/**
 * What comes of one request for many. Each message names the one before it, and the last word the last: between two
 * servers any of them may get lost, and what comes after a gap is as good as not there.
 */
function createBatch(): Batch {
  let isWhole = true;
  const batch: Batch = {
    found: [],
    more: false,
    hear(answer) {
      const { headers } = answer;
      const before = batch.found.at(-1)?.sequence ?? 0;
      isWhole &&= Number(headers?.get("Nats-Last-Sequence") ?? 0) === before;
      if (!headers?.code) {
        if (isWhole) batch.found.push(directIn(answer));
        return false;
      }
      batch.more = !isWhole || (headers.code === 204 && Number(headers.get("Nats-Num-Pending")) > 0);
      return true;
    },
  };
  return batch;
}

function directIn({ headers, data }: Msg): Stored {
  return {
    sequence: Number(headers?.get("Nats-Sequence")),
    subject: headers?.get("Nats-Subject") ?? "",
    headers: headers ?? { get: () => "" },
    // The library hands out windows on its read buffer.
    bytes: data.slice(),
  };
}

function parseHeaders(base64: string): Fields {
  const [, ...lines] = Buffer.from(base64, "base64").toString("utf8").split("\r\n");
  const fields = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon);
    if (colon > 0 && !fields.has(name)) fields.set(name, line.slice(colon + 1).trim());
  }
  return { get: (name) => fields.get(name) ?? "" };
}

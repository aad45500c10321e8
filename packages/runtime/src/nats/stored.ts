import type { Msg } from "@nats-io/transport-node";
import { TroupeError } from "@troupe/core";
import { z } from "zod";
import type { Asks } from "./asks.ts";
import { createJetStreamApi } from "./jetstream-api.ts";
import { apiCodes } from "./jetstream-errors.ts";

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

const timeoutMs = 5_000;
/** Of one request to whichever replica answers. */
const batchMessages = 512;
const batchBytes = 4 * 1024 * 1024;

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
export function createStoredMessages({ asks, stream }: { asks: Asks; stream: string }): StoredMessages {
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

  /** One batch from any replica, and whether that has more; nothing where it cannot be asked for. */
  const batchOf = async (subject: string, seq: number): Promise<{ found: Stored[]; more: boolean }> => {
    const found: Stored[] = [];
    let more = false;
    const query = { next_by_subj: subject, seq: Math.max(1, seq), batch: batchMessages, max_bytes: batchBytes };
    const ask = {
      subject: `$JS.API.DIRECT.GET.${stream}`,
      payload: JSON.stringify(query),
      timeoutMs,
      hear(answer: Msg) {
        const { headers } = answer;
        if (headers?.code) {
          more = headers.code === 204 && Number(headers.get("Nats-Num-Pending")) > 0;
          return true;
        }
        found.push(directIn(answer));
        return false;
      },
    };
    try {
      await asks.ask(ask);
    } catch (error) {
      // Whoever owns the stream may have turned such reads off. The leader has everything.
      if (!TroupeError.is(error) || (error.code !== "NO_RESPONDERS" && error.code !== "FORBIDDEN")) throw error;
    }
    return { found, more };
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

import { headers as createHeaders, type Msg } from "@nats-io/transport-node";
import { TroupeError } from "@troupe/core";
import { describe, expect, it } from "vitest";
import type { ManyRequest, Requester } from "../connection/requester.ts";
import { createStoredMessages } from "./stored-messages.ts";

// A batch comes from any replica, over routes that may lose a part of it. The result must be complete all the same.

const subject = "t.run";
const all = [2, 3, 5, 8, 9];

describe("messages of a stream, read in batches", () => {
  it.each([
    { what: "nothing", lost: [] },
    { what: "the first", lost: [2] },
    { what: "one in the middle", lost: [5] },
    { what: "several", lost: [3, 8] },
    { what: "the last", lost: [9] },
    { what: "all", lost: all },
  ])("are whole and in order when $what is lost on the way", async ({ lost }) => {
    const { requester, directReads } = replicaThat({ loses: lost });
    expect(await sequencesIn(requester)).toEqual(all);
    expect(directReads()).toBeLessThanOrEqual(all.length + 1);
  });

  it.each([
    { what: "lacks the newest", has: [2, 3, 5] },
    { what: "has nothing yet", has: [] },
  ])("are whole when the replica that answers $what", async ({ has }) => {
    expect(await sequencesIn(replicaThat({ has }).requester)).toEqual(all);
  });

  it("are whole when the replica dies in the middle", async () => {
    expect(await sequencesIn(replicaThat({ diesAfter: 2 }).requester)).toEqual(all);
  });
});

async function sequencesIn(requester: Requester): Promise<number[]> {
  return (await createStoredMessages({ requester, stream: "s" }).allOf(subject)).map(({ sequence }) => sequence);
}

interface Replica {
  has?: readonly number[];
  /** Lost once: a repeated request delivers them. */
  loses?: readonly number[];
  diesAfter?: number;
}

/** A leader with all messages, and a replica with these faults. */
function replicaThat({ has = all, loses = [], diesAfter }: Replica) {
  const lost = new Set(loses);
  let directReads = 0;
  const fromLeader = ({ seq = 1, last }: { seq?: number; last: boolean }): object => {
    const found = last ? all.at(-1) : all.find((each) => each >= seq);
    return found ? { message: { subject, seq: found } } : { error: { err_code: 10037 } };
  };
  const fromReplica = ({ onReply }: ManyRequest, from: number): void => {
    directReads += 1;
    const given = has.filter((each) => each >= from).slice(0, diesAfter);
    if (given.length === 0) return void onReply(answer({}, "", 404));
    let before = 0;
    for (const seq of given) {
      const fields = { "Nats-Sequence": seq, "Nats-Subject": subject, "Nats-Last-Sequence": before };
      if (!lost.delete(seq)) onReply(answer(fields, "x"));
      before = seq;
    }
    if (diesAfter !== undefined) throw new TroupeError("TIMEOUT", "it has died");
    onReply(answer({ "Nats-Num-Pending": 0, "Nats-Last-Sequence": before }, "", 204));
  };
  const requester: Requester = {
    requestMany: async (request) => fromReplica(request, JSON.parse(String(request.payload)).seq),
    async request({ payload }) {
      const { seq, last_by_subj } = JSON.parse(String(payload));
      return JSON.stringify(fromLeader({ seq, last: last_by_subj !== undefined }));
    },
    close() {},
  };
  return { requester, directReads: () => directReads };
}

function answer(fields: Record<string, string | number>, text: string, code?: number): Msg {
  const headers = code === undefined ? createHeaders() : createHeaders(code, "said");
  for (const [name, value] of Object.entries(fields)) headers.set(name, String(value));
  return { headers, data: Buffer.from(text) } as unknown as Msg;
}

/** Concurrent readers of an inbox share a read, and each sees every item that was durable when it asked. */
import type { InboxItem, Journal } from "@troupe/core";
import { createMemoryJournal } from "@troupe/core/memory";
import { expect, test } from "vitest";
import { withSharedInboxReads } from "./run-deps.ts";

const session = "0198a000-0000-7000-8000-000000000001";
const other = "0198a000-0000-7000-8000-000000000002";

function command(of = session): InboxItem {
  return { v: 1, kind: "session.cancelled", at: 1, session: of, reason: "enough" };
}

/** A journal whose reads end when the test lets them, and its recorded queries. */
function createReads() {
  const journal = createMemoryJournal();
  const asked: string[] = [];
  const gates: PromiseWithResolvers<void>[] = [];
  const slowly: Journal["readInbox"] = async (of, afterSeq) => {
    asked.push(`${of === session ? "session" : "other"} after ${afterSeq}`);
    const items = await journal.readInbox(of, afterSeq);
    const gate = Promise.withResolvers<void>();
    gates.push(gate);
    await gate.promise;
    return items;
  };
  const { readInbox } = withSharedInboxReads({ ...journal, readInbox: slowly });
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return { journal, asked, gates, turn, read: readInbox };
}

const seqs = async (items: ReturnType<Journal["readInbox"]>): Promise<number[]> => (await items).map(({ seq }) => seq);

test("concurrent callers share one read, from the oldest requested position", async () => {
  const { journal, asked, gates, turn, read } = createReads();
  for (let i = 0; i < 3; i += 1) await journal.appendInbox(command());
  const shared = [read(session, 2), read(session, 1), read(session, 3)];
  await turn();
  expect(asked).toEqual(["session after 1"]);
  gates[0]?.resolve();
  for (const items of shared) expect(await seqs(items)).toEqual([2, 3]);
});

test("a caller during a read gets a later one, with the items that arrived meanwhile", async () => {
  const { journal, asked, gates, turn, read } = createReads();
  const early = read(session);
  await turn();
  await journal.appendInbox(command());
  const late = [read(session), read(session)];
  await turn();
  expect(asked).toHaveLength(1);
  gates[0]?.resolve();
  expect(await seqs(early)).toEqual([]);
  await turn();
  gates[1]?.resolve();
  for (const items of late) expect(await seqs(items)).toEqual([1]);
  expect(asked).toHaveLength(2);
});

test("sessions do not wait for one another", async () => {
  const { asked, turn, read } = createReads();
  void read(session);
  void read(other);
  await turn();
  expect(asked).toEqual(["session after 0", "other after 0"]);
});

test("a failed read rejects for its callers, and not for the next", async () => {
  let failures = 1;
  const journal = createMemoryJournal();
  await journal.appendInbox(command());
  const { readInbox: read } = withSharedInboxReads({
    ...journal,
    async readInbox(of, afterSeq) {
      if (failures-- > 0) throw new Error("EIO");
      return journal.readInbox(of, afterSeq);
    },
  });
  const [first, second] = await Promise.allSettled([read(session), read(session)]);
  expect([first?.status, second?.status]).toEqual(["rejected", "rejected"]);
  expect(await seqs(read(session))).toEqual([1]);
});

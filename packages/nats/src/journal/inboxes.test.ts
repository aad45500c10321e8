/** How much of an inbox is asked for, again and again, by all the runs of a session. */
import { createSubjects, type InboxItem, silentLogger } from "@troupe/core";
import { createMemoryBlobs } from "@troupe/core/memory";
import { beforeEach, expect, test } from "vitest";
import { createTestLink } from "../connection/link.fixture.ts";
import type { Publisher } from "../jetstream/publisher.ts";
import type { Stored, StoredMessages } from "../jetstream/stored-messages.ts";
import { createInboxes, type Inboxes } from "./inboxes.ts";
import { createInvalidEntries } from "./invalid-entries.ts";

const session = "00000000-0000-7000-8000-000000000001";
const wish = (reason: string): InboxItem => ({ v: 1, kind: "session.cancelled", at: 1, session, reason });

let asked: string[];
let messages: Stored[];
let inboxes: Inboxes;

beforeEach(() => {
  asked = [];
  messages = [];
  const stored: StoredMessages = {
    lastOf: async () => messages.at(-1) ?? null,
    async nextOf(_, sequence) {
      asked.push(`from ${sequence}`);
      return messages.find((message) => message.sequence >= sequence) ?? null;
    },
    async allOf() {
      asked.push("all");
      return messages;
    },
  };
  const publisher: Publisher = {
    async publish({ subject, bytes, headers }) {
      const sequence = messages.length + 1;
      messages.push({ sequence, subject, headers: { get: (name) => headers?.get(name) ?? "" }, bytes });
      return { kind: "stored", sequence };
    },
  };
  const parts = { stored, publisher, blobs: createMemoryBlobs(), strays: createInvalidEntries(silentLogger) };
  inboxes = createInboxes({ ...parts, link: createTestLink(), subjects: createSubjects() });
});

const reasons = async (afterSeq: number): Promise<string[]> =>
  (await inboxes.read(session, afterSeq)).map(({ item }) => (item.kind === "session.cancelled" ? item.reason : ""));

test("what was read of a short inbox is not asked for again: every run of the session reads it from its beginning", async () => {
  await inboxes.append(wish("a"));
  expect([await reasons(0), await reasons(0)]).toEqual([["a"], ["a"]]);
  await inboxes.append(wish("b"));
  expect([await reasons(0), await reasons(1), await reasons(0)]).toEqual([["a", "b"], ["b"], ["a", "b"]]);
  expect(asked).toEqual(["all", "from 2", "from 2", "from 3", "from 3", "from 3"]);
});

test("of a long one only the end is kept in mind: whoever has read that far asks for no more", async () => {
  await inboxes.append(wish("a".repeat(9_000)));
  expect((await reasons(0)).length).toBe(1);
  await inboxes.append(wish("b"));
  expect(await reasons(1)).toEqual(["b"]);
  expect(await reasons(1)).toEqual(["b"]);
  expect((await reasons(0)).length).toBe(2);
  expect(asked).toEqual(["all", "from 2", "from 3", "all", "all"]);
});

test("an inbox that was let go of is read anew", async () => {
  await inboxes.append(wish("a"));
  await reasons(0);
  inboxes.forget(session);
  messages = [];
  expect(await reasons(0)).toEqual([]);
  expect(asked).toEqual(["all", "all"]);
});

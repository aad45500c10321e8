/** How much of an inbox is read for all the runs of a session. */
import { createSubjects, type InboxItem, silentLogger } from "@troupe/core";
import { createMemoryBlobs } from "@troupe/core/memory";
import { beforeEach, expect, test } from "vitest";
import { createTestLink } from "../connection/link.fixture.ts";
import type { Publisher } from "../jetstream/publisher.ts";
import type { StoredMessage, StoredMessages } from "../jetstream/stored-messages.ts";
import { createInboxes, type Inboxes } from "./inboxes.ts";
import { createInvalidEntries } from "./invalid-entries.ts";

const session = "00000000-0000-7000-8000-000000000001";
const cancelItem = (reason: string): InboxItem => ({ v: 1, kind: "session.cancelled", at: 1, session, reason });

let reads: string[];
let messages: StoredMessage[];
let inboxes: Inboxes;

beforeEach(() => {
  reads = [];
  messages = [];
  const stored: StoredMessages = {
    lastOf: async () => messages.at(-1) ?? null,
    async nextOf(_, sequence) {
      reads.push(`from ${sequence}`);
      return messages.find((message) => message.sequence >= sequence) ?? null;
    },
    async allOf() {
      reads.push("all");
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
  const parts = { stored, publisher, blobs: createMemoryBlobs(), invalidEntries: createInvalidEntries(silentLogger) };
  inboxes = createInboxes({ ...parts, link: createTestLink(), subjects: createSubjects() });
});

const reasons = async (afterSeq: number): Promise<string[]> =>
  (await inboxes.read(session, afterSeq)).map(({ item }) => (item.kind === "session.cancelled" ? item.reason : ""));

test("a short inbox is cached: every run of the session reads it from its beginning", async () => {
  await inboxes.append(cancelItem("a"));
  expect([await reasons(0), await reasons(0)]).toEqual([["a"], ["a"]]);
  await inboxes.append(cancelItem("b"));
  expect([await reasons(0), await reasons(1), await reasons(0)]).toEqual([["a", "b"], ["b"], ["a", "b"]]);
  expect(reads).toEqual(["all", "from 2", "from 2", "from 3", "from 3", "from 3"]);
});

test("of a long inbox only the end is cached: a reader that is up to date reads only newer items", async () => {
  await inboxes.append(cancelItem("a".repeat(9_000)));
  expect((await reasons(0)).length).toBe(1);
  await inboxes.append(cancelItem("b"));
  expect(await reasons(1)).toEqual(["b"]);
  expect(await reasons(1)).toEqual(["b"]);
  expect((await reasons(0)).length).toBe(2);
  expect(reads).toEqual(["all", "from 2", "from 3", "all", "all"]);
});

test("a purged inbox is read again", async () => {
  await inboxes.append(cancelItem("a"));
  await reasons(0);
  inboxes.forget(session);
  messages = [];
  expect(await reasons(0)).toEqual([]);
  expect(reads).toEqual(["all", "all"]);
});

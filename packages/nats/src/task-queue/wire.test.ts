/** Tasks as messages, and other messages in the work queue. */
import { headers } from "@nats-io/transport-node";
import { createSubjects, type TaskOffer } from "@troupe/core";
import { protocolVersion } from "@troupe/core/internal";
import { createMemoryBlobs } from "@troupe/core/memory";
import { describe, expect, test } from "vitest";
import { deliveryOf } from "./delivery.fixture.ts";
import { decodeTask, encodeTask } from "./wire.ts";

const subjects = createSubjects();
const payloadBytesMax = 1024 * 1024;
const requestedAt = { monotonicMs: 0, wallMs: 0 };

function offerOf(bytes: number): TaskOffer {
  return { run: "r1", agent: "coder", locality: "any", bytes: new Uint8Array(bytes).fill(7) };
}

describe("a task", () => {
  test.for([
    { what: "small", bytes: 100, isBlob: false },
    { what: "of the largest size that goes in a message", bytes: 256 * 1024, isBlob: false },
    { what: "larger than that", bytes: 256 * 1024 + 1, isBlob: true },
    { what: "larger than any message", bytes: 3 * 1024 * 1024, isBlob: true },
  ])("$what is decoded as it was offered", async ({ bytes, isBlob }) => {
    const blobs = createMemoryBlobs();
    const offer = offerOf(bytes);
    const message = await encodeTask(offer, { subjects, blobs, payloadBytesMax });
    expect(message.bytes.byteLength === 0).toBe(isBlob);
    const read = await decodeTask(deliveryOf({ ...message, requestedAt }), { subjects, blobs });
    expect(read).toMatchObject({ kind: "task", run: "r1" });
    expect(read.kind === "task" && Buffer.compare(read.bytes, offer.bytes)).toBe(0);
  });

  test("larger than any message is refused before it is sent, if there are no blobs", async () => {
    const tooLarge = encodeTask(offerOf(payloadBytesMax), { subjects, blobs: undefined, payloadBytesMax });
    await expect(tooLarge).rejects.toMatchObject({ code: "TOO_LARGE" });
  });

  test("is a copy: later changes of the offer have no effect", async () => {
    const offer = offerOf(3);
    const { bytes } = await encodeTask(offer, { subjects, blobs: undefined, payloadBytesMax });
    offer.bytes.fill(0);
    expect([...bytes]).toEqual([7, 7, 7]);
  });
});

describe("a message in the queue", () => {
  const headersOf = (fields: Record<string, string>) => {
    const all = headers();
    for (const [key, value] of Object.entries(fields)) all.set(key, value);
    return all;
  };
  const version = { "Troupe-Version": String(protocolVersion) };
  test.for<{ what: string; changes: Partial<Parameters<typeof deliveryOf>[0]>; kind: string }>([
    { what: "without a header", changes: { headers: undefined }, kind: "foreign" },
    { what: "without a version", changes: { headers: headersOf({ Other: "1" }) }, kind: "foreign" },
    {
      what: "with a version that is not a number",
      changes: { headers: headersOf({ "Troupe-Version": "one" }) },
      kind: "foreign",
    },
    { what: "on a subject with more tokens", changes: { subject: "troupe.task.any.coder.r1.x" }, kind: "foreign" },
    { what: "of another namespace", changes: { subject: "other.task.any.coder.r1" }, kind: "foreign" },
    { what: "of a newer version", changes: { headers: headersOf({ "Troupe-Version": "99" }) }, kind: "later" },
    {
      what: "whose blob is missing",
      changes: { headers: headersOf({ ...version, "Troupe-Blob": "0".repeat(64) }) },
      kind: "later",
    },
    {
      what: "whose blob is not a hash",
      changes: { headers: headersOf({ ...version, "Troupe-Blob": "../../etc/passwd" }) },
      kind: "later",
    },
    { what: "of this version", changes: { headers: headersOf(version) }, kind: "task" },
  ])("$what is $kind", async ({ changes, kind }) => {
    const delivery = deliveryOf({ requestedAt, ...changes });
    expect((await decodeTask(delivery, { subjects, blobs: createMemoryBlobs() })).kind).toBe(kind);
  });

  test("whose blob cannot be read now is put off", async () => {
    const blobs = { ...createMemoryBlobs(), get: () => Promise.reject(new Error("out of reach")) };
    const delivery = deliveryOf({ requestedAt, headers: headersOf({ ...version, "Troupe-Blob": "0".repeat(64) }) });
    expect(await decodeTask(delivery, { subjects, blobs })).toMatchObject({ kind: "later" });
  });
});

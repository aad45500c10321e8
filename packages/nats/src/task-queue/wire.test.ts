/** A task as a message, and whatever else may be found where tasks are. */
import { headers } from "@nats-io/transport-node";
import { createSubjects, type TaskOffer } from "@troupe/core";
import { protocolVersion } from "@troupe/core/internal";
import { createMemoryBlobs } from "@troupe/core/memory";
import { describe, expect, test } from "vitest";
import { deliveryOf } from "../connection/link.fixture.ts";
import { encodeTask, readTask } from "./wire.ts";

const subjects = createSubjects();
const payloadBytesMax = 1024 * 1024;
const askedAt = { monotonicMs: 0, wallMs: 0 };

function offerOf(bytes: number): TaskOffer {
  return { run: "r1", agent: "coder", locality: "any", bytes: new Uint8Array(bytes).fill(7) };
}

describe("a task", () => {
  test.for([
    { what: "small", bytes: 100, isBlob: false },
    { what: "of the largest size that goes in a message", bytes: 256 * 1024, isBlob: false },
    { what: "larger than that", bytes: 256 * 1024 + 1, isBlob: true },
    { what: "larger than any message", bytes: 3 * 1024 * 1024, isBlob: true },
  ])("$what is read as it was offered", async ({ bytes, isBlob }) => {
    const blobs = createMemoryBlobs();
    const offer = offerOf(bytes);
    const message = await encodeTask(offer, { subjects, blobs, payloadBytesMax });
    expect(message.bytes.byteLength === 0).toBe(isBlob);
    const read = await readTask(deliveryOf({ ...message, askedAt }), { subjects, blobs });
    expect(read).toMatchObject({ kind: "task", run: "r1" });
    expect(read.kind === "task" && Buffer.compare(read.bytes, offer.bytes)).toBe(0);
  });

  test("that no message can carry is refused before it is sent, where there is nowhere else for it", async () => {
    const tooLarge = encodeTask(offerOf(payloadBytesMax), { subjects, blobs: undefined, payloadBytesMax });
    await expect(tooLarge).rejects.toMatchObject({ code: "TOO_LARGE" });
  });

  test("is a copy: what happens to the offer afterwards does not matter", async () => {
    const offer = offerOf(3);
    const { bytes } = await encodeTask(offer, { subjects, blobs: undefined, payloadBytesMax });
    offer.bytes.fill(0);
    expect([...bytes]).toEqual([7, 7, 7]);
  });
});

describe("what is found in the queue", () => {
  const said = (fields: Record<string, string>) => {
    const all = headers();
    for (const [key, value] of Object.entries(fields)) all.set(key, value);
    return all;
  };
  const version = { "Troupe-Version": String(protocolVersion) };
  test.for<{ what: string; changes: Partial<Parameters<typeof deliveryOf>[0]>; kind: string }>([
    { what: "without a header", changes: { headers: undefined }, kind: "foreign" },
    { what: "without a version", changes: { headers: said({ Other: "1" }) }, kind: "foreign" },
    {
      what: "of a version that is no number",
      changes: { headers: said({ "Troupe-Version": "one" }) },
      kind: "foreign",
    },
    { what: "on a subject with more to it", changes: { subject: "troupe.task.any.coder.r1.x" }, kind: "foreign" },
    { what: "of another namespace", changes: { subject: "other.task.any.coder.r1" }, kind: "foreign" },
    { what: "of a newer version", changes: { headers: said({ "Troupe-Version": "99" }) }, kind: "later" },
    {
      what: "whose blob is not there",
      changes: { headers: said({ ...version, "Troupe-Blob": "0".repeat(64) }) },
      kind: "later",
    },
    {
      what: "whose blob is no hash",
      changes: { headers: said({ ...version, "Troupe-Blob": "../../etc/passwd" }) },
      kind: "later",
    },
    { what: "of this version", changes: { headers: said(version) }, kind: "task" },
  ])("$what is $kind", async ({ changes, kind }) => {
    const delivery = deliveryOf({ askedAt, ...changes });
    expect((await readTask(delivery, { subjects, blobs: createMemoryBlobs() })).kind).toBe(kind);
  });

  test("whose blob cannot be read now is for later", async () => {
    const blobs = { ...createMemoryBlobs(), get: () => Promise.reject(new Error("out of reach")) };
    const delivery = deliveryOf({ askedAt, headers: said({ ...version, "Troupe-Blob": "0".repeat(64) }) });
    expect(await readTask(delivery, { subjects, blobs })).toMatchObject({ kind: "later" });
  });
});

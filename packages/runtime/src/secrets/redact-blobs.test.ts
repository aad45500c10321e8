/** Blobs are kept for good: no secret gets into one, in text or between bytes that are none. */
import { createRedactor } from "@troupe/core";
import { createMemoryBlobs } from "@troupe/core/memory";
import { expect, it } from "vitest";
import { redactBlobs } from "./redact-ports.ts";

const key = "schlüssel-0123456789";
const blobs = redactBlobs(createMemoryBlobs(), createRedactor({ values: [{ name: "KEY", value: key }] }));

async function kept(bytes: Uint8Array): Promise<Buffer> {
  return Buffer.from((await blobs.get(await blobs.put(bytes))) ?? []);
}

it("text has a mark where the secret was, and the hash of what is kept", async () => {
  expect((await kept(Buffer.from(`ä ${key} ö`))).toString()).toBe("ä [redacted: KEY] ö");
});

it("bytes that are no text keep all that is no secret", async () => {
  const noise = Buffer.from([0xff, 0x00, 0xfe, 0x80]);
  const ascii = redactBlobs(
    createMemoryBlobs(),
    createRedactor({ values: [{ name: "KEY", value: "key-0123456789" }] }),
  );
  const hash = await ascii.put(Buffer.concat([noise, Buffer.from("key-0123456789"), noise]));
  expect(Buffer.from((await ascii.get(hash)) ?? [])).toEqual(
    Buffer.concat([noise, Buffer.from("[redacted: KEY]"), noise]),
  );
});

it("what has none in it is kept byte for byte", async () => {
  for (const bytes of [Buffer.from("nothing to see"), Buffer.from([0xc3, 0x28, 0xff])])
    expect(await kept(bytes)).toEqual(bytes);
});

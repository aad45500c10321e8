/** Blobs are stored for good, so no secret may enter one, in text or in binary content. */
import { createRedactor } from "@troupe/core";
import { createMemoryBlobs } from "@troupe/core/memory";
import { expect, it } from "vitest";
import { redactBlobs } from "./redact-ports.ts";

const key = "schlüssel-0123456789";
const blobs = redactBlobs(createMemoryBlobs(), createRedactor({ values: [{ name: "KEY", value: key }] }));

async function stored(bytes: Uint8Array): Promise<Buffer> {
  return Buffer.from((await blobs.get(await blobs.put(bytes))) ?? []);
}

it("text gets a mask for the secret, and the hash of the stored bytes", async () => {
  expect((await stored(Buffer.from(`ä ${key} ö`))).toString()).toBe("ä [redacted: KEY] ö");
});

it("binary content keeps everything but the secret", async () => {
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

it("a blob without secrets is stored byte for byte", async () => {
  for (const bytes of [Buffer.from("nothing to see"), Buffer.from([0xc3, 0x28, 0xff])])
    expect(await stored(bytes)).toEqual(bytes);
});

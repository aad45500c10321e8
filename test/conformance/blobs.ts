import { createHash, randomBytes } from "node:crypto";
import type { Blobs } from "@troupe/core";
import { expect, test } from "vitest";

export interface BlobsHarness extends AsyncDisposable {
  blobs: Blobs;
}

/** The contract of the Blobs port, tested on each adapter. */
export function blobsConformance(create: () => Promise<BlobsHarness>): void {
  test.for([
    { what: "nothing", bytes: Buffer.alloc(0) },
    { what: "text", bytes: Buffer.from("hello") },
    { what: "every byte there is", bytes: Buffer.from(Array.from({ length: 256 }, (_, i) => i)) },
    { what: "a megabyte", bytes: randomBytes(1024 * 1024) },
  ])("$what is returned as it was put, under the hash of its bytes", async ({ bytes }) => {
    await using harness = await create();
    const hash = await harness.blobs.put(bytes);

    expect(hash).toBe(createHash("sha256").update(bytes).digest("hex"));
    expect(Buffer.from((await harness.blobs.get(hash)) ?? "nothing").equals(bytes)).toBe(true);
  });

  test("a blob that was never put is null, under any name", async () => {
    await using harness = await create();
    await harness.blobs.put(Buffer.from("hello"));
    for (const hash of ["0".repeat(64), "", "..", "../../etc/passwd", "A".repeat(64), "ab"]) {
      expect(await harness.blobs.get(hash)).toBeNull();
    }
  });

  test("putting the same bytes twice, also at once, stores them once", async () => {
    await using harness = await create();
    const bytes = Buffer.from("the same");
    const hashes = await Promise.all(Array.from({ length: 10 }, () => harness.blobs.put(bytes)));

    expect(new Set([...hashes, await harness.blobs.put(bytes)]).size).toBe(1);
    expect(Buffer.from((await harness.blobs.get(hashes[0] ?? "")) ?? "").toString()).toBe("the same");
  });

  test("later changes of the caller's bytes have no effect", async () => {
    await using harness = await create();
    const bytes = Buffer.from("before");
    const hash = await harness.blobs.put(bytes);
    bytes.fill(0);
    (await harness.blobs.get(hash))?.fill(0);

    expect(Buffer.from((await harness.blobs.get(hash)) ?? "").toString()).toBe("before");
  });
}

import { mkdtempDisposable, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createMemoryBlobs } from "@troupe/core/memory";
import { createFolderBlobs } from "@troupe/tools";
import { describe, expect, test } from "vitest";
import { findNatsServer, natsServerMissing } from "../harness/nats-server.ts";
import { useNats } from "../nats/ports.fixture.ts";
import { blobsConformance } from "./blobs.ts";

describe("blobs in memory", () => {
  blobsConformance(async () => ({ blobs: createMemoryBlobs(), [Symbol.asyncDispose]: async () => {} }));
});

async function createFolder() {
  const made = await mkdtempDisposable(join(tmpdir(), "troupe-blobs-"));
  const folder = join(made.path, "not", "there", "yet");
  return { folder, blobs: createFolderBlobs({ folder }), [Symbol.asyncDispose]: () => made.remove() };
}

describe("blobs in a folder", () => {
  blobsConformance(createFolder);

  test("survive the process, without other files", async () => {
    await using harness = await createFolder();
    const hash = await harness.blobs.put(Buffer.from("hello"));

    const next = createFolderBlobs({ folder: harness.folder });
    expect(Buffer.from((await next.get(hash)) ?? "").toString()).toBe("hello");
    expect(await readdir(harness.folder, { recursive: true })).toEqual([
      hash.slice(0, 2),
      join(hash.slice(0, 2), hash),
    ]);
  });

  test("that were changed on the disk are never served, and repaired by the next put", async () => {
    await using harness = await createFolder();
    const hash = await harness.blobs.put(Buffer.from("hello"));
    const path = join(harness.folder, hash.slice(0, 2), hash);
    await writeFile(path, "hellO");

    await expect(harness.blobs.get(hash)).rejects.toMatchObject({
      code: "DATABASE_DAMAGED",
      message: expect.stringContaining(path),
    });
    await harness.blobs.put(Buffer.from("hello"));
    expect(await readFile(path, "utf8")).toBe("hello");
  });
});

const hasServer = findNatsServer() !== null;

describe.skipIf(!hasServer)(hasServer ? "blobs over NATS" : natsServerMissing, () => {
  const nats = useNats();
  blobsConformance(async () => {
    const { blobs, dispose } = await nats().open();
    return { blobs, [Symbol.asyncDispose]: dispose };
  });
});

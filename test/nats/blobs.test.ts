import { createHash, randomBytes } from "node:crypto";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { describe, expect, it, onTestFinished } from "vitest";
import { findNatsServer, natsServerMissing } from "../harness/nats-server.ts";
import { type PortsUnderTest, type SharedNats, useNats } from "./ports.fixture.ts";

// Cases that only a server has: several processes that put the same blob, lost chunks, lost stores.

const hasServer = findNatsServer() !== null;

describe.skipIf(!hasServer)(hasServer ? "blobs over NATS" : natsServerMissing, () => {
  const nats = useNats();
  const open = async (...options: Parameters<SharedNats["open"]>): Promise<PortsUnderTest> => {
    const ports = await nats().open(...options);
    onTestFinished(() => ports.dispose());
    return ports;
  };
  const stored = async ({ link, namespace }: PortsUnderTest): Promise<{ messages: number; subjects: string[] }> => {
    const manager = await jetstreamManager(link.connection);
    const { state } = await manager.streams.info(`OBJ_${namespace}_blobs`, { subjects_filter: ">" });
    return { messages: state.messages, subjects: Object.keys(state.subjects ?? {}) };
  };

  it("of many megabytes come back as they were, to every process", async () => {
    const ports = await open();
    const other = await open({ namespace: ports.namespace });
    const bytes = randomBytes(20 * 1024 * 1024 + 13);
    const hash = await ports.blobs.put(bytes);
    expect(hash).toBe(createHash("sha256").update(bytes).digest("hex"));
    expect(Buffer.from((await other.blobs.get(hash)) ?? "").equals(bytes)).toBe(true);
  });

  it("that several processes put at once are stored once, and the other copies are purged", async () => {
    const ports = await open();
    const others = await Promise.all(Array.from({ length: 4 }, () => open({ namespace: ports.namespace })));
    const bytes = randomBytes(700_000);
    const hashes = await Promise.all(others.flatMap(({ blobs }) => [blobs.put(bytes), blobs.put(bytes)]));
    expect(new Set(hashes).size).toBe(1);
    const { messages, subjects } = await stored(ports);
    expect({ messages, subjects: subjects.length }).toEqual({ messages: 4, subjects: 2 });
    expect(Buffer.from((await ports.blobs.get(hashes[0] ?? "")) ?? "").equals(bytes)).toBe(true);
  });

  it("with a lost chunk are never served", async () => {
    const ports = await open();
    const hash = await ports.blobs.put(randomBytes(600_000));
    const manager = await jetstreamManager(ports.link.connection);
    await manager.streams.deleteMessage(`OBJ_${ports.namespace}_blobs`, 2);
    await expect(ports.blobs.get(hash)).rejects.toMatchObject({ code: "DATABASE_DAMAGED" });
  });

  it("that were deleted by an operator are absent, and can be put again", async () => {
    const ports = await open();
    const bytes = Buffer.from("hello");
    const hash = await ports.blobs.put(bytes);
    const about = `$O.${ports.namespace}_blobs.M.${Buffer.from(hash).toString("base64url")}`;
    const removed = { name: hash, nuid: "x", size: 0, chunks: 0, deleted: true };
    await jetstream(ports.link.connection).publish(about, JSON.stringify(removed));
    expect(await ports.blobs.get(hash)).toBeNull();
    expect(await ports.blobs.put(bytes)).toBe(hash);
    expect(Buffer.from((await ports.blobs.get(hash)) ?? "").toString()).toBe("hello");
  });

  it("report a lost store and a lost server", async () => {
    const ports = await open();
    const hash = await ports.blobs.put(Buffer.from("hello"));
    const manager = await jetstreamManager(ports.link.connection);
    await manager.streams.delete(`OBJ_${ports.namespace}_blobs`);
    await expect(ports.blobs.get(hash)).rejects.toMatchObject({ code: "JOURNAL_LOST" });
    await expect(ports.blobs.put(Buffer.from("other"))).rejects.toMatchObject({ code: "JOURNAL_LOST" });
    await ports.link.close();
    await expect(ports.blobs.get(hash)).rejects.toMatchObject({ code: "CLOSED" });
  });
});

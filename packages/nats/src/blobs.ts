import { createHash, randomUUID } from "node:crypto";
import { headers } from "@nats-io/transport-node";
import { type Blobs, type Clock, TroupeError } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { z } from "zod";
import type { NatsLink } from "./connection/link.ts";
import { createRequester, type Requester } from "./connection/requester.ts";
import { createJetStreamApi } from "./jetstream/api.ts";
import { envelopeBytesMax } from "./jetstream/envelope.ts";
import { createPublisher, expectedSequenceHeader, type Publisher, type PublishResult } from "./jetstream/publisher.ts";
import { createStoredMessages, type StoredMessage } from "./jetstream/stored-messages.ts";
import { natsNames } from "./streams/names.ts";

export interface NatsBlobsOptions {
  link: NatsLink;
  /** @default "troupe" */
  namespace?: string;
  /** @default the system clock */
  clock?: Clock;
}

const chunkBytesMax = 256 * 1024;
/** Waits between the attempts to read the object of another process that was first. */
const winnerDelaysMs = [10, 30, 100, 300, 1_000, 3_000];
/** Chunks that are published at the same time. */
const concurrentChunks = 8;

/** Metadata of an object, in the format of the client library, so that `nats object get` finds the object. */
const ObjectInfo = z.object({
  name: z.string(),
  nuid: z.string(),
  size: z.int(),
  chunks: z.int(),
  deleted: z.boolean().default(false),
});
type ObjectInfo = z.infer<typeof ObjectInfo>;

/**
 * Blobs in the JetStream object store that `ensureStreams` creates. Each blob is an object named after its hash. If
 * several processes put the same blob at the same time, one object stays and the other processes purge their chunks.
 *
 * @example
 * const blobs = createNatsBlobs({ link });
 * const hash = await blobs.put(new TextEncoder().encode("hello"));
 * await blobs.get(hash); // the same bytes
 */
export function createNatsBlobs({ link, namespace, clock = systemClock() }: NatsBlobsOptions): Blobs {
  return createBlobsOver(createRequester({ link, clock }), { link, namespace, clock });
}

/** The same over an existing requester. */
export function createBlobsOver(
  requester: Requester,
  { link, namespace, clock }: { link: NatsLink; namespace: string | undefined; clock: Clock },
): Blobs {
  const { blobs: bucket, blobStream: stream } = natsNames(namespace);
  const stored = createStoredMessages({ requester, stream });
  const api = createJetStreamApi(requester);
  const publisher = createPublisher({ requester });
  const infoSubject = (hash: string): string => `$O.${bucket}.M.${Buffer.from(hash).toString("base64url")}`;
  const chunkSubject = (nuid: string): string => `$O.${bucket}.C.${nuid}`;

  const find = async (hash: string): Promise<{ info: ObjectInfo | null; sequence: number }> => {
    const last = await stored.lastOf(infoSubject(hash));
    return { info: last && parseInfo(last), sequence: last?.sequence ?? 0 };
  };

  const store = async (hash: string, bytes: Uint8Array, expectedSequence: number): Promise<void> => {
    const info = { name: hash, bucket, nuid: randomUUID().replaceAll("-", ""), size: bytes.byteLength };
    const chunks = split(bytes, Math.min(chunkBytesMax, link.payloadBytesMax - envelopeBytesMax));
    try {
      await publishChunks(publisher, chunkSubject(info.nuid), chunks);
      const isOurs = await publishInfo(hash, { ...info, chunks: chunks.length }, expectedSequence);
      // A user without the right to purge leaves unused chunks behind.
      if (!isOurs) await purgeChunks(info.nuid).catch(ignoreForbidden);
    } catch (error) {
      // The metadata may be stored in spite of the error. Unused chunks do less harm than an object without its chunks.
      if ((await find(hash).catch(() => null))?.info?.nuid === info.nuid) return;
      throw error;
    }
  };
  /** True if our object is the valid one, false if another process was first. */
  const publishInfo = async (
    hash: string,
    info: Omit<ObjectInfo, "deleted">,
    expectedSequence: number,
  ): Promise<boolean> => {
    const digest = `SHA-256=${Buffer.from(hash, "hex").toString("base64url").padEnd(44, "=")}`;
    const fields = headers();
    fields.set(expectedSequenceHeader, String(expectedSequence));
    fields.set("Nats-Rollup", "sub");
    const text = JSON.stringify({ ...info, mtime: new Date().toISOString(), digest, deleted: false });
    const result = await publisher.publish({ subject: infoSubject(hash), bytes: Buffer.from(text), headers: fields });
    if (result.kind === "stored") return true;
    const now = await findWinner(hash, result);
    if (now) return now.nuid === info.nuid;
    throw toError(result);
  };
  /** In a cluster the leader refuses the second put before the first one can be read. */
  const findWinner = async (hash: string, { kind }: PublishResult): Promise<ObjectInfo | null> => {
    for (const delayMs of kind === "conflict" ? winnerDelaysMs : []) {
      const { info } = await find(hash);
      if (info) return info;
      await new Promise<void>((resolve) => clock.after(delayMs, resolve));
    }
    return (await find(hash)).info;
  };
  const purgeChunks = async (nuid: string): Promise<void> => {
    await api.call(`STREAM.PURGE.${stream}`, z.unknown(), { request: { filter: chunkSubject(nuid) } });
  };

  return {
    async put(bytes) {
      const copy = bytes.slice();
      const hash = sha256([copy]);
      const { info, sequence } = await find(hash).catch(throwNoLeader(stream));
      if (!info) await store(hash, copy, sequence).catch(throwNoLeader(stream));
      return hash;
    },
    async get(hash) {
      if (!/^[0-9a-f]{64}$/.test(hash)) return null;
      const { info } = await find(hash).catch(throwNoLeader(stream));
      if (!info) return null;
      const chunks = (await stored.allOf(chunkSubject(info.nuid))).map((chunk) => chunk.bytes);
      if (sha256(chunks) !== hash) throw damaged(hash, bucket);
      return new Uint8Array(Buffer.concat(chunks));
    },
  };
}

/** Publishes a few chunks at a time, so that a failed put leaves few chunks behind. */
async function publishChunks(publisher: Publisher, subject: string, chunks: Uint8Array[]): Promise<void> {
  for (let first = 0; first < chunks.length; first += concurrentChunks) {
    const batch = chunks.slice(first, first + concurrentChunks).map((bytes) => publisher.publish({ subject, bytes }));
    for (const result of await Promise.all(batch)) {
      if (result.kind !== "stored") throw toError(result);
    }
  }
}

function toError(result: Exclude<PublishResult, { kind: "stored" }>): TroupeError {
  if (result.kind === "refused") return result.error;
  return result.kind === "unknown" ? result.cause : new TroupeError("CONFLICT", "a blob was put at the same time");
}

/** Null for a deleted object and for invalid metadata: the blob is then put again. */
function parseInfo({ bytes }: StoredMessage): ObjectInfo | null {
  try {
    const info = ObjectInfo.parse(JSON.parse(Buffer.from(bytes).toString("utf8")));
    return info.deleted ? null : info;
  } catch {
    return null;
  }
}

function split(bytes: Uint8Array, size: number): Uint8Array[] {
  const count = Math.ceil(bytes.byteLength / size);
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
}

function sha256(parts: readonly Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

function ignoreForbidden(error: unknown): void {
  if (!TroupeError.is(error) || error.code !== "FORBIDDEN") throw error;
}

/** The server names a missing stream. "No responders" means that the stream has no leader at the moment. */
function throwNoLeader(stream: string): (error: unknown) => never {
  return (error) => {
    if (!TroupeError.is(error) || error.code !== "NO_RESPONDERS") throw error;
    throw new TroupeError("UNREACHABLE", `the stream ${stream} has no leader at the moment`, { cause: error });
  };
}

function damaged(hash: string, bucket: string): TroupeError {
  return new TroupeError("DATABASE_DAMAGED", `the blob ${hash} in the bucket ${bucket} does not match its hash`, {
    fix: `remove it (nats object rm ${bucket} ${hash}), and put it again from a copy`,
  });
}

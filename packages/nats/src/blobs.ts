import { createHash, randomUUID } from "node:crypto";
import { headers } from "@nats-io/transport-node";
import { type Blobs, type Clock, TroupeError } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { z } from "zod";
import type { NatsLink } from "./connection/link.ts";
import { createRequester, type Requester } from "./connection/requester.ts";
import { createJetStreamApi } from "./jetstream/api.ts";
import { createPublisher, expectedHeader, type Published, type Publisher } from "./jetstream/publisher.ts";
import { createStoredMessages, type Stored } from "./jetstream/stored-messages.ts";
import { natsNames } from "./streams/names.ts";

export interface NatsBlobsOptions {
  link: NatsLink;
  /** @default "troupe" */
  namespace?: string;
  /** @default the machine's own */
  clock?: Clock;
}

const chunkBytesMax = 256 * 1024;
/** What the subject and the headers take of the largest message. */
const envelopeBytesMax = 1024;
/** Chunks on their way at the same time. */
const chunksAtOnce = 8;

/** What an object store says of an object: as its other clients write it, so that `nats object get` finds it. */
const About = z.object({
  name: z.string(),
  nuid: z.string(),
  size: z.int(),
  chunks: z.int(),
  deleted: z.boolean().default(false),
});
type About = z.infer<typeof About>;

/**
 * Blobs in the JetStream object store that `ensureStreams` makes, each an object under the name of its hash. Of several
 * who put the same at once one does, and the others clear away what they brought.
 *
 * @example
 * const blobs = createNatsBlobs({ link });
 * const hash = await blobs.put(new TextEncoder().encode("hello"));
 * await blobs.get(hash); // the same bytes
 */
export function createNatsBlobs({ link, namespace, clock = systemClock() }: NatsBlobsOptions): Blobs {
  return createBlobsOver(createRequester({ link, clock }), { link, namespace });
}

/** The same over requests that others make as well. */
export function createBlobsOver(
  asks: Requester,
  { link, namespace }: { link: NatsLink; namespace: string | undefined },
): Blobs {
  const { blobs: bucket, blobStream: stream } = natsNames(namespace);
  const stored = createStoredMessages({ asks, stream });
  const api = createJetStreamApi(asks);
  const publisher = createPublisher({ asks });
  const aboutSubject = (hash: string): string => `$O.${bucket}.M.${Buffer.from(hash).toString("base64url")}`;
  const chunkSubject = (nuid: string): string => `$O.${bucket}.C.${nuid}`;

  const find = async (hash: string): Promise<{ about: About | null; sequence: number }> => {
    const last = await stored.lastOf(aboutSubject(hash));
    return { about: last && aboutIn(last), sequence: last?.sequence ?? 0 };
  };

  const store = async (hash: string, bytes: Uint8Array, after: number): Promise<void> => {
    const about = { name: hash, bucket, nuid: randomUUID().replaceAll("-", ""), size: bytes.byteLength };
    const chunks = cut(bytes, Math.min(chunkBytesMax, link.payloadBytesMax - envelopeBytesMax));
    try {
      await publishAll(publisher, chunkSubject(about.nuid), chunks);
      const isFirst = await announce(hash, { ...about, chunks: chunks.length }, after);
      // Whoever may not clear away leaves chunks that nobody knows of.
      if (!isFirst) await clear(about.nuid).catch(unlessForbidden);
    } catch (error) {
      // It may be announced all the same: chunks that nobody knows of are a lesser evil than an object without them.
      if ((await find(hash).catch(() => null))?.about?.nuid === about.nuid) return;
      throw error;
    }
  };
  /** Whether it is ours that counts. */
  const announce = async (hash: string, about: Omit<About, "deleted">, after: number): Promise<boolean> => {
    const digest = `SHA-256=${Buffer.from(hash, "hex").toString("base64url").padEnd(44, "=")}`;
    const said = headers();
    said.set(expectedHeader, String(after));
    said.set("Nats-Rollup", "sub");
    const text = JSON.stringify({ ...about, mtime: new Date().toISOString(), digest, deleted: false });
    const result = await publisher.publish({ subject: aboutSubject(hash), bytes: Buffer.from(text), headers: said });
    if (result.kind === "stored") return true;
    const now = await find(hash);
    if (now.about) return now.about.nuid === about.nuid;
    throw errorIn(result);
  };
  const clear = async (nuid: string): Promise<void> => {
    await api.call(`STREAM.PURGE.${stream}`, z.unknown(), { request: { filter: chunkSubject(nuid) } });
  };

  return {
    async put(bytes) {
      const own = bytes.slice();
      const hash = sha256([own]);
      const { about, sequence } = await find(hash).catch(asAway(stream));
      if (!about) await store(hash, own, sequence).catch(asAway(stream));
      return hash;
    },
    async get(hash) {
      if (!/^[0-9a-f]{64}$/.test(hash)) return null;
      const { about } = await find(hash).catch(asAway(stream));
      if (!about) return null;
      const chunks = (await stored.allOf(chunkSubject(about.nuid))).map((chunk) => chunk.bytes);
      if (sha256(chunks) !== hash) throw damaged(hash, bucket);
      return new Uint8Array(Buffer.concat(chunks));
    },
  };
}

/** One batch after the other: a put that fails leaves little behind. */
async function publishAll(publisher: Publisher, subject: string, chunks: Uint8Array[]): Promise<void> {
  for (let first = 0; first < chunks.length; first += chunksAtOnce) {
    const some = chunks.slice(first, first + chunksAtOnce).map((bytes) => publisher.publish({ subject, bytes }));
    for (const result of await Promise.all(some)) {
      if (result.kind !== "stored") throw errorIn(result);
    }
  }
}

function errorIn(result: Exclude<Published, { kind: "stored" }>): TroupeError {
  if (result.kind === "refused") return result.error;
  return result.kind === "unknown" ? result.cause : new TroupeError("CONFLICT", "a blob was put at the same time");
}

/** Null for an object that was removed, or that makes no sense: it is put again. */
function aboutIn({ bytes }: Stored): About | null {
  try {
    const about = About.parse(JSON.parse(Buffer.from(bytes).toString("utf8")));
    return about.deleted ? null : about;
  } catch {
    return null;
  }
}

function cut(bytes: Uint8Array, size: number): Uint8Array[] {
  const count = Math.ceil(bytes.byteLength / size);
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * size, (i + 1) * size));
}

function sha256(parts: readonly Uint8Array[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

function unlessForbidden(error: unknown): void {
  if (!TroupeError.is(error) || error.code !== "FORBIDDEN") throw error;
}

/** A stream that is not there says so itself: where nobody hears of a message it has no leader for now. */
function asAway(stream: string): (error: unknown) => never {
  return (error) => {
    if (!TroupeError.is(error) || error.code !== "NO_RESPONDERS") throw error;
    throw new TroupeError("UNREACHABLE", `nobody leads the stream ${stream} at the moment`, { cause: error });
  };
}

function damaged(hash: string, bucket: string): TroupeError {
  return new TroupeError("DATABASE_DAMAGED", `the blob ${hash} in the bucket ${bucket} does not fit its hash`, {
    fix: `remove it (nats object rm ${bucket} ${hash}); whoever has it may put it again`,
  });
}

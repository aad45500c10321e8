import { headers, type MsgHdrs } from "@nats-io/transport-node";
import type { Blobs, TaskOffer } from "@troupe/core";
import { inlineBytesMax, protocolVersion, type Subjects, tooLarge } from "@troupe/core/internal";
import type { Delivery } from "./pulls.ts";

/** Which version of the protocol a task is in. What lacks it was not offered by troupe. */
const versionHeader = "Troupe-Version";
/** Hash of the bytes, where they are too large for a message. */
const blobHeader = "Troupe-Blob";
/** What the subject and the headers take of the largest message. */
const envelopeBytesMax = 1024;

export interface TaskMessage {
  subject: string;
  headers: MsgHdrs;
  bytes: Uint8Array;
}

/** Throws `TOO_LARGE` for what no message and no blob can carry. */
export async function encodeTask(
  { run, agent, locality: place, bytes }: TaskOffer,
  { subjects, blobs, payloadBytesMax }: { subjects: Subjects; blobs: Blobs | undefined; payloadBytesMax: number },
): Promise<TaskMessage> {
  const subject = subjects.task(place, agent, run);
  const said = headers();
  said.set(versionHeader, String(protocolVersion));
  const room = payloadBytesMax - envelopeBytesMax;
  if (bytes.byteLength <= Math.min(inlineBytesMax, room)) return { subject, headers: said, bytes: bytes.slice() };
  if (blobs) {
    said.set(blobHeader, await blobs.put(bytes.slice()));
    return { subject, headers: said, bytes: new Uint8Array() };
  }
  if (bytes.byteLength > room) throw tooLarge(bytes.byteLength, room);
  return { subject, headers: said, bytes: bytes.slice() };
}

/** What a delivery is: a task; somebody else's message; or one that may make sense later, or to others. */
export type ReadTask =
  | { kind: "task"; run: string; bytes: Uint8Array }
  | { kind: "foreign"; why: string }
  | { kind: "later"; why: string };

/** Never throws. */
export async function readTask(
  delivery: Delivery,
  { subjects, blobs }: { subjects: Subjects; blobs: Blobs | undefined },
): Promise<ReadTask> {
  const parsed = subjects.parse(delivery.subject);
  if (parsed?.kind !== "task") return { kind: "foreign", why: "its subject is no task's" };
  const version = Number(delivery.headers?.get(versionHeader) || Number.NaN);
  if (!Number.isInteger(version)) return { kind: "foreign", why: "it was not offered by troupe" };
  if (version > protocolVersion) return { kind: "later", why: "it is of a newer version of the protocol" };
  const hash = delivery.headers?.get(blobHeader);
  if (!hash) return { kind: "task", run: parsed.run, bytes: delivery.bytes };
  try {
    const bytes = await blobs?.get(hash);
    return bytes ? { kind: "task", run: parsed.run, bytes } : { kind: "later", why: "its blob is not there" };
  } catch (error) {
    return { kind: "later", why: `its blob cannot be read: ${error instanceof Error ? error.name : error}` };
  }
}

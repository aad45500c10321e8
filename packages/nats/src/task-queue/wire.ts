import { headers, type MsgHdrs } from "@nats-io/transport-node";
import type { Blobs, TaskOffer } from "@troupe/core";
import { inlineBytesMax, protocolVersion, type Subjects, tooLarge } from "@troupe/core/internal";
import { blobHeader, envelopeBytesMax, versionHeader } from "../jetstream/envelope.ts";
import type { Delivery } from "./pulls.ts";

export interface TaskMessage {
  subject: string;
  headers: MsgHdrs;
  bytes: Uint8Array;
}

/** Throws `TOO_LARGE` for a body that fits neither into a message nor, without blobs, anywhere else. */
export async function encodeTask(
  { run, agent, locality, bytes }: TaskOffer,
  { subjects, blobs, payloadBytesMax }: { subjects: Subjects; blobs: Blobs | undefined; payloadBytesMax: number },
): Promise<TaskMessage> {
  const subject = subjects.task(locality, agent, run);
  const fields = headers();
  fields.set(versionHeader, String(protocolVersion));
  const bodyBytesMax = payloadBytesMax - envelopeBytesMax;
  if (bytes.byteLength <= Math.min(inlineBytesMax, bodyBytesMax)) {
    return { subject, headers: fields, bytes: bytes.slice() };
  }
  if (blobs) {
    fields.set(blobHeader, await blobs.put(bytes.slice()));
    return { subject, headers: fields, bytes: new Uint8Array() };
  }
  if (bytes.byteLength > bodyBytesMax) throw tooLarge(bytes.byteLength, bodyBytesMax);
  return { subject, headers: fields, bytes: bytes.slice() };
}

/** A decoded delivery. `later`: another process, or this one at another time, may be able to read it. */
export type DecodedTask =
  | { kind: "task"; run: string; bytes: Uint8Array }
  | { kind: "foreign"; reason: string }
  | { kind: "later"; reason: string };

/** Never rejects. */
export async function decodeTask(
  delivery: Delivery,
  { subjects, blobs }: { subjects: Subjects; blobs: Blobs | undefined },
): Promise<DecodedTask> {
  const parsed = subjects.parse(delivery.subject);
  if (parsed?.kind !== "task") return { kind: "foreign", reason: "its subject is not the subject of a task" };
  const version = Number(delivery.headers?.get(versionHeader) || Number.NaN);
  if (!Number.isInteger(version)) return { kind: "foreign", reason: "it was not offered by troupe" };
  if (version > protocolVersion) return { kind: "later", reason: "it has a newer version of the protocol" };
  const hash = delivery.headers?.get(blobHeader);
  if (!hash) return { kind: "task", run: parsed.run, bytes: delivery.bytes };
  try {
    const bytes = await blobs?.get(hash);
    return bytes ? { kind: "task", run: parsed.run, bytes } : { kind: "later", reason: "its blob is missing" };
  } catch (error) {
    return { kind: "later", reason: `its blob cannot be read: ${error instanceof Error ? error.name : error}` };
  }
}

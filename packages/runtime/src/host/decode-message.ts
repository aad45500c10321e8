import { type BusMessage, TroupeError } from "@troupe/core";
import type { InvalidMessageKind } from "@troupe/core/internal";
import { decode, protocolVersion } from "@troupe/core/internal";
import { z } from "zod";
import type { HostDeps } from "./host-deps.ts";

type DecodePorts = Pick<HostDeps, "logger"> & Partial<Pick<HostDeps, "bus" | "invalidMessages">>;

/**
 * Decodes a bus message, or returns null for an invalid one. Invalid messages are counted, and the first of each kind is
 * logged. Any client in the namespace can publish any bytes, so an invalid message must never throw.
 */
export function decodeMessage<S extends z.ZodType>(
  schema: S,
  message: BusMessage,
  ports: DecodePorts,
): z.output<S> | null {
  const { subject, bytes } = message;
  if (ports.bus && bytes.byteLength > ports.bus.payloadBytesMax) return reject("oversized", message, ports);
  try {
    return decode(schema, bytes, `message on ${subject}`);
  } catch (error) {
    if (!TroupeError.is(error)) throw error;
    return reject(kindOf(bytes), message, ports, error);
  }
}

function reject(
  kind: InvalidMessageKind,
  { subject, bytes }: BusMessage,
  { logger, invalidMessages }: DecodePorts,
  err?: Error,
): null {
  const isFirst = invalidMessages?.note(kind, subject) ?? true;
  if (isFirst) logger.warn({ subject, kind, bytes: bytes.byteLength, err }, "message refused");
  return null;
}

function kindOf(bytes: Uint8Array): InvalidMessageKind {
  const value = parseJson(bytes);
  if (value === undefined) return "malformed";
  return hasNewerVersion(value) ? "newer" : "foreign";
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

const NewerVersion = z.object({ v: z.int().gt(protocolVersion) });

function hasNewerVersion(value: unknown): boolean {
  return NewerVersion.safeParse(value).success;
}

/** Whether a process with a newer protocol version wrote these bytes. */
export function isNewerVersion(bytes: Uint8Array): boolean {
  return hasNewerVersion(parseJson(bytes));
}

import { type BusMessage, TroupeError } from "@troupe/core";
import type { InvalidMessageKind } from "@troupe/core/internal";
import { decode, protocolVersion } from "@troupe/core/internal";
import { z } from "zod";
import type { HostDeps } from "./host-deps.ts";

type Ports = Pick<HostDeps, "logger"> & Partial<Pick<HostDeps, "bus" | "invalidMessages">>;

/**
 * What a message of the bus says; null for one that does not fit, which is counted, and logged where it is the first of
 * its sort. Anybody in the namespace can publish anything: nothing that is sent may hurt whoever hears it.
 */
export function decodeMessage<S extends z.ZodType>(schema: S, message: BusMessage, ports: Ports): z.output<S> | null {
  const { subject, bytes } = message;
  if (ports.bus && bytes.byteLength > ports.bus.payloadBytesMax) return refuse("oversized", message, ports);
  try {
    return decode(schema, bytes, `message on ${subject}`);
  } catch (error) {
    if (!TroupeError.is(error)) throw error;
    return refuse(kindOf(bytes), message, ports, error);
  }
}

function refuse(
  kind: InvalidMessageKind,
  { subject, bytes }: BusMessage,
  { logger, invalidMessages }: Ports,
  err?: Error,
): null {
  const isFirst = invalidMessages?.note(kind, subject) ?? true;
  if (isFirst) logger.warn({ subject, kind, bytes: bytes.byteLength, err }, "message refused");
  return null;
}

/** Why something that is not what it should be is not. */
function kindOf(bytes: Uint8Array): InvalidMessageKind {
  const value = jsonIn(bytes);
  if (value === undefined) return "malformed";
  return isNewer(value) ? "newer" : "foreign";
}

function jsonIn(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

const Versioned = z.object({ v: z.int().gt(protocolVersion) });

function isNewer(value: unknown): boolean {
  return Versioned.safeParse(value).success;
}

/** Whether somebody wrote this who speaks a newer version than this process does. */
export function isOfNewerVersion(bytes: Uint8Array): boolean {
  return isNewer(jsonIn(bytes));
}

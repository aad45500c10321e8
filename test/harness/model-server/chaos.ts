import { createHash } from "node:crypto";
import type { Fault } from "@troupe/models";

/** Requests that are refused by chance, the same ones in every run. */
export interface Chaos {
  /** Of all requests. */
  share: number;
  /** One of these, each as likely. */
  statuses: readonly number[];
  seed: number;
  retryAfterMs?: number;
}

/** A random fault for one try at one step. It depends on the request and not on the time, so order changes nothing. */
export function chanceFault(
  { share, statuses, seed, retryAfterMs }: Chaos,
  asked: string,
  tries: number,
): Fault | null {
  const digest = createHash("sha256").update(`${seed}\0${tries}\0${asked}`).digest();
  if (digest.readUInt32BE(0) / 2 ** 32 >= share) return null;
  const status = statuses[digest.readUInt32BE(4) % statuses.length];
  if (status === undefined) return null;
  return retryAfterMs === undefined ? { status } : { status, retryAfterMs };
}

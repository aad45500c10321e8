import type { RunFailure } from "@troupe/core";
import { failureOf, type VendorFailure } from "../wire/failure.ts";
import type { Fault } from "./fault.ts";

/** How a request that goes wrong is played: so much of its answer comes through, and then this. Null: silence. */
export interface SpoiledAnswer {
  pieces: number;
  failure: RunFailure | null;
}

/** What a real adapter would make of a fault; null for one that only delays. */
export function spoiledBy(fault: Fault): SpoiledAnswer | null {
  const { status, stall, cut, halfOpen, streamError, notWhatItSays } = fault;
  if (status !== undefined) {
    const { code = null, message = "the script refuses this request", retryAfterMs = null } = fault;
    return { pieces: 0, failure: failure({ status, code, message, retryAfterMs, begun: false }) };
  }
  const silent = stall ?? halfOpen;
  if (silent) return { pieces: silent.afterPieces, failure: null };
  if (cut) {
    const message = "the connection was lost before the answer had ended";
    return { pieces: cut.afterPieces, failure: failure({ message, begun: true }) };
  }
  if (streamError) {
    const { afterPieces, type: code = null, message = "the script breaks this answer off" } = streamError;
    return { pieces: afterPieces, failure: failure({ status: streamError.status, code, message, begun: true }) };
  }
  if (notWhatItSays) {
    const message = `the answer is no model's, but ${notWhatItSays}`;
    return { pieces: 0, failure: failure({ status: 200, message, begun: true }) };
  }
  return null;
}

function failure(said: Pick<VendorFailure, "message" | "begun"> & Partial<VendorFailure>): RunFailure {
  return failureOf({ provider: "scripted", status: null, code: null, retryAfterMs: null, keyFix: null, ...said });
}

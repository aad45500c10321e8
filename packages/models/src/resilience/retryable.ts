import type { RunError } from "@troupe/core";
import { wasNotCharged } from "@troupe/core/internal";

/** A failure that may be over by the next try. */
export function mayPass({ type, recoverable }: RunError): boolean {
  return recoverable && (type === "rate_limit" || type === "network" || type === "timeout");
}

/** A request that was surely not worked on, and may be by the next try: asking again costs nothing. */
export function isRetryable(error: RunError): boolean {
  return mayPass(error) && wasNotCharged(error);
}

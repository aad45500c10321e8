import type { RunRequest } from "@troupe/core";
import { encode } from "@troupe/core/internal";
import type { HostDeps } from "./host-deps.ts";

/**
 * Hands a run to the queue: everything that wants a run to go on somewhere comes through here. Offering what is queued
 * or held already changes nothing.
 *
 * @example
 * await offerRun(world, request); // "offered"
 */
export function offerRun(
  { queue }: Pick<HostDeps, "queue">,
  request: RunRequest,
  bytes = encode(request),
): Promise<"offered" | "duplicate"> {
  const { run, agent } = request;
  return queue.offer({ run, agent, locality: placeOf(request), bytes });
}

/** Where a run may go: to whoever has the disk that its files are on, or anywhere. */
export function placeOf({ workspace: { place, mode } }: Pick<RunRequest, "workspace">): string {
  return mode !== "isolated" && place !== undefined ? place : "any";
}

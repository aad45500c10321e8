import type { RunRequest } from "@troupe/core";
import { encode } from "@troupe/core/internal";
import type { HostDeps } from "./host-deps.ts";

/**
 * Puts a run into the task queue. Every start and every resumption of a run goes through this function. Offering a run
 * that is queued or held changes nothing.
 *
 * @example
 * await offerRun(deps, request); // "offered"
 */
export function offerRun(
  { queue }: Pick<HostDeps, "queue">,
  request: RunRequest,
  bytes = encode(request),
): Promise<"offered" | "duplicate"> {
  const { run, agent } = request;
  return queue.offer({ run, agent, locality: localityOf(request), bytes });
}

/** The locality whose hosts may take the run: the disk with its files, or `any`. */
export function localityOf({ workspace: { place, mode } }: Pick<RunRequest, "workspace">): string {
  return mode !== "isolated" && place !== undefined ? place : "any";
}

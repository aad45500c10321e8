import { type RunRequest, TroupeError } from "@troupe/core";
import type { HostDeps } from "./host-deps.ts";
import { offerRun } from "./offer-run.ts";
import { hasNewCommand } from "./run/park.ts";

/** A look that fails (a disk that cannot be read) is taken again after this long. */
const lookAgainMs = 1_000;

/**
 * The look that a run takes after it has parked: who said something while it was on its way out found it neither
 * parked nor, any more, alive. Without this look such a wish would lie there until somebody says something else.
 *
 * @param afterSeq the newest wish that its journal has
 */
export async function offerIfCommandPending(deps: HostDeps, request: RunRequest, afterSeq: number): Promise<void> {
  const { journal, logger, clock } = deps;
  const { session, run } = request;
  try {
    if (!(await hasNewCommand(journal, request, afterSeq))) return;
    await offerRun(deps, request);
  } catch (error) {
    if (TroupeError.is(error) && error.code === "CLOSED") return;
    logger.error({ session, run, err: error }, "inbox could not be read after parking; trying again");
    clock.after(lookAgainMs, () => void offerIfCommandPending(deps, request, afterSeq));
  }
}

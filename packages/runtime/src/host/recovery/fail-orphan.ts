import { type EntryBody, type RunRequest, type RunResponse, replayAgent } from "@troupe/core";
import {
  type AgentContext,
  composeResponse,
  failedOutcome,
  openContext,
  openEntry,
  permanentError,
  projectOf,
} from "@troupe/core/internal";
import { announceSettled } from "../announce.ts";
import { write } from "../claim/claim.ts";
import { openingOf } from "../claim/open-run.ts";
import type { HostDeps } from "../host-deps.ts";
import { placeOf } from "../offer-run.ts";

/**
 * Ends a run in its host's stead, because nobody lives any more where its files are. By compare-and-set, so that whoever
 * has it after all keeps it; who had it once finds out that it is over.
 *
 * @returns its response; null where somebody has written there meanwhile
 */
export async function failOrphan(deps: HostDeps, request: RunRequest): Promise<RunResponse | null> {
  const { session, run } = request;
  const known = (await deps.journal.readRun(session, run)).map(openEntry);
  const last = known.at(-1);
  if (last?.kind === "run.settled") return last.response;
  const message = `no host is left at the place ${placeOf(request)}, where its files are`;
  const verdict = failedOutcome({ ...permanentError("workspace_lost", message), recoverable: true });
  const bodies = last
    ? endOf(composeResponse(replayAgent(known), verdict))
    : await unbegun(deps, request, (context) => composeResponse(context, verdict));
  const written = await write(deps, request, known, bodies, (last?.epoch ?? 0) + 1);
  const newest = written?.at(-1);
  if (newest?.kind !== "run.settled") return null;
  deps.logger.warn({ session, run, message }, "run given up");
  announceSettled(deps, newest.response);
  return newest.response;
}

function endOf(response: RunResponse): EntryBody[] {
  return [
    { kind: "run.claimed", reason: "taken_over" },
    { kind: "run.settled", response },
  ];
}

/** The whole life of a run that nobody has begun. */
async function unbegun(
  deps: HostDeps,
  request: RunRequest,
  respond: (context: AgentContext) => RunResponse,
): Promise<EntryBody[]> {
  const bodies = await openingOf(deps, request, await deps.agentSource.load(projectOf(request)));
  const [opened] = bodies;
  if (bodies.length > 1 || opened?.kind !== "run.opened") return bodies;
  const response = respond(openContext({ request, pin: opened.pin, openedAt: deps.clock.now() }));
  return [opened, { kind: "run.settled", response }];
}

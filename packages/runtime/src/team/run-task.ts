import type { RunRequest, RunResponse } from "@troupe/core";
import { notStartedResponse, permanentError, protocolVersion } from "@troupe/core/internal";
import { retryUntilDone } from "../host/retry-until-done.ts";
import { sendCommand } from "../host/run/send-command.ts";
import { watchSettled } from "../host/run/settled.ts";
import { readOpenRuns } from "../host/run-deps.ts";
import { beginSession } from "../service/begin-session.ts";
import type { TeamDeps } from "./options.ts";

/** Who may want a task's end before it comes. */
export interface TaskSignals {
  /** The run is to stop: its response says how far it got. */
  stop: AbortSignal;
  /** Nobody waits for it any more, whatever it does. */
  abandoned: AbortSignal;
}

/**
 * Asks for one run, as a session of its own, and waits for its response. Rejects only where it could not be asked: then
 * it does not begin later either.
 */
export async function runTask(deps: TeamDeps, request: RunRequest, signals: TaskSignals): Promise<RunResponse> {
  const { stop, abandoned } = signals;
  const openRunsOf = (session: string) => readOpenRuns(deps.journal, session);
  const settled = await watchSettled({ ...deps, openRunsOf }, request);
  /** Nothing more is to be told to a run that has ended. */
  const over = new AbortController();
  const tell = (): void => {
    const scope = { deps, request, signal: over.signal };
    void retryUntilDone(
      () => cancelSession(deps, request, reasonOf(stop)),
      "task not told to stop; trying again",
      scope,
    );
  };
  const left = Promise.withResolvers<RunResponse>();
  const leave = (): void => left.resolve(abandonedResponse(request, stop));
  try {
    await begin(deps, request);
    whenAborted(stop, tell);
    whenAborted(abandoned, leave);
    return await Promise.race([settled.response, left.promise]);
  } finally {
    over.abort();
    abandoned.removeEventListener("abort", leave);
    settled.close();
  }
}

/** The response of a task that was stopped before anybody was asked. */
export function stoppedResponse(request: RunRequest, stop: AbortSignal): RunResponse {
  return notStartedResponse(request, "cancelled", permanentError("cancelled", reasonOf(stop)));
}

/** Says what is known: it was told to stop, and no more was waited for. */
function abandonedResponse(request: RunRequest, stop: AbortSignal): RunResponse {
  const message = `${reasonOf(stop)}, and its end was not waited for: session ${request.session} has it when it comes`;
  return notStartedResponse(request, "cancelled", permanentError("cancelled", message));
}

/** A session of which its caller is told that it failed must not be begun by the next host that reads the journal. */
async function begin(deps: TeamDeps, request: RunRequest): Promise<void> {
  const { session, run, model } = request;
  try {
    await beginSession(deps, request, { origin: "api", demo: model.startsWith("scripted/") });
  } catch (error) {
    await cancelSession(deps, request, "its task could not be handed to any host").catch((err: unknown) =>
      deps.logger.warn({ session, run, err }, "task could not be taken back"),
    );
    throw error;
  }
}

async function cancelSession(deps: TeamDeps, { session }: RunRequest, reason: string): Promise<void> {
  const at = deps.clock.now();
  await sendCommand(deps, { v: protocolVersion, kind: "session.cancelled", at, session, reason });
}

/** Calls back when the signal aborts, or now where it has. */
function whenAborted(signal: AbortSignal, callback: () => void): void {
  if (signal.aborted) callback();
  else signal.addEventListener("abort", callback, { once: true });
}

function reasonOf({ reason }: AbortSignal): string {
  return reason instanceof Error ? reason.message : String(reason);
}

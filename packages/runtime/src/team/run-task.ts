import type { RunRequest, RunResponse } from "@troupe/core";
import { notStartedResponse, permanentError, protocolVersion } from "@troupe/core/internal";
import { retryUntilDone } from "../host/retry-until-done.ts";
import { sendCommand } from "../host/run/send-command.ts";
import { watchSettled } from "../host/run/settled.ts";
import { readOpenRuns } from "../host/run-deps.ts";
import { beginSession } from "../service/begin-session.ts";
import type { TeamDeps } from "./options.ts";

/** Signals that end a task early. */
export interface TaskSignals {
  /** Stops the run. Its response tells how far it got. */
  stop: AbortSignal;
  /** Ends the wait for the run without its response. */
  abandoned: AbortSignal;
}

/**
 * Starts one run, as a session of its own, and waits for its response. Rejects only if the run could not be started; it
 * then does not start later either.
 */
export async function runTask(deps: TeamDeps, request: RunRequest, signals: TaskSignals): Promise<RunResponse> {
  const { stop, abandoned } = signals;
  const openRunsOf = (session: string) => readOpenRuns(deps.journal, session);
  const settled = await watchSettled({ ...deps, openRunsOf }, request);
  /** Aborts when the run has ended: a retried cancel command is no longer needed. */
  const ended = new AbortController();
  const cancel = (): void => {
    const scope = { deps, request, signal: ended.signal };
    void retryUntilDone(
      () => sendCancel(deps, request, reasonOf(stop)),
      "cancel command not stored; trying again",
      scope,
    );
  };
  const abandonedResult = Promise.withResolvers<RunResponse>();
  const abandon = (): void => abandonedResult.resolve(abandonedResponse(request, stop));
  try {
    await begin(deps, request);
    whenAborted(stop, cancel);
    whenAborted(abandoned, abandon);
    return await Promise.race([settled.response, abandonedResult.promise]);
  } finally {
    ended.abort();
    abandoned.removeEventListener("abort", abandon);
    settled.close();
  }
}

/** The response of a task that was stopped before its run was offered. */
export function stoppedResponse(request: RunRequest, stop: AbortSignal): RunResponse {
  return notStartedResponse(request, "cancelled", permanentError("cancelled", reasonOf(stop)));
}

/** The response of a task that was stopped but whose end the team did not wait for. */
function abandonedResponse(request: RunRequest, stop: AbortSignal): RunResponse {
  const message = `${reasonOf(stop)}; the team did not wait for the end, which session ${request.session} will show`;
  return notStartedResponse(request, "cancelled", permanentError("cancelled", message));
}

/** If the offer fails, the caller learns of a failure. A cancel command then keeps hosts from starting the session. */
async function begin(deps: TeamDeps, request: RunRequest): Promise<void> {
  const { session, run, model } = request;
  try {
    await beginSession(deps, request, { origin: "api", demo: model.startsWith("scripted/") });
  } catch (error) {
    await sendCancel(deps, request, "its task could not be handed to any host").catch((err: unknown) =>
      deps.logger.warn({ session, run, err }, "session of a failed task could not be cancelled"),
    );
    throw error;
  }
}

async function sendCancel(deps: TeamDeps, { session }: RunRequest, reason: string): Promise<void> {
  const at = deps.clock.now();
  await sendCommand(deps, { v: protocolVersion, kind: "session.cancelled", at, session, reason });
}

/** Calls back when the signal aborts, or at once if it has. */
function whenAborted(signal: AbortSignal, callback: () => void): void {
  if (signal.aborted) callback();
  else signal.addEventListener("abort", callback, { once: true });
}

function reasonOf({ reason }: AbortSignal): string {
  return reason instanceof Error ? reason.message : String(reason);
}

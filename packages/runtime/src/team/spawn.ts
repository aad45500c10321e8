import type { Ids, RunResponse } from "@troupe/core";
import { rootRequest } from "../service/begin-session.ts";
import type { Place } from "./ledger.ts";
import type { SpawnOptions } from "./options.ts";
import { planRequest, type TeamScope, unaskedFor } from "./plan-request.ts";
import { runTask, stoppedResponse, type TaskSignals } from "./run-task.ts";

/** A task that was handed over. */
export interface Spawned {
  run: string;
  session: string;
  /** The run's one response, however it ends. Never rejects: a task that could not be asked has a response too. */
  response: Promise<RunResponse>;
  /** Stops the run and all below it. `response` then comes as soon as it has stopped. */
  cancel(reason?: string): void;
}

/** What a program wants done. */
export interface StartedTask {
  agent: string;
  task: string;
  options: SpawnOptions;
}

/** A team as each of its tasks sees it. */
type TaskScope = TeamScope & { ids: Ids } & Pick<TaskSignals, "abandoned">;

/**
 * Hands a task over. It has its ids at once; all else comes with its response.
 *
 * @param place its claim on the team's budget, given back when it settles
 * @param stops what stops it, besides its own signal and whoever holds what this returns
 */
export function startTask(
  team: TaskScope,
  { agent, task, options }: StartedTask,
  place: Place,
  stops: readonly AbortSignal[],
): Spawned {
  const { model, workspace } = team.settings;
  const bare = rootRequest(team.ids, { agent, task, layers: [], model, workspace });
  const own = new AbortController();
  const unlink = follow(own, options?.signal instanceof AbortSignal ? [...stops, options.signal] : stops);

  const perform = async (): Promise<RunResponse> => {
    const signals = { stop: own.signal, abandoned: team.abandoned };
    try {
      const request = own.signal.aborted ? null : await planRequest(team, bare, options, place);
      // What came to stop it meanwhile has stopped it before anybody was asked.
      if (!request || own.signal.aborted) return stoppedResponse(bare, own.signal);
      return await runTask(team.deps, request, signals);
    } catch (thrown) {
      return unaskedFor(bare, thrown);
    }
  };

  const settle = async (): Promise<RunResponse> => {
    const response = await perform();
    unlink();
    // Not even one run: it was never asked, and nothing was used.
    place.settle(response.metrics.subtree.runs > 0 ? response.metrics.charged : undefined);
    return response;
  };

  return {
    run: bare.run,
    session: bare.session,
    response: settle(),
    cancel: (reason = "cancelled by the program") => own.abort(reason),
  };
}

/** Aborts as soon as one of these does, with its reason. @returns what ends it */
function follow(controller: AbortController, signals: readonly AbortSignal[]): () => void {
  const ends = signals.map((signal) => {
    const abort = (): void => controller.abort(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    return () => signal.removeEventListener("abort", abort);
  });
  return () => {
    for (const end of ends) end();
  };
}

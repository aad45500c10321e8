import type { Ids, RunResponse } from "@troupe/core";
import { agentIdOf } from "@troupe/core/internal";
import { rootRequest } from "../service/begin-session.ts";
import type { BudgetClaim } from "./ledger.ts";
import type { SpawnOptions } from "./options.ts";
import { notStartedFor, planRequest, type TeamScope } from "./plan-request.ts";
import { runTask, stoppedResponse, type TaskSignals } from "./run-task.ts";

/** A started task. */
export interface Spawned {
  run: string;
  session: string;
  /** The run's response, however it ends. Never rejects: a task that could not be started has a response too. */
  response: Promise<RunResponse>;
  /** Stops the run and all runs below it. `response` resolves when they have stopped. */
  cancel(reason?: string): void;
}

/** One task for one agent. */
export interface TaskInput {
  agent: string;
  task: string;
  options: SpawnOptions;
}

/** The parts of a team that every task needs. */
type TaskScope = TeamScope & { ids: Ids } & Pick<TaskSignals, "abandoned">;

/**
 * Starts a task. Its ids are known at once; everything else comes with its response.
 *
 * @param claim the task's claim on the team's budget; this function settles it
 * @param stops further signals that stop the task, besides its own signal and `cancel`
 */
export function startTask(
  team: TaskScope,
  { agent, task, options }: TaskInput,
  claim: BudgetClaim,
  stops: readonly AbortSignal[],
): Spawned {
  const { model, workspace } = team.settings;
  const draft = rootRequest(team.ids, { agent: agentIdOf(agent), task, layers: [], model, workspace });
  const controller = new AbortController();
  const unlink = follow(controller, options?.signal instanceof AbortSignal ? [...stops, options.signal] : stops);

  const perform = async (): Promise<RunResponse> => {
    const signals = { stop: controller.signal, abandoned: team.abandoned };
    try {
      const request = controller.signal.aborted ? null : await planRequest(team, draft, options, claim);
      // A stop during planning ends the task before its run is offered.
      if (!request || controller.signal.aborted) return stoppedResponse(draft, controller.signal);
      return await runTask(team.deps, request, signals);
    } catch (thrown) {
      return notStartedFor(draft, thrown);
    }
  };

  const settle = async (): Promise<RunResponse> => {
    const response = await perform();
    unlink();
    // Zero runs mean that the task was never started and used nothing.
    claim.settle(response.metrics.subtree.runs > 0 ? response.metrics.charged : undefined);
    return response;
  };

  return {
    run: draft.run,
    session: draft.session,
    response: settle(),
    cancel: (reason = "cancelled by the program") => controller.abort(reason),
  };
}

/** Aborts the controller as soon as one signal aborts, with its reason. Returns a function that stops following. */
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

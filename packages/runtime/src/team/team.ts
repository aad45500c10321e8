import { type RunResponse, TroupeError } from "@troupe/core";
import { unlimited } from "@troupe/core/internal";
import { systemIds } from "@troupe/core/system";
import { type Aggregate, aggregate } from "./aggregate.ts";
import { type BudgetClaim, createLedger } from "./ledger.ts";
import { checkMaxConcurrent, checkTeamOptions, type SpawnOptions, type TeamOptions, type TeamTask } from "./options.ts";
import { type Spawned, startTask, type TaskInput } from "./spawn.ts";

/** How many tasks of a fan-out run at once by default. */
const maxConcurrentDefault = 3;

/** How long `close` waits for runs to stop by default. */
const closeGraceMs = 10_000;

/** A task that has not settled. */
export interface ActiveTask {
  session: string;
  agent: string;
  task: string;
  /** Milliseconds since 1970. */
  startedAt: number;
}

export interface FanOutOptions {
  /** How many run at once. @default 3 */
  maxConcurrent?: number;
  /** Stops the running tasks and starts no other. */
  signal?: AbortSignal;
}

/** Starts agents for a program. */
export interface Team {
  /** Gives one agent a task. Throws `CLOSED` if the team is closed, and nothing else. */
  spawn(agent: string, task: string, options?: SpawnOptions): Spawned;
  /**
   * Runs several tasks, a few at once. The responses are in the order of the tasks, each with its own success or failure.
   * Rejects with `USAGE` for an invalid `maxConcurrent`, and with `CLOSED`.
   */
  fanOut(tasks: readonly TeamTask[], options?: FanOutOptions): Promise<RunResponse[]>;
  /** Combines responses, including those of failed runs. */
  aggregate(responses: readonly RunResponse[], options?: { findings?: boolean }): Aggregate;
  /** The tasks that have not settled, by run id. */
  readonly active: ReadonlyMap<string, ActiveTask>;
  /** Stops all running tasks and all queued tasks of fan-outs. */
  cancelAll(reason?: string): void;
  /** Cancels all tasks, waits until they have stopped, and refuses new ones. `graceMs` limits the wait. @default 10_000 */
  close(options?: { graceMs?: number }): Promise<void>;
}

/**
 * Lets a program give tasks to agents, as an agent delegates to others. Each task is a session with its own
 * conversation, within the team's grant and budget. A team works over the ports alone, so hosts can run anywhere.
 *
 * @example
 * const team = createTeam({ deps, model: "scripted/demo", workspace: "/srv/project" });
 * const { response } = team.spawn("researcher", "Where are sessions stored?", { tools: ["read"], maxToolCalls: 10 });
 * const reviews = await team.fanOut(files.map((file) => ({ agent: "reviewer", task: `Review ${file}` })));
 * console.log((await response).summary, team.aggregate(reviews, { findings: true }).findings);
 * await team.close();
 */
export function createTeam(options: TeamOptions): Team {
  const scope = checkTeamOptions(options);
  const { ids = systemIds() } = options;
  const ledger = createLedger({ ...unlimited, ...scope.settings.budget });
  const active = new Map<string, ActiveTask>();
  /** Everything that `close` waits for. */
  const pending = new Set<Promise<unknown>>();
  const abandon = new AbortController();
  /** Aborts all tasks that were started so far. `cancelAll` replaces it. */
  let all = new AbortController();
  let closing: Promise<void> | null = null;

  const checkOpen = (): void => {
    if (closing) throw new TroupeError("CLOSED", "this team is closed", { fix: "create another team with createTeam" });
  };

  const track = <T>(work: Promise<T>): Promise<T> => {
    const tracked = work.finally(() => pending.delete(tracked));
    pending.add(tracked);
    return tracked;
  };

  const start = (input: TaskInput, claim: BudgetClaim, stops: readonly AbortSignal[]): Spawned => {
    const spawned = startTask({ ...scope, ids, abandoned: abandon.signal }, input, claim, stops);
    const { run, session } = spawned;
    active.set(run, { session, agent: input.agent, task: input.task, startedAt: scope.deps.clock.now() });
    return { ...spawned, response: track(spawned.response.finally(() => active.delete(run))) };
  };

  const fanOut = async (tasks: readonly TaskInput[], maxConcurrent: number, stops: readonly AbortSignal[]) => {
    const claims = tasks.map(() => ledger.announce());
    const queue = tasks.entries();
    const responses: RunResponse[] = [];
    /** Runs one task after another. `maxConcurrent` of these loops share the queue. */
    const work = async (): Promise<void> => {
      for (const [i, input] of queue) responses[i] = await start(input, claims[i] as BudgetClaim, stops).response;
    };
    await Promise.all(Array.from({ length: Math.min(maxConcurrent, tasks.length) }, work));
    return responses;
  };

  const cancelAll = (reason = "all tasks of the team were cancelled"): void => {
    all.abort(reason);
    all = new AbortController();
  };

  const close = async (graceMs: number): Promise<void> => {
    cancelAll("the team was closed");
    const stopWaiting = scope.deps.clock.after(graceMs, () => abandon.abort());
    while (pending.size > 0) await Promise.all(pending);
    stopWaiting();
  };

  return {
    spawn(agent, task, options = {}) {
      checkOpen();
      return start({ agent, task, options }, ledger.announce(), [all.signal]);
    },
    async fanOut(tasks, { maxConcurrent = maxConcurrentDefault, signal } = {}) {
      checkOpen();
      checkMaxConcurrent(maxConcurrent);
      const inputs = tasks.map(({ agent, task, ...options }) => ({ agent, task, options }));
      return await track(fanOut(inputs, maxConcurrent, [all.signal, ...(signal ? [signal] : [])]));
    },
    aggregate,
    active,
    cancelAll,
    close({ graceMs = closeGraceMs } = {}) {
      closing ??= close(graceMs);
      return closing;
    },
  };
}

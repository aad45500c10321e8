import { type RunResponse, TroupeError } from "@troupe/core";
import { unlimited } from "@troupe/core/internal";
import { systemIds } from "@troupe/core/system";
import { type Aggregate, aggregate } from "./aggregate.ts";
import { createLedger, type Place } from "./ledger.ts";
import { checkMaxConcurrent, readTeam, type SpawnOptions, type TeamOptions, type TeamTask } from "./options.ts";
import { type Spawned, type StartedTask, startTask } from "./spawn.ts";

/** Tasks of one fan-out that run at once, where its caller has said nothing of it. */
const maxConcurrentDefault = 3;

/** How long closing waits for runs to stop. */
const closeGraceMs = 10_000;

/** A task that has not settled. */
export interface ActiveTask {
  session: string;
  agent: string;
  task: string;
  /** Ms since 1970, by the world's clock. */
  startedAt: number;
}

export interface FanOutOptions {
  /** How many run at once. @default 3 */
  maxConcurrent?: number;
  /** Stops those that run, and lets no other begin. */
  signal?: AbortSignal;
}

/** Agents at the command of a program. */
export interface Team {
  /** Asks one agent. Throws only when the team is closed. */
  spawn(agent: string, task: string, options?: SpawnOptions): Spawned;
  /**
   * Asks several, a few at once. The responses stand in the order of the tasks, each with its own success or failure.
   * Rejects with `USAGE` for a `maxConcurrent` that is no whole number from 1 on, and with `CLOSED`.
   */
  fanOut(tasks: readonly TeamTask[], options?: FanOutOptions): Promise<RunResponse[]>;
  /** Puts responses together, failures too. */
  aggregate(responses: readonly RunResponse[], options?: { findings?: boolean }): Aggregate;
  /** What was handed over and has not settled, by run. */
  readonly active: ReadonlyMap<string, ActiveTask>;
  /** Stops everything that runs, and every task of a fan-out that still waits for its turn. */
  cancelAll(reason?: string): void;
  /** Cancels all, waits until it has stopped, and takes nothing new. @param graceMs how long to wait. @default 10000 */
  close(options?: { graceMs?: number }): Promise<void>;
}

/**
 * Lets a program ask agents, as an agent asks others: each task is a session of its own, with its own conversation,
 * under no more than what the team was given. Works over the ports alone, so that hosts may be anywhere.
 *
 * @example
 * const team = createTeam({ world, model: "scripted/demo", workspace: "/srv/project" });
 * const { response } = team.spawn("researcher", "Where are sessions stored?", { tools: ["read"], maxToolCalls: 10 });
 * const reviews = await team.fanOut(files.map((file) => ({ agent: "reviewer", task: `Review ${file}` })));
 * console.log((await response).summary, team.aggregate(reviews, { findings: true }).findings);
 * await team.close();
 */
export function createTeam(options: TeamOptions): Team {
  const scope = readTeam(options);
  const { ids = systemIds() } = options;
  const ledger = createLedger({ ...unlimited, ...scope.settings.budget });
  const active = new Map<string, ActiveTask>();
  /** Everything that closing has to wait for. */
  const pending = new Set<Promise<unknown>>();
  const abandon = new AbortController();
  /** Aborts for all that was begun so far; replaced whenever it has. */
  let all = new AbortController();
  let closing: Promise<void> | null = null;

  const checkOpen = (): void => {
    if (closing) throw new TroupeError("CLOSED", "this team is closed", { fix: "make another one with createTeam" });
  };

  const track = <T>(work: Promise<T>): Promise<T> => {
    const tracked = work.finally(() => pending.delete(tracked));
    pending.add(tracked);
    return tracked;
  };

  const start = (asked: StartedTask, place: Place, stops: readonly AbortSignal[]): Spawned => {
    const spawned = startTask({ ...scope, ids, abandoned: abandon.signal }, asked, place, stops);
    const { run, session } = spawned;
    active.set(run, { session, agent: asked.agent, task: asked.task, startedAt: scope.deps.clock.now() });
    return { ...spawned, response: track(spawned.response.finally(() => active.delete(run))) };
  };

  const fanOut = async (tasks: readonly StartedTask[], maxConcurrent: number, stops: readonly AbortSignal[]) => {
    const places = tasks.map(() => ledger.announce());
    const queue = tasks.entries();
    const responses: RunResponse[] = [];
    /** Takes one task after another: as many of these as may run at once. */
    const work = async (): Promise<void> => {
      for (const [i, asked] of queue) responses[i] = await start(asked, places[i] as Place, stops).response;
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
      const asked = tasks.map(({ agent, task, ...options }) => ({ agent, task, options }));
      return await track(fanOut(asked, maxConcurrent, [all.signal, ...(signal ? [signal] : [])]));
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

import { type AgentRegistry, type AgentSource, RunRequest, type TakenTask, TroupeError } from "@troupe/core";
import { createInvalidMessages, decode, projectOf } from "@troupe/core/internal";
import { isNewerVersion } from "../decode-message.ts";
import type { HostDeps } from "../host-deps.ts";
import { sleep } from "../retry-until-done.ts";
import { announceSettled } from "../run/settled.ts";
import type { Slots } from "../run/slots.ts";
import { waitForTimeSlice } from "../time-slice.ts";
import { type Claim, claimRun } from "./claim-run.ts";

/** A claim that failed for a temporary reason is repeated after this time. */
const retryMs = 1_000;

/** A declined task is held for a moment, longer each time. Without other hosts it would otherwise loop at full speed. */
const declinedMsFirst = 100;
const declinedMsMax = 4_000;

/** How many declined runs are counted at once. */
const declinedRunsMax = 1_000;

/** How many sessions keep their agent definitions in memory. */
const sessionsMax = 256;

export interface TaskClaimerOptions {
  deps: HostDeps;
  slots: Slots;
  /** Starts a claimed run. The run then owns the slot that was acquired for the task. */
  startRun(task: TakenTask, claim: Claim & { kind: "claimed" }): void;
  /** Aborts when no more tasks are claimed. */
  stopping: AbortSignal;
}

export interface TaskClaimer {
  /** Never rejects. */
  claimTask(task: TakenTask): Promise<void>;
  /** Whether this host is about to claim the run. */
  isClaiming(run: string): boolean;
}

/** The next step after a try: none, another try, or giving the task back after a moment. */
type Next = "done" | "retry" | { giveBackAfterMs: number };

/**
 * Creates the function that claims the run of a task and starts it, or finds that the run needs no host. The slot
 * that was reserved for the task goes to its run or is released. The task is finished only after its run has settled; it
 * is parked for other hosts, or dropped if another host holds the run.
 */
export function createTaskClaimer(options: TaskClaimerOptions): TaskClaimer {
  const { deps, slots, startRun, stopping } = options;
  const { logger } = deps;
  const invalidMessages = deps.invalidMessages ?? createInvalidMessages();
  const registryOf = createSessionRegistries(deps.agentSource);
  const claiming = new Set<string>();
  const declinedMs = createDeclinedDelays();

  /** Null for a task that no host can decode: any client can put any bytes into a queue. */
  const requestIn = (task: TakenTask): RunRequest | null => {
    try {
      const request = decode(RunRequest, task.bytes, "task");
      if (request.run === task.run) return request;
      throw new TroupeError("INVALID_MESSAGE", `the task of run ${task.run} asks for run ${request.run}`);
    } catch (err) {
      if (!isInvalid(err)) throw err;
      const isFirst = invalidMessages.note("malformed", deps.subjects.all.task);
      if (isFirst) logger.warn({ run: task.run, err }, "task refused");
      return null;
    }
  };

  /** Null for an invalid task. */
  const claim = async (task: TakenTask): Promise<Claim | null> => {
    if (isNewerVersion(task.bytes)) return { kind: "declined", reason: "a host of a newer version has asked for it" };
    const request = requestIn(task);
    if (!request) return null;
    deps.failpoint.at("claim:before", { run: task.run, key: "claim" });
    const loadRegistry = () => registryOf(request.session, projectOf(request));
    const claimed = await claimRun(deps, request, loadRegistry, task);
    deps.failpoint.at("claim:after", { run: task.run, key: "claim" });
    return claimed;
  };

  const handleUnclaimed = async (
    task: TakenTask,
    result: Exclude<Claim, { kind: "claimed" }> | null,
  ): Promise<Next> => {
    const { run } = task;
    if (result === null) {
      await task.park();
      return "done";
    }
    if (result.kind === "declined") {
      const giveBackAfterMs = declinedMs(run);
      if (giveBackAfterMs === 0) logger.warn({ run, why: result.reason }, "run left to another host");
      return { giveBackAfterMs };
    }
    if (result.kind === "held") {
      logger.info({ run }, "run is held by another host");
      task.drop();
      return "done";
    }
    const { sessionId: session, agent, status } = result.response;
    logger.info({ session, run, agent, status }, "run has already settled");
    announceSettled(deps, result.response);
    await task.finish();
    return "done";
  };

  const tryClaim = async (task: TakenTask): Promise<Next> => {
    let isSlotUsed = false;
    claiming.add(task.run);
    try {
      await waitForTimeSlice();
      const result = await claim(task);
      await waitForTimeSlice();
      if (result?.kind !== "claimed") return await handleUnclaimed(task, result);
      isSlotUsed = true;
      startRun(task, result);
      return "done";
    } catch (error) {
      logger.error({ run: task.run, err: error }, "run could not be claimed");
      if (!isInvalid(error)) return "retry";
      await task.park();
      return "done";
    } finally {
      claiming.delete(task.run);
      if (!isSlotUsed) slots.release();
    }
  };

  return {
    isClaiming: (run) => claiming.has(run),
    async claimTask(task) {
      try {
        for (let next = await tryClaim(task); next !== "done"; next = await tryClaim(task)) {
          await sleep(next === "retry" ? retryMs : next.giveBackAfterMs, deps.clock, stopping);
          if (task.lost.aborted) return task.drop();
          if (next !== "retry" || stopping.aborted) return await task.park({ again: true });
          await slots.acquire();
        }
      } catch (err) {
        logger.warn({ run: task.run, err }, "the queue could not be told");
      }
    },
  };
}

/** How long a declined task is held: 0 for the first time, then longer each time. */
function createDeclinedDelays(): (run: string) => number {
  const timesDeclined = new Map<string, number>();
  return (run) => {
    const times = timesDeclined.get(run) ?? 0;
    timesDeclined.delete(run);
    timesDeclined.set(run, times + 1);
    const oldest = timesDeclined.keys().next().value;
    if (timesDeclined.size > declinedRunsMax && oldest !== undefined) timesDeclined.delete(oldest);
    return times === 0 ? 0 : Math.min(declinedMsFirst * 2 ** (times - 1), declinedMsMax);
  };
}

/** Bytes that do not fit their schema now never will. */
function isInvalid(error: unknown): boolean {
  return TroupeError.is(error) && error.code === "INVALID_MESSAGE";
}

/**
 * Loads the agent definitions of a session when its first run starts here, and keeps them: a tree of a thousand runs
 * reads the files once. Edited files count from the next session on.
 */
function createSessionRegistries(source: AgentSource): (session: string, workspace: string) => Promise<AgentRegistry> {
  const loaded = new Map<string, Promise<AgentRegistry>>();
  return (session, workspace) => {
    const known = loaded.get(session);
    if (known) return known;
    const loading = source.load(workspace);
    loading.catch(() => loaded.delete(session));
    loaded.set(session, loading);
    const oldest = loaded.keys().next().value;
    if (loaded.size > sessionsMax && oldest !== undefined) loaded.delete(oldest);
    return loading;
  };
}

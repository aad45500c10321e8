import { type AgentRegistry, RunRequest, type TakenTask, TroupeError } from "@troupe/core";
import { createInvalidMessages, decode, projectOf } from "@troupe/core/internal";
import { announceSettled } from "../announce.ts";
import { isOfNewerVersion } from "../decode-message.ts";
import type { HostDeps } from "../host-deps.ts";
import { pauseUnless } from "../retry-until-done.ts";
import type { Slots } from "../run/slots.ts";
import { createTimeSlice } from "../time-slice.ts";
import { type Claim, claimRun } from "./claim.ts";

/** When a task could not be taken up for a reason that may pass, it is tried again after this long. */
const retryMs = 1_000;

/** A task that is left to others is held for a moment first, longer each time: it would spin where there are none. */
const leaveMsFirst = 100;
const leaveMsMax = 4_000;

/** Runs of which is known how often they were left. */
const leftMax = 1_000;

export interface TakeUpOptions {
  deps: HostDeps;
  slots: Slots;
  registryOf(session: string, workspace: string): Promise<AgentRegistry>;
  /** Brings a run to life that was claimed here; it has the slot that was taken for it. */
  bring(task: TakenTask, claim: Claim & { kind: "alive" }): void;
  /** Aborts when nothing is taken up any more. */
  stopping: AbortSignal;
}

export interface TakeUp {
  /** Never rejects. */
  takeUp(task: TakenTask): Promise<void>;
  /** Whether this run is being claimed here right now, and may be ours in a moment. */
  isClaiming(run: string): boolean;
}

/** What is to be done after a try: nothing, the same again, or leaving the task to others after a moment. */
type Next = "nothing" | "again" | { leaveMs: number };

/**
 * Takes a task up: claims its run and brings it to life, or finds out that there is nothing to do. Whatever becomes of
 * it, the slot reserved for it ends up with its run or is given back; and the queue hears no more than is true: a task
 * is finished once its run has settled, parked for others, or let go of without a word where another host has it.
 */
export function createTakeUp(options: TakeUpOptions): TakeUp {
  const { deps, slots, bring, stopping } = options;
  const { logger } = deps;
  const invalidMessages = deps.invalidMessages ?? createInvalidMessages();
  const claiming = new Set<string>();
  const leaveMsOf = createLeaveDelays();

  /** Anybody can put anything into a queue: what no host can ever take up is no run's task. */
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

  /** Null for what is no run's task. */
  const claim = async (task: TakenTask): Promise<Claim | null> => {
    if (isOfNewerVersion(task.bytes)) return { kind: "left", why: "a host of a newer version has asked for it" };
    const request = requestIn(task);
    if (!request) return null;
    deps.failpoint.at("claim:before", { run: task.run, key: "claim" });
    const loadCompany = () => options.registryOf(request.session, projectOf(request));
    const claimed = await claimRun(deps, request, loadCompany, task);
    deps.failpoint.at("claim:after", { run: task.run, key: "claim" });
    return claimed;
  };

  /** What a claim leads to, but for a run that lives: that one keeps the slot. */
  const act = async (task: TakenTask, claimed: Exclude<Claim, { kind: "alive" }> | null): Promise<Next> => {
    const { run } = task;
    if (claimed === null) {
      await task.park();
      return "nothing";
    }
    if (claimed.kind === "left") {
      const leaveMs = leaveMsOf(run);
      if (leaveMs === 0) logger.warn({ run, why: claimed.why }, "run left to another host");
      return { leaveMs };
    }
    if (claimed.kind === "held") {
      logger.info({ run }, "run is held by another host");
      task.drop();
      return "nothing";
    }
    const { sessionId: session, agent, status } = claimed.response;
    logger.info({ session, run, agent, status }, "run settled without being taken up");
    announceSettled(deps, claimed.response);
    await task.finish();
    return "nothing";
  };

  const takeUpOnce = async (task: TakenTask): Promise<Next> => {
    let isSlotUsed = false;
    claiming.add(task.run);
    try {
      await createTimeSlice();
      const claimed = await claim(task);
      await createTimeSlice();
      if (claimed?.kind !== "alive") return await act(task, claimed);
      isSlotUsed = true;
      bring(task, claimed);
      return "nothing";
    } catch (error) {
      logger.error({ run: task.run, err: error }, "task could not be taken up");
      if (!isInvalid(error)) return "again";
      await task.park();
      return "nothing";
    } finally {
      claiming.delete(task.run);
      if (!isSlotUsed) slots.give();
    }
  };

  return {
    isClaiming: (run) => claiming.has(run),
    async takeUp(task) {
      try {
        for (let next = await takeUpOnce(task); next !== "nothing"; next = await takeUpOnce(task)) {
          await pauseUnless(stopping, next === "again" ? retryMs : next.leaveMs, deps.clock);
          if (task.lost.aborted) return task.drop();
          if (next !== "again" || stopping.aborted) return await task.park({ again: true });
          await slots.take();
        }
      } catch (err) {
        logger.warn({ run: task.run, err }, "the queue could not be told");
      }
    },
  };
}

/** How long a run that is left again is held before: not at all the first time. */
function createLeaveDelays(): (run: string) => number {
  const timesLeft = new Map<string, number>();
  return (run) => {
    const times = timesLeft.get(run) ?? 0;
    timesLeft.delete(run);
    timesLeft.set(run, times + 1);
    const oldest = timesLeft.keys().next().value;
    if (timesLeft.size > leftMax && oldest !== undefined) timesLeft.delete(oldest);
    return times === 0 ? 0 : Math.min(leaveMsFirst * 2 ** (times - 1), leaveMsMax);
  };
}

/** What does not fit its schema now never will. */
function isInvalid(error: unknown): boolean {
  return TroupeError.is(error) && error.code === "INVALID_MESSAGE";
}

import type { ApprovalRow, ChangeRow, RunResponse, SessionDetail, SessionRow, TroupeService } from "@troupe/core";
import type { ExecutionPlan, PlanResult } from "@troupe/core/internal";
import type { FanOutOptions, Spawned, SpawnOptions, TeamTask } from "@troupe/runtime";
import { checkNode } from "./check-node.ts";
import type { ApprovalDecision, RunOptions, TroupeEvent, TroupeOptions } from "./options.ts";
import type { ExecutePlanOptions, PlanOptions } from "./plans/troupe-plans.ts";

/** A running troupe in this program. */
export interface Troupe extends AsyncDisposable {
  /**
   * Runs a task to its end. The response says how it ended: a run that fails, is cancelled or reaches a limit resolves too,
   * with `success: false`. Rejects only if the task could not be accepted, or if the troupe closes first.
   */
  run(task: string, options?: RunOptions): Promise<RunResponse>;
  /** Runs a task and yields its events; the last one is `session.settled`. Leaving the loop does not cancel the session. */
  stream(task: string, options?: Omit<RunOptions, "onEvent">): TroupeStream;
  /** Starts one agent on one task and returns at once. The agents of a program share the troupe's budget. */
  spawn(agent: string, task: string, options?: SpawnOptions): Spawned;
  /** Starts several agents, at most `maxConcurrent` at a time. The responses are in the order of the tasks. */
  fanOut(tasks: readonly TeamTask[], options?: FanOutOptions): Promise<RunResponse[]>;
  /**
   * Asks the planner for a plan of steps with their agents and dependencies. Throws `RUN_FAILED` with the reason if the planner
   * finds none.
   */
  planForGoal(goal: string, options?: PlanOptions): Promise<ExecutionPlan>;
  /**
   * Executes the steps of a plan in the order of their dependencies, in one session. Executing the same plan again
   * continues it: completed steps keep their results. Resolves with the result of each step, also if the plan failed.
   */
  executePlan(plan: ExecutionPlan, options?: ExecutePlanOptions): Promise<PlanResult>;
  /** Cancels a session, with every run in it. */
  cancel(session: string, reason?: string): Promise<void>;
  /** Requests for approval that wait for a person, oldest first. */
  approvals(): Promise<ApprovalRow[]>;
  approve(approval: string, answer?: Exclude<ApprovalDecision, string>): Promise<void>;
  deny(approval: string, reason?: string): Promise<void>;
  /** The recorded sessions, those of earlier processes included. */
  readonly sessions: Sessions;
  /** The service that the HTTP API and the command line call: everything else that a running troupe can do. */
  readonly service: TroupeService;
  /** Address of the HTTP API; null unless `http` was asked for. */
  readonly url: string | null;
  /** Stops after a grace of five seconds. Unfinished sessions go on at the next start. */
  close(): Promise<void>;
}

/** A session whose events are read one by one. */
export interface TroupeStream extends AsyncIterable<TroupeEvent> {
  readonly session: string;
  /** The same response as that of `session.settled`. */
  readonly response: Promise<RunResponse>;
}

export interface Sessions {
  /** Newest first. @param options.limit default 50 */
  list(options?: { limit?: number }): Promise<SessionRow[]>;
  /** The session with all its runs; null if there is no such session. */
  get(session: string): Promise<SessionDetail | null>;
  /** Null until the session has settled. */
  response(session: string): Promise<RunResponse | null>;
  /** Changes to files, oldest first. */
  changes(session: string, options?: { after?: number; limit?: number }): Promise<ChangeRow[]>;
}

/**
 * Starts a troupe in this process: the function behind `troupe up` and `troupe run`.
 *
 * Without options it uses the keys in the environment, the agents of the current folder and of the user, and the store in
 * TROUPE_HOME.
 *
 * @example
 * await using troupe = await createTroupe({ model: "sonnet", agents: ["./agents"] });
 * const answer = await troupe.run("Compare the two licences");
 * console.log(answer.summary);
 */
export async function createTroupe(options: TroupeOptions = {}): Promise<Troupe> {
  checkNode(process.versions.node);
  // Models, tools and stores load here, so that importing the package stays cheap.
  const { openTroupe } = await import("./open-troupe.ts");
  return await openTroupe(options);
}

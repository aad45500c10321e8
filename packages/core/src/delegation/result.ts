import type { z } from "zod";
import { type RunResponse, toDelegationResult } from "../protocol/response.ts";
import type { BatchPolicy } from "./arguments.ts";

type Json = z.infer<ReturnType<typeof z.json>>;

/** One task of a batch with what came of it. */
export interface NamedResult {
  name: string;
  response: RunResponse;
}

/** A task that still runs, by what its parent can stop it. */
export interface RunningTask {
  handle: string;
  name: string;
  agent: string;
}

/** More of a child's text than this does not help a parent, and fills its context. */
const detailsCharactersMax = 20_000;

/** What a parent's model reads of one child. */
export function resultOf(response: RunResponse): { [key: string]: Json } {
  const result = { agent: response.agent, run_id: response.runId, ...toDelegationResult(response) };
  if (response.details.length <= detailsCharactersMax) return result;
  return { ...result, details: `${response.details.slice(0, detailsCharactersMax)}…`, details_truncated: true };
}

/** What it reads of a whole batch: every task, in the order in which it asked. */
export function batchResultOf(policy: BatchPolicy, results: readonly NamedResult[]): { [key: string]: Json } {
  return {
    policy: policy.kind === "quorum" ? `quorum ${policy.count}` : policy.kind,
    outcome: batchSucceeded(policy, results) ? "completed" : "failed",
    succeeded: successes(results),
    failed: results.length - successes(results),
    results: results.map(({ name, response }) => ({ name, ...resultOf(response) })),
  };
}

/** What it reads when the first task of a streaming batch has ended. */
export function firstResultOf(first: NamedResult, running: readonly RunningTask[]): { [key: string]: Json } {
  return {
    first: { name: first.name, ...resultOf(first.response) },
    running: running.map((task) => ({ ...task })),
    note: "Each further result comes to you by itself, as a message. Stop what you no longer need with cancel.",
  };
}

/** The message that brings a later result. */
export function laterResultOf(
  handle: string,
  { name, response }: NamedResult,
  running: readonly RunningTask[],
): string {
  const still =
    running.length > 0 ? `Still running: ${running.map((task) => task.handle).join(", ")}.` : "None is left.";
  return `The task ${name} (${handle}) has ended. ${still}\n${JSON.stringify(resultOf(response))}`;
}

export function batchSucceeded(policy: BatchPolicy, results: readonly NamedResult[]): boolean {
  const succeeded = successes(results);
  switch (policy.kind) {
    case "all":
      return succeeded === results.length;
    case "any":
    case "continue":
      return succeeded > 0;
    case "quorum":
      return succeeded >= policy.count;
  }
}

function successes(results: readonly NamedResult[]): number {
  return results.filter(({ response }) => response.success).length;
}

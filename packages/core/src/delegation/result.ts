import type { Json } from "../protocol/json.ts";
import { type RunResponse, toDelegationResult } from "../protocol/response.ts";
import type { BatchPolicy } from "./arguments.ts";

/** A task of a batch and its response. */
export interface NamedResult {
  name: string;
  response: RunResponse;
}

/** A running task, and the handle by which its parent can cancel it. */
export interface RunningTask {
  handle: string;
  name: string;
  agent: string;
}

/** A longer text would fill the parent's context without helping it. */
const detailsCharactersMax = 20_000;

/** The details of a response as a model reads them. They can leave out what other fields of the result say. */
export type DetailsOf = (response: RunResponse) => string;

const allDetails: DetailsOf = ({ details }) => details;

/** The result of one child as its parent's model reads it. It has all fields of the response. */
export function resultOf(response: RunResponse, detailsOf: DetailsOf = allDetails): { [key: string]: Json } {
  // The shape of a domain agent has everything: its data are the results of its tools.
  if (response.domainResponse) {
    return { agent: response.agent, run_id: response.runId, ...toDelegationResult(response) };
  }
  const details = detailsOf(response);
  const result = { agent: response.agent, run_id: response.runId, ...toDelegationResult(response), details };
  if (details.length <= detailsCharactersMax) return result;
  return { ...result, details: `${details.slice(0, detailsCharactersMax)}…`, details_truncated: true };
}

/** The result of a whole batch, with every task in the order of the call. */
export function batchResultOf(
  policy: BatchPolicy,
  results: readonly NamedResult[],
  detailsOf?: DetailsOf,
): { [key: string]: Json } {
  return {
    policy: policy.kind === "quorum" ? `quorum ${policy.count}` : policy.kind,
    outcome: batchSucceeded(policy, results) ? "completed" : "failed",
    succeeded: successes(results),
    failed: results.length - successes(results),
    results: results.map(({ name, response }) => ({ name, ...resultOf(response, detailsOf) })),
  };
}

/** The first result of a streaming batch. */
export function firstResultOf(
  first: NamedResult,
  running: readonly RunningTask[],
  detailsOf?: DetailsOf,
): { [key: string]: Json } {
  return {
    first: { name: first.name, ...resultOf(first.response, detailsOf) },
    running: running.map((task) => ({ ...task })),
    note: "Each further result comes to you by itself, as a message. Stop what you no longer need with cancel.",
  };
}

/** The message with a later result of a streaming batch. */
export function laterResultOf(
  handle: string,
  { name, response }: NamedResult,
  running: readonly RunningTask[],
  detailsOf?: DetailsOf,
): string {
  const still =
    running.length > 0 ? `Still running: ${running.map((task) => task.handle).join(", ")}.` : "None is left.";
  return `The task ${name} (${handle}) has ended. ${still}\n${JSON.stringify(resultOf(response, detailsOf))}`;
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

import type { RunningTask } from "../../delegation/result.ts";
import type { BatchState } from "./context.ts";

/** Identifies a call within its run. */
export interface CallPosition {
  step: number;
  call: number;
}

/** Identifies a task of a delegate call within its run. */
export interface TaskPosition extends CallPosition {
  /** Index within the batch. */
  item: number;
}

export function taskKey({ step, call, item }: TaskPosition): string {
  return `${step}/${call}/${item}`;
}

export function batchKey({ step, call }: CallPosition): string {
  return `${step}/${call}`;
}

/** Id of the actor that runs a tool call. */
export function toolActor({ step, call }: CallPosition): string {
  return `tool/${step}/${call}`;
}

/** Id of the actor that runs a delegate call. */
export function batchActor(position: CallPosition): string {
  return `batch/${batchKey(position)}`;
}

/** The name by which a model can cancel a task of a streaming batch. */
export function taskHandle({ step, call }: CallPosition, item: number): string {
  return `${step}.${call}.${item}`;
}

export function parseTaskHandle(handle: string): TaskPosition {
  const [step = 0, call = 0, item = 0] = handle.split(".").map(Number);
  return { step, call, item };
}

/** The unsettled tasks of a batch. */
export function runningTasks(batch: BatchState): RunningTask[] {
  return batch.plan.tasks.flatMap(({ name, request }, item) =>
    batch.results[item] ? [] : [{ handle: taskHandle(batch, item), name, agent: request.agent }],
  );
}

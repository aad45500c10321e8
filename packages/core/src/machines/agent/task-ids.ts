import type { RunningTask } from "../../delegation/result.ts";
import type { BatchState } from "./context.ts";

/** By what a model can stop a task whose batch it has had the first result of. */
export function handleOf({ step, call }: { step: number; call: number }, item: number): string {
  return `${step}.${call}.${item}`;
}

export function placeOfHandle(handle: string): { step: number; call: number; item: number } {
  const [step = 0, call = 0, item = 0] = handle.split(".").map(Number);
  return { step, call, item };
}

/** Tasks of a batch that have not settled. */
export function runningTasks(batch: BatchState): RunningTask[] {
  return batch.plan.tasks.flatMap(({ name, request }, item) =>
    batch.results[item] ? [] : [{ handle: handleOf(batch, item), name, agent: request.agent }],
  );
}

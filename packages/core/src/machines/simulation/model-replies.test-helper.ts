import { isDelegate } from "../../permissions/grant.ts";
import type { ModelReply } from "../../protocol/model.ts";
import type { ToolCall } from "../../protocol/tool.ts";
import { runningTasks } from "../agent/task-ids.ts";
import type { Random } from "./random.test-helper.ts";
import type { SimulatedRun } from "./run.test-helper.ts";

/** Limits for a random reply. */
export interface ReplyOptions {
  /** The reply is a final answer. */
  isDone: boolean;
  /** Whether the tree may still grow. */
  mayDelegate: boolean;
  /** Whether streaming batches are allowed. */
  mayStream: boolean;
  /** Whether bad replies are allowed: empty ones, refusals, identical calls, unknown agents. */
  mayMisbehave: boolean;
}

type ReplyContent = Pick<ModelReply, "text" | "calls" | "stopReason">;

/** A random reply: an answer, or calls of tools and agents. */
export function randomReply(
  run: SimulatedRun,
  { isDone, mayDelegate, mayStream, mayMisbehave }: ReplyOptions,
  random: Random,
): ReplyContent {
  if (isDone) return { text: "done", calls: [], stopReason: "end" };
  if (mayMisbehave && random.chance(4)) return { text: "", calls: [], stopReason: random.of(["end", "refusal"]) };
  const text = random.chance(35) ? "word ".repeat(random.below(500)) : "words";
  const isParent = run.pin.targets.length > 0 && mayDelegate;
  if (random.chance(isParent ? 12 : 40)) return { text: text || "done", calls: [], stopReason: "end" };
  const calls = Array.from({ length: 1 + random.below(3) }, (_, place): ToolCall => {
    const id = `${run.entries.length}.${place}`;
    if (isParent && random.chance(70))
      return { id, name: "delegate", args: delegateArgs(run, id, random), problem: null };
    const path = mayMisbehave && random.chance(20) ? "same" : id;
    return { id, name: random.of(["read", "shell"]), args: { path }, problem: null };
  });
  return { text, calls, stopReason: "tool_calls" };

  function delegateArgs(asking: SimulatedRun, id: string, chance: Random): ToolCall["args"] {
    const handles = Object.values(asking.context.batches)
      .filter(({ streaming }) => streaming)
      .flatMap(runningTasks);
    if (handles.length > 0 && chance.chance(40)) return { cancel: chance.of(handles).handle };
    if (mayMisbehave && chance.chance(5)) return { agent: "missing", task: id };
    if (chance.chance(40)) return taskArgs(asking, `${id} alone`, chance);
    const count = 1 + chance.below(4);
    const tasks = Array.from({ length: count }, (_, place) => ({
      ...taskArgs(asking, `${id} task ${place}`, chance),
      name: `t${place}`,
      after: place > 0 && chance.chance(25) ? [`t${chance.below(place)}`] : [],
    }));
    return {
      tasks,
      ...(chance.chance(30)
        ? { mode: chance.of(["parallel", mayStream ? "parallel_streaming" : "parallel", "sequential"]) }
        : {}),
      policy: chance.of(["continue", "continue", "all", "any", `quorum ${1 + chance.below(count)}`]),
    };
  }
}

function taskArgs({ pin }: SimulatedRun, task: string, random: Random) {
  const ids = pin.targets.map(({ id }) => id);
  return {
    agent: random.of(ids),
    task,
    ...(random.chance(30) ? { context: random.of(["task_only", "summary", "full"]) } : {}),
    ...(random.chance(15) ? { limits: { max_tokens: 1_200 + random.below(2_000) } } : {}),
    ...(random.chance(15) ? { limits: { max_tool_calls: 1 + random.below(3) } } : {}),
    ...(random.chance(15) ? { retry: { max_attempts: 3, alternative: random.of(ids) } } : {}),
  };
}

/** For the log of a schedule. */
export function describeReply({ text, calls }: ReplyContent): string {
  if (calls.length === 0) return `answers ${text.length} characters`;
  const asked = calls.map(({ name, args }) => (isDelegate(name) ? `delegate ${JSON.stringify(args)}` : name));
  return `asks for ${asked.join(" and ")}`;
}

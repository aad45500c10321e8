import type { DelegationTarget } from "../protocol/entry.ts";
import type { ToolSpec } from "../protocol/tool.ts";

type JsonSchema = ToolSpec["inputSchema"];

/** The delegation tool as a model sees it. Its `agent` accepts only agents that this run can reach. */
export function delegateSpec(targets: readonly Pick<DelegationTarget, "id" | "description">[]): ToolSpec {
  const list = targets.map(({ id, description }) => `- ${id}: ${description}`).join("\n");
  const ids = targets.map(({ id }) => id);
  return {
    name: "delegate",
    description: `Gives self-contained work to other agents and returns their results, in the order asked. Either one task (agent, task) or several at once (tasks); several calls in one turn run side by side too. An agent sees only what you pass and cannot ask back.\nAgents:\n${list}`,
    risk: "low",
    effect: "idempotent",
    groups: [],
    inputSchema: {
      type: "object",
      properties: {
        ...taskProperties(ids),
        tasks: {
          type: "array",
          description: "Several tasks instead of one.",
          items: {
            type: "object",
            properties: taskProperties(ids),
            required: ["agent", "task"],
            additionalProperties: false,
          },
        },
        mode: {
          type: "string",
          enum: ["parallel", "parallel_streaming", "sequential"],
          description: "Of tasks. parallel_streaming: you get the first result at once and each later one as it comes.",
        },
        policy: {
          type: "string",
          enum: ["continue", "all", "any", "quorum"],
          description:
            "Of tasks. all: a failure stops what has not started. any, quorum: enough successes stop the rest.",
        },
        quorum: { type: "integer", minimum: 1, description: "How many have to succeed, with policy quorum." },
        cancel: {
          type: "array",
          items: { type: "string" },
          description: "Instead of tasks: handles of streaming tasks to stop.",
        },
      },
      additionalProperties: false,
    },
  };
}

function taskProperties(ids: readonly string[]): JsonSchema {
  const text = (description: string): JsonSchema => ({ type: "string", description });
  const number = { type: "integer", minimum: 1 };
  return {
    agent: { type: "string", enum: [...ids] },
    task: text("Everything the agent has to know and do."),
    name: text("What after and results call this task."),
    success_criteria: text("How to tell that it is done."),
    context: {
      type: "string",
      enum: ["task_only", "summary", "full", "selective"],
      description: "What it gets of this conversation besides the task; selective: only context_files.",
    },
    context_files: { type: "array", items: { type: "string" }, description: "Files whose content comes along." },
    after: {
      type: "array",
      items: { type: "string" },
      description: "Names of tasks that it waits for; it gets their results.",
    },
    output_schema: { type: "object", description: "JSON Schema that its answer has to fit." },
    limits: {
      type: "object",
      description: "Tighter limits than its own.",
      properties: {
        max_iterations: number,
        max_tool_calls: number,
        max_duration_ms: number,
        max_tokens: number,
        max_cost_usd: { type: "number", exclusiveMinimum: 0 },
      },
      additionalProperties: false,
    },
    retry: {
      type: "object",
      properties: {
        max_attempts: number,
        backoff_ms: { type: "integer", minimum: 0 },
        on: { type: "array", items: { type: "string" }, description: "Error types." },
        alternative: { type: "string", enum: [...ids], description: "Who is asked when all attempts failed." },
      },
      additionalProperties: false,
    },
  };
}

import type { DelegationTarget } from "../protocol/entry.ts";
import type { ToolSpec } from "../protocol/tool.ts";

type InputSchema = ToolSpec["inputSchema"];

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
          description:
            "For tasks. parallel_streaming: you get the first result at once and each later one as it arrives.",
        },
        policy: {
          type: "string",
          enum: ["continue", "all", "any", "quorum"],
          description:
            "For tasks. all: a failure stops tasks that have not started. any, quorum: enough successes stop the rest.",
        },
        quorum: {
          type: "integer",
          minimum: 1,
          description: "Number of tasks that have to succeed, with policy quorum.",
        },
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

function taskProperties(ids: readonly string[]): InputSchema {
  const text = (description: string): InputSchema => ({ type: "string", description });
  const number = { type: "integer", minimum: 1 };
  return {
    agent: { type: "string", enum: [...ids] },
    task: text("Everything that the agent has to know and do."),
    name: text("Name of this task, for `after` and the results."),
    success_criteria: text("How to tell that it is done."),
    context: {
      type: "string",
      enum: ["task_only", "summary", "full", "selective"],
      description: "The part of this conversation that it gets besides the task. selective: only context_files.",
    },
    context_files: {
      type: "array",
      items: { type: "string" },
      description: "Files to send along, with their content.",
    },
    after: {
      type: "array",
      items: { type: "string" },
      description: "Names of tasks to wait for. It gets their results.",
    },
    output_schema: { type: "object", description: "JSON Schema of its answer." },
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
        alternative: {
          type: "string",
          enum: [...ids],
          description: "Agent for one more attempt after all others have failed.",
        },
      },
      additionalProperties: false,
    },
  };
}

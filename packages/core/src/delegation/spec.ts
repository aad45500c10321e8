import type { ToolSpec } from "../protocol/tool.ts";
import type { AgentListing } from "./agent-list.ts";
import { findAgentSpec } from "./find-agent.ts";

type InputSchema = ToolSpec["inputSchema"];

/**
 * The delegation tools as a model sees them: one task, several tasks, and stopping tasks. A list that leaves something out
 * comes with a search. Advice is in the prompt, and each field is described once, for one task.
 *
 * @param says the list itself, for a run whose prompt does not have it
 */
export function delegationSpecs({ ids, text, isShortened }: AgentListing, says: "list" | "ids"): ToolSpec[] {
  const agents = says === "list" ? `\nAgents:\n${text}` : "";
  const agent: InputSchema = { type: "string", ...(ids === null ? {} : { enum: [...ids] }) };
  return [
    toolOf("delegate", {
      description: `Gives one self-contained task to another agent and returns its result. It sees only what you pass and cannot ask back.${agents}`,
      properties: { agent, ...taskProperties },
      required: ["agent", "task"],
    }),
    toolOf("delegate_batch", {
      description: "Gives several tasks, each with the fields of delegate. The results come in the order asked.",
      properties: batchProperties(agent),
      required: ["tasks"],
    }),
    toolOf("delegate_cancel", {
      description: "Stops streaming tasks.",
      properties: { cancel: { ...texts, description: "Their handles" } },
      required: ["cancel"],
    }),
    ...(isShortened ? [findAgentSpec] : []),
  ];
}

function toolOf(
  name: string,
  { description, ...schema }: { description: string; properties: InputSchema; required: string[] },
): ToolSpec {
  const inputSchema = { type: "object", ...schema };
  return { name, description, risk: "low", effect: "idempotent", groups: [], inputSchema };
}

const text = { type: "string" };
const texts = { type: "array", items: text };
const integer = { type: "integer" };
const object = { type: "object" };

const taskProperties: InputSchema = {
  task: { ...text, description: "All that it has to know and do" },
  success_criteria: { ...text, description: "How to tell that it is done" },
  context: {
    ...text,
    enum: ["task_only", "summary", "full", "selective"],
    description: "How much of this conversation it gets. selective: only context_files",
  },
  context_files: { ...texts, description: "Files to send along" },
  output_schema: { ...object, description: "JSON Schema of its answer" },
  limits: {
    ...object,
    description: "Tighter limits than its own",
    properties: {
      max_iterations: integer,
      max_tool_calls: integer,
      max_duration_ms: integer,
      max_tokens: integer,
      max_cost_usd: { type: "number" },
    },
  },
  retry: {
    ...object,
    properties: {
      max_attempts: integer,
      backoff_ms: integer,
      on: { ...texts, description: "Error types" },
      alternative: { ...text, description: "Agent for a last attempt" },
    },
  },
};

function batchProperties(agent: InputSchema): InputSchema {
  return {
    tasks: {
      type: "array",
      items: {
        ...object,
        properties: {
          name: text,
          agent,
          task: text,
          after: { ...texts, description: "Names of tasks to wait for; it gets their results" },
          success_criteria: text,
          context: text,
          context_files: texts,
          output_schema: object,
          limits: object,
          retry: object,
        },
        required: ["agent", "task"],
      },
    },
    mode: {
      ...text,
      enum: ["parallel", "parallel_streaming", "sequential"],
      description: "parallel_streaming: each result comes as soon as it is there",
    },
    policy: {
      ...text,
      enum: ["continue", "all", "any", "quorum"],
      description: "all: a failure stops tasks that have not started. any, quorum: enough successes stop the rest",
    },
    quorum: { ...integer, description: "Successes that policy quorum needs" },
  };
}

/** The delegation tools as a model sees them say nothing that their arguments would not take. */
import { describe, expect, test } from "vitest";
import { ToolSpec } from "../protocol/tool.ts";
import { listAgents } from "./agent-list.ts";
import { readDelegateCall } from "./arguments.ts";
import { delegationSpecs } from "./spec.ts";

const agents = [
  { id: "coder", description: "writes code" },
  { id: "tester", description: "tests it" },
];
const list = listAgents(agents);

// biome-ignore lint/suspicious/noExplicitAny: JSON schemas, looked into by their paths
function schemaOf(name: string, specs = delegationSpecs(list, "ids")): any {
  return specs.find((spec) => spec.name === name)?.inputSchema;
}

const one = schemaOf("delegate").properties;
const batch = schemaOf("delegate_batch").properties;

test("is a tool that names the available agents", () => {
  const specs = delegationSpecs(list, "ids");
  for (const spec of specs) expect(ToolSpec.parse(spec)).toEqual(spec);
  expect(one.agent.enum).toEqual(["coder", "tester"]);
  expect(batch.tasks.items.properties.agent.enum).toEqual(["coder", "tester"]);
});

test("each tool has its required fields", () => {
  expect(schemaOf("delegate").required).toEqual(["agent", "task"]);
  expect(schemaOf("delegate_batch").required).toEqual(["tasks"]);
  expect(batch.tasks.items.required).toEqual(["agent", "task"]);
  expect(schemaOf("delegate_cancel").required).toEqual(["cancel"]);
});

test("the list of agents is in the description only if the prompt does not have it", () => {
  const listed = (says: "list" | "ids") =>
    delegationSpecs(list, says).filter(({ description }) => description.includes("writes code"));
  expect(listed("ids")).toEqual([]);
  expect(listed("list").map(({ description }) => description.split("\nAgents:\n")[1])).toEqual([list.text]);
});

describe("a list that leaves something out", () => {
  const specs = delegationSpecs({ text: "a and 1 more", ids: null, isShortened: true }, "ids");

  test("comes with a search, and without ids in the schemas", () => {
    expect(specs.map(({ name }) => name)).toEqual(["delegate", "delegate_batch", "delegate_cancel", "find_agent"]);
    expect(schemaOf("delegate", specs).properties.agent).toEqual({ type: "string" });
    expect(schemaOf("delegate_batch", specs).properties.tasks.items.properties.agent).toEqual({ type: "string" });
  });

  test("is the only one with a search", () => {
    expect(delegationSpecs(list, "ids").map(({ name }) => name)).not.toContain("find_agent");
  });
});

const sample: Record<string, unknown> = {
  agent: "coder",
  task: "x",
  success_criteria: "x",
  context_files: ["a.md"],
  output_schema: { type: "object" },
  limits: { max_iterations: 1, max_tool_calls: 1, max_duration_ms: 1, max_tokens: 1, max_cost_usd: 0.1 },
  retry: { max_attempts: 2, backoff_ms: 0, on: ["network"], alternative: "tester" },
};
const inBatch = { ...sample, name: "x", after: ["x"] };

test.each(["task_only", "summary", "full", "selective"])("accepts the context %s", (context) => {
  expect(one.context.enum).toContain(context);
  expect(readDelegateCall({ ...sample, context })).toHaveProperty("call");
});

test("accepts every property of a task as its schema describes it", () => {
  expect(Object.keys(one).sort()).toEqual([...Object.keys(sample), "context"].sort());
  expect(Object.keys(batch.tasks.items.properties).sort()).toEqual([...Object.keys(inBatch), "context"].sort());
  expect(Object.keys(one.limits.properties)).toEqual(Object.keys(sample.limits as object));
  expect(Object.keys(one.retry.properties)).toEqual(Object.keys(sample.retry as object));
  expect(readDelegateCall(sample)).toHaveProperty("call");
  expect(readDelegateCall({ tasks: [inBatch] })).toHaveProperty("call");
  expect(readDelegateCall({ cancel: ["1.0.1"] })).toHaveProperty("call");
});

test("accepts every mode and policy", () => {
  for (const mode of batch.mode.enum) {
    for (const policy of batch.policy.enum) {
      expect(readDelegateCall({ tasks: [sample], mode, policy, quorum: 1 })).toHaveProperty("call");
    }
  }
});

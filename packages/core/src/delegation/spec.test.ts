/** The delegation tool as a model sees it says nothing that its arguments would not take. */
import { expect, test } from "vitest";
import { ToolSpec } from "../protocol/tool.ts";
import { readDelegateCall } from "./arguments.ts";
import { delegateSpec } from "./spec.ts";

const spec = delegateSpec([
  { id: "coder", description: "writes code" },
  { id: "tester", description: "tests it" },
]);

// biome-ignore lint/suspicious/noExplicitAny: a JSON schema, looked into by its paths
const properties = spec.inputSchema.properties as any;

test("is a tool that names the available agents", () => {
  expect(ToolSpec.parse(spec)).toEqual(spec);
  expect(spec.description).toContain("- coder: writes code\n- tester: tests it");
  expect(properties.agent.enum).toEqual(["coder", "tester"]);
  expect(properties.tasks.items.properties.agent.enum).toEqual(["coder", "tester"]);
  expect(properties.retry.properties.alternative.enum).toEqual(["coder", "tester"]);
});

const samples: Record<string, unknown> = {
  agent: "coder",
  task: "x",
  name: "x",
  success_criteria: "x",
  context_files: ["a.md"],
  after: ["x"],
  output_schema: { type: "object" },
  limits: { max_iterations: 1, max_tool_calls: 1, max_duration_ms: 1, max_tokens: 1, max_cost_usd: 0.1 },
  retry: { max_attempts: 2, backoff_ms: 0, on: ["network"], alternative: "tester" },
};

test.each(["task_only", "summary", "full", "selective"])("accepts the context %s", (context) => {
  expect(properties.context.enum).toContain(context);
  expect(readDelegateCall({ ...samples, context })).toHaveProperty("call");
});

test("accepts every property of a task as its schema describes it", () => {
  expect(Object.keys(properties.tasks.items.properties).sort()).toEqual([...Object.keys(samples), "context"].sort());
  expect(Object.keys(properties.limits.properties)).toEqual(Object.keys(samples.limits as object));
  expect(Object.keys(properties.retry.properties)).toEqual(Object.keys(samples.retry as object));
  expect(readDelegateCall({ tasks: [samples] })).toHaveProperty("call");
});

test("accepts every mode and policy", () => {
  for (const mode of properties.mode.enum) {
    for (const policy of properties.policy.enum) {
      expect(readDelegateCall({ tasks: [samples], mode, policy, quorum: 1 })).toHaveProperty("call");
    }
  }
});

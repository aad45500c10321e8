/** A model's arguments for a delegation are renamed to troupe's names, or refused in one line with the reason. */
import { describe, expect, test } from "vitest";
import { type DelegateTask, readDelegateCall } from "./arguments.ts";

const one = { agent: "coder", task: "write hello.md" };

function taskOf(args: unknown): DelegateTask {
  const read = readDelegateCall(args);
  if ("error" in read || read.call.kind !== "tasks") throw new Error(`no task: ${JSON.stringify(read)}`);
  return read.call.tasks[0] as DelegateTask;
}

function callOf(args: unknown) {
  const read = readDelegateCall(args);
  if ("error" in read) throw new Error(read.error);
  return read.call;
}

describe("one task", () => {
  test("has defaults for all missing fields", () => {
    expect(readDelegateCall(one)).toEqual({
      call: {
        kind: "tasks",
        batch: false,
        mode: null,
        policy: { kind: "continue" },
        tasks: [
          {
            name: "coder",
            agent: "coder",
            task: "write hello.md",
            contextMode: null,
            contextFiles: [],
            successCriteria: null,
            after: [],
            outputSchema: null,
            limits: {},
            retry: {},
          },
        ],
      },
    });
  });

  test.each([
    ["role", { role: "coder", task: "x" }],
    ["subagent_type and prompt", { subagent_type: "coder", prompt: "x" }],
    ["description alone", { agent: "coder", description: "x" }],
    ["a description besides the prompt", { subagent_type: "coder", description: "short", prompt: "x" }],
    ["blanks around", { agent: "coder", task: "  x\n" }],
    ["nulls", { agent: "coder", role: null, task: "x", after: null, limits: { max_tokens: null }, retry: null }],
    ["no handles to stop, no list of tasks", { agent: "coder", task: "x", cancel: [], tasks: [] }],
    ["unknown keys", { agent: "coder", task: "x", thoroughness: "high" }],
  ])("accepts other names for the same argument: %s", (_, args) => {
    expect(taskOf(args)).toMatchObject({ agent: "coder", task: "x" });
  });

  test("nulls in a list of tasks are dropped; in a schema they are kept", () => {
    const output_schema = { enum: ["yes", null] };
    const call = callOf({ tasks: [{ ...one, name: null, output_schema }], quorum: null });
    expect(call).toMatchObject({ tasks: [{ name: "1", outputSchema: output_schema }] });
  });

  test.each([
    ["task_only", "task_only"],
    ["summary", "summary"],
    ["full", "full"],
    ["full_history", "full"],
    ["selective", "selective"],
  ])("context %s is %s", (context, contextMode) => {
    expect(taskOf({ ...one, context }).contextMode).toBe(contextMode);
  });

  test("files without a context select the context of files only", () => {
    expect(taskOf({ ...one, context_files: ["a.md"] })).toMatchObject({
      contextMode: "selective",
      contextFiles: ["a.md"],
    });
    expect(taskOf({ ...one, context_files: ["a.md"], context: "full" }).contextMode).toBe("full");
  });

  test("only the given limits and retry fields are set, under troupe's names", () => {
    const limits = {
      max_iterations: 2,
      max_tool_calls: 3,
      max_duration_ms: 4,
      max_tokens: 5,
      max_cost_usd: 0.6,
      max_context_tokens: 7,
    };
    const retry = { max_attempts: 3, backoff_ms: 0, on: ["timeout"], alternative: "tester" };
    expect(taskOf({ ...one, limits, retry })).toMatchObject({
      limits: {
        maxIterations: 2,
        maxToolCalls: 3,
        maxDurationMs: 4,
        maxTokens: 5,
        maxCostUsd: 0.6,
        maxContextTokens: 7,
      },
      retry: { maxAttempts: 3, backoffMs: 0, on: ["timeout"], alternative: "tester" },
    });
    expect(taskOf({ ...one, limits: { max_tokens: 5 } }).limits).toEqual({ maxTokens: 5 });
  });

  test("blank criteria are dropped", () => {
    expect(taskOf({ ...one, success_criteria: "  " }).successCriteria).toBeNull();
    expect(taskOf({ ...one, success_criteria: " it runs " }).successCriteria).toBe("it runs");
  });
});

describe("several tasks", () => {
  test("without names get their positions as names, in the given order", () => {
    expect(callOf({ tasks: [one, { ...one, name: "second" }, one] })).toMatchObject({
      batch: true,
      tasks: [{ name: "1" }, { name: "second" }, { name: "3" }],
    });
  });

  test.each([
    [{}, { kind: "continue" }],
    [{ policy: "any" }, { kind: "any" }],
    [{ policy: " ALL " }, { kind: "all" }],
    [
      { policy: "quorum", quorum: 2 },
      { kind: "quorum", count: 2 },
    ],
    [{ policy: "quorum 2" }, { kind: "quorum", count: 2 }],
    [{ policy: "quorum:2" }, { kind: "quorum", count: 2 }],
    [
      { policy: "quorum: 1", quorum: 2 },
      { kind: "quorum", count: 1 },
    ],
    [{ policy: { quorum: 2 } }, { kind: "quorum", count: 2 }],
  ])("the policy of %j is %j", (given, policy) => {
    expect(callOf({ tasks: [one, one], ...given })).toMatchObject({ policy });
  });

  test.each(["parallel", "parallel_streaming", "sequential"])("mode %s", (mode) => {
    expect(callOf({ tasks: [one], mode })).toMatchObject({ mode });
  });

  test("may be a thousand", () => {
    expect(callOf({ tasks: Array(1_000).fill(one) })).toMatchObject({ kind: "tasks" });
    expect(readDelegateCall({ tasks: Array(1_001).fill(one) })).toMatchObject({
      error: expect.stringContaining("tasks: "),
    });
  });
});

describe("stopping", () => {
  test.each([
    [
      ["1.0.2", "1.0.3"],
      ["1.0.2", "1.0.3"],
    ],
    ["1.0.2", ["1.0.2"]],
  ])("handles %j", (cancel, handles) => {
    expect(callOf({ cancel })).toEqual({ kind: "cancel", handles });
  });
});

describe("invalid arguments are reported in one line", () => {
  test.each<[string, unknown, string]>([
    ["nothing", undefined, "arguments: "],
    ["a text", "coder: write", "arguments: "],
    ["a list", [one], "arguments: "],
    ["null", null, "arguments: "],
    ["no agent", { task: "x" }, "agent: name the agent"],
    ["no task", { agent: "coder" }, "task: say what the agent should do"],
    ["a blank task", { agent: "coder", task: " " }, "task: say what the agent should do"],
    ["an agent that is not a name", { ...one, agent: "a b" }, "agent: letters, digits, _ and - only"],
    ["a task that is not a text", { agent: "coder", task: 7 }, "task: "],
    ["a task that is too long", { agent: "coder", task: "x".repeat(200_001) }, "task: "],
    ["an unknown context", { ...one, context: "some" }, "context: "],
    ["files that are not a list", { ...one, context_files: "a.md" }, "context_files: "],
    ["a cap of null", { ...one, limits: { max_tokens: 0 } }, "limits.max_tokens: "],
    ["a negative cap", { ...one, limits: { max_cost_usd: -1 } }, "limits.max_cost_usd: "],
    ["half an iteration", { ...one, limits: { max_iterations: 1.5 } }, "limits.max_iterations: "],
    ["a hundred attempts", { ...one, retry: { max_attempts: 100 } }, "retry.max_attempts: "],
    ["a retry on unknown errors", { ...one, retry: { on: ["bad luck"] } }, "retry.on.0: "],
    ["no tasks", { tasks: [] }, "tasks: give at least one task"],
    ["a task without an agent", { tasks: [one, { task: "x" }] }, "tasks.1.agent: name the agent"],
    ["a task without a task", { tasks: [one, { agent: "coder" }] }, "tasks.1.task: say what the agent should do"],
    ["an unknown mode", { tasks: [one], mode: "fast" }, "mode: "],
    ["an unknown policy", { tasks: [one], policy: "most" }, "policy: use all, any, continue or quorum"],
    [
      "a quorum without a number",
      { tasks: [one], policy: "quorum" },
      "quorum: say how many of the tasks have to succeed",
    ],
    ["a quorum of none", { tasks: [one], policy: "quorum", quorum: 0 }, "quorum: "],
    [
      "a quorum above the number of tasks",
      { tasks: [one, one], policy: "quorum 3" },
      "quorum: 3 of 2 tasks cannot succeed",
    ],
    ["no handle", { cancel: [] }, "cancel: "],
    ["a blank handle", { cancel: " " }, "cancel: "],
  ])("%s", (_, args, error) => {
    const read = readDelegateCall(args);
    expect(read).toEqual({ error: expect.stringContaining(error) });
    expect("error" in read && read.error).not.toContain("\n");
  });
});

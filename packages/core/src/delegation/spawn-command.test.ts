/** Tasks that begin with `/spawn`. Every other text is an ordinary task. */
import { describe, expect, test } from "vitest";
import { readDelegateCall } from "./arguments.ts";
import { readSpawnCommand, spawnReply } from "./spawn-command.ts";

describe("a task that begins with /spawn", () => {
  test.each([
    ["/spawn researcher Find the licences", { agent: "researcher", task: "Find the licences" }],
    ["  /spawn coding/coder\n\n# Task\n  keep  this\n", { agent: "coding/coder", task: "# Task\n  keep  this" }],
    ["/spawn coder --context summary Go on", { agent: "coder", task: "Go on", context: "summary" }],
    ["/spawn coder --context=full_history Go on", { agent: "coder", task: "Go on", context: "full" }],
    ["/spawn coder --contexts is my task", { agent: "coder", task: "--contexts is my task" }],
    ["/spawn coder explain /spawn coder", { agent: "coder", task: "explain /spawn coder" }],
  ])("%j", (text, command) => {
    expect(readSpawnCommand(text)).toEqual(command);
  });

  test.each([
    ["/spawn", "/spawn needs an agent and a task"],
    [" /spawn  ", "/spawn needs an agent and a task"],
    ["/spawn coder", "/spawn coder needs a task for the agent"],
    ["/spawn coder --context full", "/spawn coder needs a task for the agent"],
    ["/spawn coder --context all Go", '"all" is not a context for /spawn; choose one of: task_only, summary, full'],
    ["/spawn coder --context", '"" is not a context for /spawn; choose one of: task_only, summary, full'],
  ])("%j has a problem", (text, problem) => {
    expect(readSpawnCommand(text)).toEqual({ problem });
  });
});

test.each([
  "explain /spawn coder",
  "/spawned coder Go",
  "/Spawn coder Go",
  "/plan coder Go",
  "//spawn a b",
  "spawn a b",
  "",
])("%j is an ordinary task", (text) => {
  expect(readSpawnCommand(text)).toBeNull();
});

describe("the reply in place of a model", () => {
  test("is one delegation that costs nothing", () => {
    const reply = spawnReply({ agent: "coder", task: "Go" }, { context: null });
    expect(reply).toMatchObject({ text: "", stopReason: "tool_calls", usage: { inputTokens: 0, costUsd: 0 } });
    expect(reply.calls).toEqual([
      { id: "spawn-1", name: "delegate", args: { agent: "coder", task: "Go" }, problem: null },
    ]);
  });

  test("passes on the context mode, and piped input with the task", () => {
    const { calls } = spawnReply({ agent: "coder", task: "Go", context: "summary" }, { context: "a log" });
    expect(readDelegateCall(calls[0]?.args)).toMatchObject({
      call: { tasks: [{ agent: "coder", task: "Go\n\nContext:\na log", contextMode: "summary" }], batch: false },
    });
  });
});

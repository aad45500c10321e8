// The demo is the first thing anybody sees. Here its script is played without machines, with the real tools and time
// added up, so that a change of its words cannot break its plot or its length.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Message, ToolCall, ToolContext } from "@troupe/core";
import type { Scenario } from "@troupe/models";
import { loadScenario, selectReply } from "@troupe/models";
import { expect } from "vitest";
import { z } from "zod";
import { createFileTools } from "./files/create-file-tools.ts";
import { createSandbox } from "./sandbox/create-sandbox.ts";
import { createSearchTools } from "./search/create-search-tools.ts";
import { createToolHost } from "./tool-host.ts";
import { workspaceTest as test } from "./workspace.fixture.ts";

const retryBackoffMs = 1_000;

const Delegation = z.strictObject({
  agent: z.string(),
  task: z.string(),
  context: z.string().optional(),
  success_criteria: z.string().optional(),
});

interface Play {
  scenario: Scenario;
  context: ToolContext;
  /** The runs in the order of their ends: agent, depth, attempt. */
  runs: string[];
  /** Names of the tools used, by agent. */
  tools: Set<string>;
}

interface Scene {
  agent: string;
  task: string;
  depth: number;
  attempt: number;
}

interface Ending {
  /** Along the slowest branch. */
  durationMs: number;
  text: string;
}

async function play(scene: Scene, stage: Play): Promise<Ending> {
  const messages: Message[] = [{ role: "user", text: scene.task }];
  let durationMs = 0;
  for (let step = 1; ; step++) {
    const { latencyMs, outcome } = selectReply(stage.scenario, { ...scene, step, messages });
    durationMs += latencyMs;
    if (outcome.kind === "error") {
      if (!outcome.error.recoverable || scene.attempt > 1) throw new Error(outcome.error.message);
      const again = await play({ ...scene, attempt: scene.attempt + 1 }, stage);
      return { ...again, durationMs: durationMs + retryBackoffMs + again.durationMs };
    }
    const { text, calls } = outcome.reply;
    if (calls.length === 0) {
      stage.runs.push(`${scene.agent} at depth ${scene.depth}, attempt ${scene.attempt}`);
      return { durationMs, text };
    }
    const results = await Promise.all(calls.map((call) => answer(call, scene, stage)));
    durationMs += Math.max(...results.map((result) => result.durationMs));
    messages.push({ role: "assistant", text, calls });
    messages.push(
      ...calls.map(({ id, name }, i) => ({
        role: "tool" as const,
        callId: id,
        name,
        text: results[i]?.text ?? "",
        isError: false,
      })),
    );
  }
}

const sandbox = await createSandbox();

async function answer(call: ToolCall, { agent, depth }: Scene, stage: Play): Promise<Ending> {
  if (call.name === "delegate") {
    const { agent: target, task } = Delegation.parse(call.args);
    const ending = await play({ agent: target, task, depth: depth + 1, attempt: 1 }, stage);
    return { ...ending, text: JSON.stringify({ status: "completed", summary: ending.text.split("\n", 1)[0] }) };
  }
  stage.tools.add(`${agent}: ${call.name}`);
  const outcome = await createToolHost({ tools: [...createFileTools(), ...createSearchTools({ sandbox })] }).run(
    call,
    stage.context,
  );
  expect(outcome.error).toBeNull();
  return { durationMs: 0, text: outcome.output };
}

test("the demo shows each promised feature, in 16 to 18 seconds", async ({ folder, context }) => {
  const grant = { ...context.grant, tools: ["read", "write", "search"] };
  const stage: Play = {
    scenario: await loadScenario("demo"),
    context: { ...context, grant },
    runs: [],
    tools: new Set(),
  };

  const { durationMs, text } = await play({ agent: "main", task: "greet the moon", depth: 0, attempt: 1 }, stage);

  expect(durationMs).toBeGreaterThanOrEqual(16_000);
  expect(durationMs).toBeLessThanOrEqual(18_000);
  expect(stage.runs.toSorted()).toEqual([
    "coder at depth 1, attempt 1",
    "main at depth 0, attempt 1",
    "researcher at depth 1, attempt 1",
    "researcher at depth 1, attempt 2",
    "tester at depth 2, attempt 1",
  ]);
  expect([...stage.tools].sort()).toEqual([
    "coder: write",
    "main: write",
    "researcher: read",
    "tester: read",
    "tester: search",
  ]);
  expect(text).toContain("This was a demo: no model was called");
  expect(text).toContain("greet the moon");
  const report = await readFile(join(folder, "REPORT.md"), "utf8");
  expect(report).toContain("greet the moon");
  expect(report).toContain("This was a demo.");
  expect(report).not.toContain("no result");
  expect(await readFile(join(folder, "hello.html"), "utf8")).toContain("Hello from your team");
});

test("the demo is labelled as one", async () => {
  expect(await loadScenario("demo")).toMatchObject({ name: "demo", demo: true });
});

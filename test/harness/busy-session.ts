import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { askBeforeShell, writeAgent, writePolicy } from "./home-files.ts";
import { writeScenario } from "./scenario-file.ts";
import { delegate, shell } from "./scripted-calls.ts";

/**
 * A session in which there is everything that can be under way: a graph of tasks with a retry and a summary, a streaming
 * batch, an assessed intent, a grandchild, and commands that a stored rule allows where people would be asked.
 */
export async function writeBusySession(home: string, latencyMs: number) {
  const workspace = path.join(home, "work");
  await mkdir(workspace);
  await writePolicy(home, askBeforeShell);
  await writeFile(path.join(home, "rules.json"), JSON.stringify({ version: 1, rules: ["shell", "write"].map(rule) }));
  await writeAgent(home, "thinker", { tools: ["read"], troupe: { intent: "model" } });
  await writeAgent(home, "boss", {
    tools: ["read", "write", "shell"],
    subagents: { allow: ["researcher", "coder", "thinker"] },
  });

  function rule(tool: string, i: number) {
    const id = `01a1ef83-2982-7c8e-9aa4-91${i}dae5d1f12`;
    const fits = { argsHash: null, args: null, workspace, agent: null };
    return { id, decision: "allow", tool, ...fits, createdAt: "2026-01-01T00:00:00.000Z", by: "ada" };
  }

  const graph = [
    { name: "join", agent: "thinker", task: "join", after: ["flaky", "build"] },
    { name: "survey", agent: "researcher", task: "survey", context: "summary" },
    { name: "flaky", agent: "researcher", task: "flaky", retry: { max_attempts: 2, backoff_ms: 50 } },
    { name: "build", agent: "coder", task: "build", after: ["survey"] },
  ];
  const stream = ["quick", "slow"].map((task) => ({ agent: "researcher", name: task, task }));
  const say = (text: string) => ({ steps: [{ text, latencyMs }] });
  const scenario = await writeScenario(home, {
    boss: [
      {
        summary: { text: "a plan was made", latencyMs },
        steps: [
          { latencyMs, calls: [shell("echo plan >> plan.txt")] },
          { latencyMs, text: "Now all.", calls: [{ tool: "delegate", args: { tasks: graph, policy: "all" } }] },
          { latencyMs, calls: [{ tool: "delegate", args: { tasks: stream, mode: "parallel_streaming" } }] },
          // Whether it has heard both by now hangs on how fast they were.
          { latencyMs, text: "heard of one" },
          { latencyMs, text: "heard of both" },
        ],
      },
    ],
    thinker: [
      {
        intent: { text: '{"risk":"low","expected_format":"a word","success_criteria":"it is one"}', latencyMs },
        ...say("joined"),
      },
    ],
    researcher: [
      {
        when: { task: "flaky", attempt: 1 },
        steps: [
          { latencyMs, text: "I was…", error: { type: "network", message: "lost", recoverable: true, tries: 5 } },
        ],
      },
      { when: { task: "slow" }, steps: [{ latencyMs: 4 * latencyMs, text: "slowly done" }] },
      say("{{task}} done"),
    ],
    coder: [
      {
        steps: [
          { latencyMs, calls: [shell("echo built >> built.txt"), delegate("tester", "test")] },
          { latencyMs, text: "built" },
        ],
      },
    ],
    tester: [
      {
        steps: [
          {
            latencyMs,
            calls: [{ tool: "write", args: { path: "tests.md", content: "one test" } }, shell("sleep 0.1; ls")],
          },
          { latencyMs, text: "tested" },
        ],
      },
    ],
  });
  return { agent: "boss", workspace, scenario };
}

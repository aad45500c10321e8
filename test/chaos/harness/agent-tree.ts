import { mkdir } from "node:fs/promises";
import path from "node:path";
import { writeAgent } from "../../harness/home-files.ts";
import { type Agents, writeScenario } from "../../harness/scenario-file.ts";
import { delegate } from "../../harness/scripted-calls.ts";

/** Agents of the tree that is played, from its root down. */
export const treeAgents = (suffix = "") =>
  ({
    boss: `boss${suffix}`,
    builder: `builder${suffix}`,
    surveyor: `surveyor${suffix}`,
    checker: `checker${suffix}`,
  }) as const;

export type TreeAgents = ReturnType<typeof treeAgents>;

/** Runs of one session, and the calls that they make when nothing goes wrong. */
export const runsPerSession = 5;
export const modelCallsPerSession = 12;
export const toolCallsPerSession = 7;

export interface TreeScenarioOptions {
  /** The scenario's file comes here. */
  folder: string;
  /** Part of every command line, so that a check can find leftover processes. */
  mark: string;
  /** How long a model takes to answer. */
  latencyMs: number;
  trees?: readonly TreeAgents[];
  /** Additional agents with their scripted replies. */
  more?: Agents;
}

/**
 * Scripted replies of a session that covers everything: a root with three parallel children, a grandchild, and calls
 * that may be repeated (`ls`), can be verified (`write`) and must never happen twice (`shell`). Returns the scenario's
 * file.
 */
export async function writeTreeScenario(options: TreeScenarioOptions): Promise<string> {
  const { folder, mark, latencyMs, trees = [treeAgents()], more = {} } = options;
  await mkdir(folder, { recursive: true });
  const shell = (what: string) => ({ tool: "shell", args: { command: `echo ${what} >> calls.txt # ${mark}` } });
  const write = (file: string) => ({ tool: "write", args: { path: file, content: `${file}, whole\n` } });
  const agents: Agents = {};
  for (const { boss, builder, surveyor, checker } of trees) {
    const tasks = [
      { name: "build", agent: builder, task: "build" },
      { name: "survey", agent: surveyor, task: "survey" },
      { name: "check", agent: checker, task: "check all" },
    ];
    agents[boss] = [
      {
        steps: [
          { latencyMs, calls: [shell("plan"), write("plan.md")] },
          { latencyMs, calls: [{ tool: "delegate", args: { tasks, policy: "all" } }] },
          { latencyMs, text: "all done" },
        ],
      },
    ];
    agents[builder] = [
      {
        steps: [
          { latencyMs, calls: [write("built.md"), shell("build")] },
          { latencyMs, calls: [delegate(checker, "check the build")] },
          { latencyMs, text: "built" },
        ],
      },
    ];
    agents[surveyor] = [
      {
        steps: [
          { latencyMs, calls: [{ tool: "ls", args: {} }] },
          { latencyMs, text: "surveyed" },
        ],
      },
    ];
    agents[checker] = [
      {
        steps: [
          { latencyMs, calls: [shell("check")] },
          { latencyMs, text: "checked" },
        ],
      },
    ];
  }
  return await writeScenario(folder, { ...agents, ...more }, "company");
}

/** The definitions of the casts, with an hour each: a server that is away counts against a run's time. For a process that serves them. */
export async function writeTreeAgents(home: string, trees: readonly TreeAgents[] = [treeAgents()]): Promise<void> {
  await mkdir(path.join(home, "agents"), { recursive: true });
  const troupe = { limits: { maxDurationMs: 3_600_000 } };
  for (const { boss, builder, surveyor, checker } of trees) {
    await writeAgent(home, boss, {
      tools: ["shell", "write"],
      subagents: { allow: [builder, surveyor, checker] },
      troupe,
    });
    await writeAgent(home, builder, { tools: ["shell", "write"], subagents: { allow: [checker] }, troupe });
    await writeAgent(home, surveyor, { tools: ["ls"], troupe });
    await writeAgent(home, checker, { tools: ["shell"], troupe });
  }
}

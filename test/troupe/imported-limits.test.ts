// Agent files of Claude Code, as a user copies them into a project: their limits hold, over a real HTTP model server.
import { execFile } from "node:child_process";
import { access, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { createProjectTrust } from "@troupe/tools";
import { createTroupe, defineTool, type Troupe } from "troupe";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type ModelServerOptions, startModelServer } from "../harness/model-server/start-model-server.ts";
import { writeSampleRepository } from "../harness/sample-repository.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const exec = promisify(execFile);

type Cleanup = Parameters<typeof tempFolder>[1];

interface Project {
  troupe: Troupe;
  folder: string;
  /** Names of the tools that the model was offered, by request. */
  offered(): string[][];
}

const send = defineTool({
  name: "send",
  description: "Sends something.",
  input: z.strictObject({ to: z.string() }),
  risk: "high",
  effect: "unsafe",
  run: async ({ to }) => ({ output: `sent to ${to}` }),
});

const issue = defineTool({
  name: "mcp__tracker__create_issue",
  description: "Creates an issue.",
  input: z.strictObject({ title: z.string() }),
  risk: "low",
  effect: "unsafe",
  groups: ["filesystem"],
  run: async () => ({ output: "created" }),
});

async function openProject(
  test: Cleanup,
  files: Record<string, string>,
  agents: ModelServerOptions["scenario"]["agents"],
): Promise<Project> {
  const folder = path.join(await tempFolder("imported", test), "project");
  await writeSampleRepository(folder);
  await mkdir(path.join(folder, ".claude/agents"), { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, ".claude/agents", name), text);
  const server = await startModelServer({ scenario: { agents }, rootAgent: "planner" });
  test.onTestFinished(() => server.close());
  const home = path.join(path.dirname(folder), "home");
  const env = { HOME: home, PATH: process.env.PATH, TROUPE_HOME: home };
  await mkdir(home);
  // The project's planner and coder replace the shipped ones, so the user has to accept them.
  const trust = createProjectTrust({ file: path.join(home, "trust.json") });
  await trust.acceptDefinitions(folder, ".claude/agents", { at: "2026-11-18T12:00:00.000Z", by: "me" });
  const troupe = await createTroupe({
    workspace: folder,
    store: "memory",
    model: "anthropic/claude-opus-5",
    tools: [send, issue],
    env: { ...env, ANTHROPIC_API_KEY: "sk-ant-test", ANTHROPIC_BASE_URL: server.anthropicUrl },
  });
  test.onTestFinished(() => troupe.close());
  const toolNames = (body: unknown): string[] =>
    ((body as { tools?: { name: string }[] }).tools ?? []).map(({ name }) => name);
  return { troupe, folder, offered: () => server.calls().map(({ body }) => toolNames(body)) };
}

function agentFile(name: string, ...lines: string[]): string {
  return ["---", `name: ${name}`, "description: Works.", ...lines, "---", "You work.", ""].join("\n");
}

const exists = (file: string) =>
  access(file).then(
    () => true,
    () => false,
  );

const changing = ["write", "edit", "shell", "git", "git_commit", "notes", "mcp__tracker__create_issue", "send"];

describe("permissionMode: plan", () => {
  test("gives no tool that changes something, by no name, and neither does delegating", async (context) => {
    const { troupe, folder, offered } = await openProject(
      context,
      {
        "planner.md": agentFile(
          "planner",
          "permissionMode: plan",
          "tools: Read, Write, Edit, Bash, filesystem, git, mcp__tracker__*, send, Agent(coder)",
        ),
        "coder.md": agentFile("coder", "permissionMode: bypassPermissions", 'tools: "*"'),
      },
      {
        planner: [
          {
            steps: [
              { calls: [{ tool: "Write", args: { file_path: "made.txt", content: "x" } }] },
              { calls: [{ tool: "Bash", args: { command: "touch made.txt" } }] },
              { calls: [{ tool: "mcp__tracker__create_issue", args: { title: "x" } }] },
              { calls: [{ tool: "delegate", args: { agent: "coder", task: "write it" } }] },
              { text: "planned" },
            ],
          },
        ],
        coder: [
          {
            steps: [
              { calls: [{ tool: "write", args: { path: "made.txt", content: "x" } }] },
              { calls: [{ tool: "shell", args: { command: "touch made.txt" } }] },
              { text: "tried" },
            ],
          },
        ],
      },
    );
    const answer = await troupe.run("make it", { agent: "planner" });

    expect(answer).toMatchObject({
      status: "completed",
      summary: "planned",
      filesCreated: [],
      toolsUsed: ["delegate"],
    });
    expect(await exists(path.join(folder, "made.txt"))).toBe(false);
    expect(offered()).toHaveLength(8);
    expect(offered().flat()).toEqual(expect.arrayContaining(["read", "git_diff", "delegate"]));
    expect(
      offered()
        .flat()
        .filter((name) => changing.includes(name)),
    ).toEqual([]);
    const { verdicts } = await troupe.service.explain(answer.runId);
    expect(verdicts.find(({ name }) => name === "shell")).toMatchObject({ granted: false, removedBy: "planner" });
    expect((await troupe.service.agents(folder)).agents.find(({ id }) => id === "planner")).toMatchObject({
      permissionMode: "plan",
    });
  });
});

describe("isolation: worktree", () => {
  test("gives a run its own branch and leaves the project's files alone", async (context) => {
    const { troupe, folder } = await openProject(
      context,
      { "planner.md": agentFile("planner", "isolation: worktree", "tools: Write") },
      {
        planner: [
          { steps: [{ calls: [{ tool: "write", args: { path: "made.txt", content: "kept\n" } }] }, { text: "made" }] },
        ],
      },
    );
    const answer = await troupe.run("make it", { agent: "planner" });

    expect(answer).toMatchObject({ status: "completed", filesCreated: ["made.txt"] });
    expect(await exists(path.join(folder, "made.txt"))).toBe(false);
    const { stdout: branches } = await exec("git", ["branch", "--format=%(refname:short)"], { cwd: folder });
    const branch = branches.split("\n").find((name) => name.startsWith("troupe/")) ?? "";
    const { stdout } = await exec("git", ["show", `${branch}:made.txt`], { cwd: folder });
    expect(stdout).toBe("kept\n");
    expect(await troupe.service.explain(answer.runId)).toMatchObject({ workspace: "worktree" });
    expect((await troupe.service.agents(folder)).agents.find(({ id }) => id === "planner")).toMatchObject({
      workspace: "worktree",
    });
  });
});

describe("a mode that asks less in Claude Code", () => {
  test.for(["default", "acceptEdits", "dontAsk", "bypassPermissions"])(
    "asks as before: permissionMode: %s",
    async (mode, context) => {
      const { troupe, folder } = await openProject(
        context,
        { "planner.md": agentFile("planner", `permissionMode: ${mode}`, "tools: send") },
        { planner: [{ steps: [{ calls: [{ tool: "send", args: { to: "them" } }] }, { text: "tried" }] }] },
      );
      let asked = 0;
      const answer = await troupe.run("send it", {
        agent: "planner",
        onEvent(event) {
          if (event.type !== "approval.requested") return;
          asked += 1;
          void troupe.deny(event.approval.id, "no");
        },
      });
      expect({ asked, tools: answer.toolsUsed }).toEqual({ asked: 1, tools: [] });
      const { problems } = await troupe.service.agents(folder);
      expect(problems.map(({ code, severity }) => [severity, code])).toEqual(
        mode === "default" ? [] : [["warning", "ignored-permission-mode"]],
      );
    },
  );
});

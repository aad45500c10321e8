/** Agent files through the real program: checks, exit codes, new and changed files, and their effect on a running daemon. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { SubmitSession } from "@troupe/core";
import { describe, it, type TestContext } from "vitest";
import { troupe } from "../harness/cli.ts";
import { startDaemonInProcess } from "../harness/daemon.ts";
import { startModelServer } from "../harness/model-server/start-model-server.ts";
import { tempFolder } from "../harness/temp-folder.ts";
import { until } from "../harness/until.ts";

async function createFixture(test: Pick<TestContext, "onTestFinished">) {
  const home = await tempFolder("agent-files", test);
  const cwd = path.join(home, "project");
  const write = async (file: string, ...lines: string[]): Promise<string> => {
    const full = path.join(cwd, ".claude", "agents", file);
    await mkdir(path.dirname(full), { recursive: true });
    await writeFile(full, lines.join("\n"));
    return full;
  };
  await mkdir(cwd);
  const run = (args: string[], env: Record<string, string> = {}) => troupe(args, { home, cwd, env });
  return { home, cwd, write, run };
}

const agentFile = (name: string, ...lines: string[]) => [
  "---",
  `name: ${name}`,
  "description: d",
  ...lines,
  "---",
  "Do it.",
];

describe.concurrent("agents validate", () => {
  it("names unknown tools with the nearest known one, and ends with 0 as long as the agent works", async ({
    expect,
    onTestFinished,
  }) => {
    const { write, run } = await createFixture({ onTestFinished });
    await write("a.md", ...agentFile("a", "tools: Raed, Grep, ExitPlanMode, mcp__github__get_issue"));
    const { code, stdout } = await run(["agents", "validate"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/a\.md:4:8: warning a: tools names "Raed".*\n {2}fix: did you mean read\?/);
    expect(stdout).toContain('"ExitPlanMode", which has no counterpart here');
    expect(stdout).toContain('no MCP server "github" is configured here');
    const { problems, valid } = JSON.parse((await run(["agents", "validate", "--json"])).stdout);
    expect(valid).toBe(true);
    expect(problems.map(({ code }: { code: string }) => code)).toEqual([
      "unknown-tool",
      "unknown-tool",
      "unknown-tool",
    ]);
  });

  it("ends with 3 for an agent without a usable tool, which ls and doctor name too, and which starts no session", async ({
    expect,
    onTestFinished,
  }) => {
    const { write, run, cwd } = await createFixture({ onTestFinished });
    await write("none.md", ...agentFile("none", "tools: [githubRepo, problems]"));
    const validated = await run(["agents", "validate", ".claude/agents"]);
    expect(validated).toMatchObject({ code: 3 });
    expect(validated.stderr).toContain("✗ not valid: 0 usable agents, 1 error, 2 warnings");
    const json = JSON.parse((await run(["agents", "validate", ".claude/agents", "--json"])).stdout);
    expect(json).toMatchObject({
      valid: false,
      agents: [{ id: "none", unusable: expect.stringContaining("githubRepo") }],
    });
    const listed = await run(["agents", "ls"]);
    expect(listed.stdout).toMatch(/none +claude, unusable/);
    expect(listed.stderr).toContain("none cannot be used: none of its tools exists here");
    expect((await run(["doctor"])).stdout).toContain("none cannot be used: none of its tools exists here");
    const started = await run(["run", "x", "--agent", "none", "--workspace", cwd]);
    expect(started.code).toBe(3);
    expect(started.stderr).toContain('error: the agent "none" cannot be used: none of its tools exists here');
  });

  it("knows the tools that the user wrote", async ({ expect, onTestFinished }) => {
    const { write, run, home, cwd } = await createFixture({ onTestFinished });
    await write("a.md", ...agentFile("a", "tools: [dice]"));
    expect((await run(["agents", "validate"])).code).toBe(3);
    const dice = await readFile(path.join(import.meta.dirname, "../../examples/04-tool-file/dice.mjs"), "utf8");
    await mkdir(path.join(home, "tools"));
    await writeFile(path.join(home, "tools", "dice.mjs"), dice);
    // In a process of its own: the loader of tool files is not the one of the tests.
    const validated = await troupe(["agents", "validate"], { home, cwd, ownProcess: true });
    expect(validated).toMatchObject({ code: 0, stdout: "" });
  });

  it("ends with 3 for a folder of more files than it reads, with their number", async ({ expect, onTestFinished }) => {
    const { write, run } = await createFixture({ onTestFinished });
    await Promise.all(Array.from({ length: 2_002 }, (_, i) => write(`a${i}.md`, ...agentFile(`a${i}`))));
    const { code, stdout } = await run(["agents", "validate"]);
    expect(code).toBe(3);
    expect(stdout).toContain("2 agent files were left out");
  });

  it("warns of a model whose vendor is not set up, and the agent inherits its model", async ({
    expect,
    onTestFinished,
  }) => {
    const { write, run, cwd } = await createFixture({ onTestFinished });
    const server = await startModelServer({ scenario: { agents: { main: [{ steps: [{ text: "done" }] }] } } });
    onTestFinished(() => server.close());
    await write("old.md", ...agentFile("old", "model: claude-sonnet-4-20250514"));
    const env = { OPENAI_BASE_URL: server.openaiUrl, TROUPE_MODEL: "openai/gpt-4o" };
    const validated = await run(["agents", "validate"], env);
    expect(validated.code).toBe(0);
    expect(validated.stdout).toContain('old.md:4:1: warning the model "claude-sonnet-4-20250514" is of anthropic');
    const ran = await run(["run", "x", "--agent", "old", "--workspace", cwd], env);
    expect(ran.code).toBe(0);
    expect(server.calls().map(({ body }) => (body as { model: string }).model)).toEqual(["gpt-4o"]);
  });
});

describe.concurrent("agents new, set, enable and disable", () => {
  it("write a valid file once, and change its lines alone", async ({ expect, onTestFinished }) => {
    const { cwd, run } = await createFixture({ onTestFinished });
    const file = path.join(cwd, ".troupe", "agents", "archivist.md");
    const made = await run(["agents", "new", "archivist", "--description", "Use it when: a document is done"]);
    expect(made).toMatchObject({ code: 0, stdout: `wrote ${file}\n` });
    const text = await readFile(file, "utf8");
    expect(text).toContain('description: "Use it when: a document is done"');
    expect(await run(["agents", "validate"])).toMatchObject({ code: 0, stdout: "" });

    const again = await run(["agents", "new", "archivist", "--description", "other"]);
    expect(again.code).toBe(2);
    expect(again.stderr).toContain("exists already");
    expect(await readFile(file, "utf8")).toBe(text);

    expect((await run(["agents", "set", "archivist", "model", "haiku"])).code).toBe(0);
    expect(await readFile(file, "utf8")).toBe(text.replace("model: inherit", "model: haiku"));
    expect((await run(["agents", "set", "archivist", "model", "inherit"])).code).toBe(0);
    expect((await run(["agents", "disable", "archivist"])).code).toBe(0);
    expect((await run(["agents", "ls"])).stdout).toMatch(/archivist +project, disabled/);
    expect(JSON.parse((await run(["agents", "enable", "archivist", "--json"])).stdout)).toEqual({
      ...{ agent: "archivist", path: file, changed: true },
    });
    expect(await readFile(file, "utf8")).toBe(text);
  });

  it("refuse shipped agents, unknown keys, and values that would make the file invalid", async ({
    expect,
    onTestFinished,
  }) => {
    const { cwd, run } = await createFixture({ onTestFinished });
    const refused = async (...args: string[]): Promise<[number | null, string]> => {
      const { code, stderr } = await run(["agents", ...args]);
      return [code, stderr];
    };
    expect(await refused("set", "coder", "model", "haiku")).toEqual([
      2,
      expect.stringContaining("agents new coder --from"),
    ]);
    expect((await run(["agents", "new", "coder", "--from", "coder"])).code).toBe(0);
    const file = path.join(cwd, ".troupe", "agents", "coder.md");
    // The user's own command is the consent to replace the shipped agent, and to change the copy.
    expect((await run(["agents", "set", "coder", "description", "Writes our code"])).code).toBe(0);
    expect((await run(["agents", "show", "coder"])).stdout).toContain("Writes our code");
    const text = await readFile(file, "utf8");
    expect(await refused("set", "coder", "maxTurns", "many")).toEqual([
      3,
      expect.stringContaining("nothing was changed"),
    ]);
    expect(await refused("set", "coder", "permissions", "x")).toEqual([
      2,
      expect.stringContaining("use one of: id, name"),
    ]);
    expect(await refused("set", "codr", "model", "x")).toEqual([2, expect.stringContaining("did you mean coder?")]);
    expect(await refused("new", "../x")).toEqual([2, expect.stringContaining("is not a valid name")]);
    expect(await readFile(file, "utf8")).toBe(text);
  });
});

describe("a running daemon", () => {
  it("uses a changed agent file for the next session, and lists it within a second", async ({
    expect,
    onTestFinished,
  }) => {
    const home = await tempFolder("hot-reload", { onTestFinished });
    const server = await startModelServer({ scenario: { agents: { main: [{ steps: [{ text: "done" }] }] } } });
    onTestFinished(() => server.close());
    const file = path.join(home, "agents", "clerk.md");
    await mkdir(path.dirname(file));
    await writeFile(file, "---\nname: clerk\ndescription: first\n---\nYou are version one.\n");
    const env = { OPENAI_BASE_URL: server.openaiUrl, TROUPE_MODEL: "openai/gpt-4o" };
    const { client } = await startDaemonInProcess({ home, test: { onTestFinished }, env });
    const prompts = () => server.calls().map(({ body }) => /version \w+/.exec(JSON.stringify(body))?.[0]);
    const runSession = async (): Promise<void> => {
      const { session } = await client.submit(SubmitSession.parse({ task: "x", agent: "clerk" }));
      await until(async () => (await client.session(session)).session.status === "completed");
    };
    await runSession();
    expect(prompts()).toEqual(["version one"]);

    await writeFile(file, "---\nname: clerk\ndescription: second\ntools: Raed, read\n---\nYou are version two.\n");
    // No wait: the next request reads the file.
    const { agents, problems } = await client.agents(null);
    expect(agents.find(({ id }) => id === "clerk")?.description).toBe("second");
    expect(problems).toMatchObject([{ code: "unknown-tool", fix: "did you mean read?" }]);
    await runSession();
    expect(prompts()).toEqual(["version one", "version two"]);
    expect((await troupe(["agents", "ls"], { home })).stdout).toContain("second");
  });
});

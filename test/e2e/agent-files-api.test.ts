import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { AgentDraft, AgentProblem } from "@troupe/core/internal";
import { describe, it, type TestContext } from "vitest";
import { troupe } from "../harness/cli.ts";
import { startDemoDaemon } from "../harness/demo-daemon.ts";
import { tempFolder } from "../harness/temp-folder.ts";

// Agent files over the API of a running daemon, beside the command line.

async function startWith(test: TestContext, files: Record<string, string>) {
  const daemon = await startDemoDaemon(test);
  const folder = path.join(daemon.home, "agents");
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
  return { ...daemon, files: daemon.client.agentFiles, fileOf: (name: string) => path.join(folder, name) };
}

const agent = (...lines: string[]): string => ["---", "description: d", ...lines, "---", "", "Do it.", ""].join("\n");
const textOf = (problems: readonly AgentProblem[]) =>
  problems.map(({ line, column, severity, code, message, fix }) => ({ line, column, severity, code, message, fix }));

describe("agent files over the API", () => {
  it.for<[name: string, text: string]>([
    ["an unknown tool", agent("tools: [read, Raed, ExitPlanMode]")],
    ["an unknown agent", agent("subagents: {allow: [revewer, coder]}")],
    ["no usable tool", agent("tools: [Raed]")],
    ["an agent that delegates to itself", agent("subagents: {allow: [clerk]}")],
    ["a cycle through another agent", agent("subagents: {allow: [boss]}")],
    ["an unknown key", agent("tols: [read]", "troupe: {limits: {maxDept: 3}}")],
    ["a wrong limit", agent("maxTurns: many")],
    ["front matter that is not YAML", "---\ndescription: a: b\n---\nx\n"],
    ["no prompt", "---\ndescription: d\n---\n"],
    ["nothing wrong", agent("tools: [read]")],
  ])("%s has the same problems as with `troupe agents validate`", async ([, text], test) => {
    const { expect } = test;
    const boss = agent("subagents: {allow: [clerk]}");
    const { files, home, fileOf } = await startWith(test, { "clerk.md": agent(), "boss.md": boss });
    const { check } = await files.read("clerk", null);
    const draft: AgentDraft = { id: "clerk", workspace: null, folder: "user", version: check.version, text };
    const { problems } = await files.check(draft);
    await writeFile(fileOf("clerk.md"), text);
    const validated = await troupe(["agents", "validate", fileOf("clerk.md"), "--json"], { home });
    expect(textOf(problems)).toEqual(textOf(JSON.parse(validated.stdout).problems));
    const hasError = problems.some(({ severity }) => severity === "error");
    expect(validated.code).toBe(hasError ? 3 : 0);
  });

  it("are saved as `troupe agents set` saves them", async (test) => {
    const { expect } = test;
    const text = agent("# Why.", "tools: [read] # few", "colour: red");
    const { files, fileOf } = await startWith(test, { "clerk.md": text });
    const { check } = await files.read("clerk", null);
    if (!check.form) throw new Error("no form");
    const { version } = check;
    const form = { ...check.form, tools: ["read", "write"], model: "haiku" };
    await files.save({ id: "clerk", workspace: null, folder: "user", version, form });
    const cwd = await tempFolder("set", test);
    const twin = path.join(cwd, ".troupe", "agents", "clerk.md");
    await mkdir(path.dirname(twin), { recursive: true });
    await writeFile(twin, text);
    for (const [key, value] of [
      ["tools", "[read, write]"],
      ["model", "haiku"],
    ]) {
      const set = await troupe(["agents", "set", "clerk", key ?? "", value ?? ""], { home: cwd, cwd });
      expect(set.code).toBe(0);
    }
    const saved = (file: string) => readFile(file, "utf8").then((content) => content.split("\n").sort());
    expect(await saved(fileOf("clerk.md"))).toEqual(await saved(twin));
  });

  it("of a project can be changed only while the user trusts the project", async (test) => {
    const { expect } = test;
    const { files, home } = await startWith(test, {});
    const workspace = await tempFolder("project", test);
    const file = path.join(workspace, ".troupe", "agents", "guard.md");
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, agent());
    await writeFile(path.join(workspace, ".troupe", "config.yaml"), "model: haiku\n");
    const change = async (model: string) => {
      const { check } = await files.read("guard", workspace);
      const form = { ...(check.form as NonNullable<typeof check.form>), model };
      return files.save({ id: "guard", workspace, folder: "user", version: check.version, form });
    };
    const fresh: AgentDraft = { id: "planted", workspace, folder: "project", version: null };
    expect((await files.list(workspace)).project?.reason).toContain("troupe trust");
    await expect(change("haiku")).rejects.toMatchObject({
      code: "FORBIDDEN",
      message: expect.stringContaining("not trusted"),
    });
    await expect(files.save(fresh)).rejects.toMatchObject({ code: "FORBIDDEN" });
    expect(await readFile(file, "utf8")).toBe(agent());

    expect((await troupe(["trust", workspace, "--yes"], { home })).code).toBe(0);
    await expect.poll(async () => (await files.list(workspace)).project?.reason).toBeNull();
    expect((await change("haiku")).row).toMatchObject({ origin: "project", model: "haiku" });
    expect((await files.save(fresh)).row.path).toBe(path.join(workspace, ".troupe", "agents", "planted.md"));

    await writeFile(path.join(workspace, ".troupe", "config.yaml"), "model: opus\n");
    await expect.poll(async () => (await files.list(workspace)).project?.reason).toContain("not trusted");
    await expect(change("opus")).rejects.toMatchObject({ code: "FORBIDDEN" });
  });

  it("of a project replace a shipped agent if the page wrote them, and wait for trust if another program did", async (test) => {
    const { expect } = test;
    const { files, home } = await startWith(test, {});
    const workspace = await tempFolder("project", test);
    const copy: AgentDraft = { id: "coder", workspace, folder: "project", version: null, from: "coder" };
    expect((await files.save(copy)).row).toMatchObject({ origin: "project" });
    const listed = () => troupe(["agents", "ls"], { home, cwd: workspace });
    expect((await listed()).stdout).toMatch(/coder +project/);

    await writeFile(path.join(workspace, ".troupe", "agents", "coder.md"), agent("name: coder"));
    const { stdout, stderr } = await listed();
    expect(stdout).toMatch(/coder +builtin/);
    expect(stderr).toContain("troupe trust");
  });
});

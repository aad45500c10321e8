import { mkdir, mkdtemp, rename, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { AgentRegistry } from "@troupe/core";
import type { AgentProblem } from "@troupe/core/internal";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { acceptAll } from "./accept-all.test-helper.ts";
import { fileBytesMax, filesMax } from "./agent-folder.ts";
import { createAgentSource } from "./agent-source.ts";

let root: string;
let workspace: string;
let userFolder: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "troupe-roles-"));
  workspace = join(root, "workspace");
  userFolder = join(root, "home", "agents");
  await mkdir(workspace);
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function write(path: string, text: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}

function agent(id: string, description: string, ...lines: string[]): string {
  return ["---", `name: ${id}`, `description: ${description}`, ...lines, "---", `You are ${id}.`].join("\n");
}

const claude = (name: string): string => join(workspace, ".claude", "agents", name);
const project = (name: string): string => join(workspace, ".troupe", "agents", name);
const user = (name: string): string => join(userFolder, name);

function load(options: { builtin?: boolean } = { builtin: false }): Promise<AgentRegistry> {
  return createAgentSource({ ...options, userFolders: [userFolder], acceptedFiles: acceptAll }).load(workspace);
}

const ids = (registry: AgentRegistry): string[] => registry.agents.map(({ id }) => id);
const codes = (problems: readonly AgentProblem[]): string[] => problems.map(({ code }) => code);

describe("the agents of a registry", () => {
  test("a later source wins over an earlier one, by id", async () => {
    const sources = [user, claude, project].map((pathIn) => pathIn("any-name.md"));
    const seen: (string | undefined)[] = [];
    for (const [i, path] of sources.entries()) {
      await write(path, agent("coder", `from ${i}`));
      const registry = await load({ builtin: true });
      expect(registry.problems).toEqual([]);
      seen.push(registry.find("coder")?.description, registry.find("coder")?.source.origin);
    }
    expect(seen).toEqual(["from 0", "user", "from 1", "claude", "from 2", "project"]);
  });

  test("an agent is found by its name, with the prompt of its file in .claude/agents", async () => {
    await write(claude("report-creation-expert.md"), agent("report-creation-expert", "Writes reports."));
    await write(claude("other.md"), agent("other", "Does other things."));
    const registry = await load();
    expect(registry.find("report-creation-expert")).toMatchObject({
      description: "Writes reports.",
      prompt: "You are report-creation-expert.",
    });
    expect(registry.find("report")).toBeUndefined();
  });

  test("without a workspace only the shipped and the user's agents count", async () => {
    await write(user("mine.md"), agent("mine", "d"));
    await write(project("theirs.md"), agent("theirs", "d"));
    const registry = await createAgentSource({ builtin: false, userFolders: [userFolder] }).load(null);
    expect(ids(registry)).toEqual(["mine"]);
  });

  test("files can be at any depth; README.md and other files are ignored", async () => {
    await write(claude("b/deep/er.md"), agent("deeper", "d"));
    await write(claude("a.md"), agent("a", "d"));
    await write(claude("README.md"), "# About\n");
    await write(claude("notes.txt"), "not an agent");
    const registry = await load();
    expect(ids(registry)).toEqual(["a", "deeper"]);
    expect(registry.problems).toEqual([]);
  });

  test("missing folders cause no problem", async () => {
    expect(await load()).toMatchObject({ agents: [], problems: [] });
  });

  test("a folder that is both the user's and the workspace's is read once", async () => {
    userFolder = join(workspace, ".claude", "agents");
    await write(claude("bad.md"), "---\nname: bad\n");
    expect(codes((await load()).problems)).toEqual(["unterminated-front-matter"]);
  });
});

describe("invalid files", () => {
  test("one does not break the others", async () => {
    await write(project("bad.md"), "---\nname: bad\n---\n");
    await write(project("good.md"), agent("good", "d"));
    const registry = await load();
    expect(ids(registry)).toEqual(["good"]);
    expect(registry.problems[0]).toMatchObject({ path: project("bad.md"), severity: "error", line: 2 });
  });

  test("the shipped agent of the same id does not replace it, and the problem says so", async () => {
    await write(project("coder.md"), "---\ndescription: codes\n---\n");
    const registry = await load({ builtin: true });
    expect(registry.find("coder")).toBeUndefined();
    expect(registry.problems[0]?.message).toContain("the shipped agent coder is not used in its place");
    expect(registry.problems[1]).toMatchObject({ severity: "warning", code: "unusable-target" });
  });

  test("a valid file of a later source does replace it", async () => {
    await write(claude("coder.md"), "---\ndescription: codes\n---\n");
    await write(project("coder.md"), agent("coder", "sound"));
    const registry = await load({ builtin: true });
    expect(registry.find("coder")?.description).toBe("sound");
    expect(codes(registry.problems)).toEqual(["empty-prompt"]);
  });

  test("of two files with one id in one folder, the first by path is used", async () => {
    await write(project("1.md"), agent("same", "first"));
    await write(project("2.md"), agent("same", "second"));
    const registry = await load();
    expect(registry.find("same")?.description).toBe("first");
    expect(registry.problems).toMatchObject([{ path: project("2.md"), code: "duplicate-id", severity: "error" }]);
  });

  test("a file over the cap, and one that is not UTF-8, are refused", async () => {
    await write(project("big.md"), agent("big", "d") + "x".repeat(fileBytesMax));
    await mkdir(dirname(project("x")), { recursive: true });
    await writeFile(project("latin.md"), Buffer.from("---\nname: latin\ndescription: \xe4\n---\nx", "latin1"));
    const { agents, problems } = await load();
    expect(agents).toEqual([]);
    expect(problems).toMatchObject([{ code: "file-too-large" }, { code: "not-utf8", line: 3, column: 14 }]);
  });

  test("files beyond the cap are not read, and an error has their number", async () => {
    const names = Array.from({ length: filesMax + 3 }, (_, i) => `a${String(i).padStart(4, "0")}`);
    await Promise.all(names.map((name) => write(project(`${name}.md`), agent(name, "d"))));
    const registry = await load();
    expect(registry.agents).toHaveLength(filesMax);
    expect(registry.problems).toMatchObject([{ code: "too-many-files", severity: "error" }]);
    expect(registry.problems[0]?.message).toContain("3 agent files were left out");
  });

  test("symbolic links are not followed, neither to files nor to folders nor as the folder itself", async () => {
    const outside = await write(join(root, "outside", "secret.md"), agent("secret", "d"));
    await write(project("real.md"), agent("real", "d"));
    await symlink(outside, project("link.md"));
    await symlink(dirname(outside), project("folder"));
    await mkdir(join(workspace, ".claude"));
    await symlink(dirname(outside), join(workspace, ".claude", "agents"));
    const registry = await load();
    expect(ids(registry)).toEqual(["real"]);
    expect(codes(registry.problems).sort()).toEqual(["outside-workspace", "symbolic-link", "symbolic-link"]);
  });
});

describe("delegation between agents", () => {
  test("an unknown target is a warning with its place and the likely one", async () => {
    await write(project("a.md"), agent("a", "d", "subagents:", "  allow: [helper, helpr]"));
    await write(project("helper.md"), agent("helper", "d"));
    const registry = await load();
    expect(ids(registry)).toEqual(["a", "helper"]);
    expect(registry.problems).toMatchObject([
      {
        path: project("a.md"),
        line: 5,
        column: 19,
        severity: "warning",
        code: "unknown-target",
        fix: "did you mean helper?",
      },
    ]);
  });

  test("an unknown target without a similar name is a warning that lists the agents", async () => {
    await write(project("a.md"), agent("a", "d", "subagents: {allow: [bookkeeper]}"));
    const registry = await load();
    expect(registry.problems).toMatchObject([
      { code: "unknown-target", fix: "remove bookkeeper, or add an agent with this id; available: a" },
    ]);
  });

  test("an agent that names itself is refused", async () => {
    await write(project("a.md"), agent("a", "d", "tools: read, Agent(a)"));
    const registry = await load();
    expect(registry.agents).toEqual([]);
    expect(registry.problems).toMatchObject([{ line: 4, column: 14, severity: "error", code: "self-reference" }]);
  });

  test("all agents of a cycle are refused, each with its own line; other agents are not", async () => {
    await write(project("a.md"), agent("a", "d", "subagents: {allow: [b]}"));
    await write(project("b.md"), agent("b", "d", "model: opus", "subagents: {allow: [c, leaf]}"));
    await write(project("c.md"), agent("c", "d", "subagents: {allow: [a]}"));
    await write(project("leaf.md"), agent("leaf", "d"));
    await write(project("top.md"), agent("top", "d", "subagents: {allow: [a, leaf]}"));
    const registry = await load();
    expect(ids(registry)).toEqual(["leaf", "top"]);
    expect(registry.problems.map(({ code, line, column }) => `${code} ${line}:${column}`).sort()).toEqual([
      "delegation-cycle 4:21",
      "delegation-cycle 4:21",
      "delegation-cycle 5:21",
      "unusable-target 4:21",
    ]);
    expect(registry.problems.map(({ message }) => message).join()).toContain("(a → b → c → a)");
  });

  test("only the project's agent is refused if it closes a cycle with shipped agents", async () => {
    await write(project("coder.md"), agent("coder", "d", "subagents: {allow: [main]}"));
    const registry = await load({ builtin: true });
    expect(registry.find("coder")).toBeUndefined();
    expect(registry.find("main")).toBeDefined();
    expect(registry.problems[0]).toMatchObject({ path: project("coder.md"), code: "delegation-cycle", line: 4 });
    expect(registry.problems[0]?.message).toContain("(coder → main → coder)");
  });

  test("an agent that allows * closes no cycle and has no missing targets", async () => {
    await write(project("a.md"), agent("a", "d", 'subagents: {allow: ["*"]}'));
    await write(project("b.md"), agent("b", "d", 'subagents: {allow: [a, "*"], deny: [c]}'));
    expect(await load()).toMatchObject({ agents: [{ id: "a" }, { id: "b" }], problems: [] });
  });

  test("a denied agent does not close a cycle", async () => {
    await write(project("a.md"), agent("a", "d", "subagents: {allow: [b]}"));
    await write(project("b.md"), agent("b", "d", "subagents: {allow: [a], deny: [a]}"));
    expect(await load()).toMatchObject({ agents: [{ id: "a" }, { id: "b" }], problems: [] });
  });
});

describe("a second load", () => {
  test("sees edits of the same length, a file replaced at the same instant, a removal and a new file", async () => {
    const source = createAgentSource({ builtin: false, userFolders: [] });
    const path = await write(project("a.md"), agent("a", "one"));
    const instant = new Date(1_700_000_000_000);
    await utimes(path, instant, instant);
    expect((await source.load(workspace)).find("a")?.description).toBe("one");

    const other = await write(join(root, "a.md"), agent("a", "two"));
    await utimes(other, instant, instant);
    await rename(other, path);
    expect((await source.load(workspace)).find("a")?.description).toBe("two");

    await write(path, agent("a", "six"));
    const later = new Date(1_700_000_001_000);
    await utimes(path, later, later);
    expect((await source.load(workspace)).find("a")?.description).toBe("six");

    await rm(path);
    await write(project("b.md"), agent("b", "new"));
    expect(ids(await source.load(workspace))).toEqual(["b"]);
  });

  test("does not parse unchanged files again", async () => {
    const source = createAgentSource({ builtin: true, userFolders: [] });
    const first = await source.load(workspace);
    const second = await source.load(workspace);
    expect(second.agents.length).toBeGreaterThan(0);
    for (const definition of second.agents) expect(definition).toBe(first.find(definition.id));
  });
});

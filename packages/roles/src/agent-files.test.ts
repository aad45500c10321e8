import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { GrantLayer, type ToolSpec } from "@troupe/core";
import { AgentDraft, type AgentFiles, agentFileBytesMax, hashText } from "@troupe/core/internal";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createAgentFiles } from "./agent-files.ts";
import { createAgentSource } from "./agent-source.ts";

let root: string;
let workspace: string;
let home: string;
let reason: string | null;
let accepted: string[];
let files: AgentFiles;
let scans: number;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "troupe-agent-files-"));
  workspace = join(root, "project");
  home = join(root, "home");
  reason = null;
  accepted = [];
  await mkdir(workspace);
  await mkdir(home);
  const userFolders = [join(root, "dot-troupe", "agents"), join(home, "agents")];
  const options = { userFolders, userTeamFolders: [join(home, "teams")], folders: [] };
  const source = createAgentSource(options);
  scans = 0;
  files = createAgentFiles({
    source: {
      ...source,
      async loadFiles(of) {
        scans += 1;
        return await source.loadFiles(of);
      },
    },
    userFolders,
    policy: GrantLayer.parse({ from: "policy", kind: "policy" }),
    specs: async () => ["read", "write", "shell"].map(specNamed),
    models: async () => ["inherit"],
    modelProblems: async () => [],
    projectReason: async () => reason,
    accept: async (_, path) => void accepted.push(path),
    diff: async (before, after) => ({ diff: `${before}→${after}`, linesAdded: 0, linesRemoved: 0 }),
  });
});
afterEach(() => rm(root, { recursive: true, force: true }));

function specNamed(name: string): ToolSpec {
  const effect = name === "read" ? ("read" as const) : name === "write" ? ("verifiable" as const) : ("unsafe" as const);
  const groups = name === "shell" ? ["shell"] : ["filesystem"];
  return { name, description: `${name}s.`, risk: "low", effect, groups, inputSchema: {} };
}

async function put(path: string, text: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}

const agent = (id: string, ...lines: string[]): string =>
  ["---", "# Its name.", `name: ${id}`, "description: d", ...lines, "---", "", `You are ${id}.`, ""].join("\n");
const mine = (name: string): string => join(home, "agents", name);
const projects = (name: string): string => join(workspace, ".troupe", "agents", name);
const draft = (given: Partial<AgentDraft> & { id: string }): AgentDraft =>
  AgentDraft.parse({ version: null, ...given });
const failure = (code: string, message: unknown = expect.any(String)) => expect.objectContaining({ code, message });

/** A draft of an existing agent with some fields changed. */
async function change(id: string, changes: Record<string, unknown>, of: string | null = null): Promise<AgentDraft> {
  const { check } = await files.read(id, of);
  return draft({ id, workspace: of, version: check.version, form: { ...check.form, ...changes } as never });
}

describe("the list", () => {
  test("has every definition, with its origin, its abilities and its way of editing", async () => {
    await put(mine("clerk.md"), agent("clerk", "tools: [read, write]"));
    await put(mine("broken.md"), agent("broken", "maxTurns: x"));
    await put(mine("coder.md"), agent("coder", "troupe: {disabled: true}"));
    await put(projects("guard.md"), agent("guard", "tools: [shell]"));
    const { agents, problems, tools, project } = await files.list(workspace);
    const rows = Object.fromEntries(agents.map((row) => [row.id, row]));
    expect(rows.clerk).toMatchObject({ origin: "user", abilities: ["changes_files"], editing: "file", replaces: null });
    expect(rows.broken).toMatchObject({ broken: true, editing: "file", abilities: [] });
    expect(rows.coder).toMatchObject({ disabled: true, replaces: "builtin", editing: "file" });
    expect(rows.guard).toMatchObject({ origin: "project", abilities: ["runs_commands"], editing: "file" });
    expect(rows.tester).toMatchObject({ origin: "builtin", editing: "copy" });
    expect(rows.coding_planner).toMatchObject({ team: "coding", editing: "none" });
    expect(problems.map(({ path }) => path)).toContain(mine("broken.md"));
    expect(tools.map(({ name, ability }) => [name, ability])).toEqual([
      ["read", null],
      ["write", "changes_files"],
      ["shell", "runs_commands"],
    ]);
    expect(project).toEqual({ path: workspace, reason: null });
  });
});

describe("a check", () => {
  test("names the problems of the draft, and writes nothing", async () => {
    const path = await put(mine("a.md"), agent("a", "tools: [read]"));
    const before = await readFile(path, "utf8");
    const check = await files.check(await change("a", { tools: ["Raed", "read"], allow: ["codr"] }));
    expect(check.problems.map(({ code, fix }) => [code, fix])).toEqual([
      ["unknown-target", "did you mean coder?"],
      ["unknown-tool", "did you mean read?"],
    ]);
    expect(check.diff).toBe(`${before}→${check.text}`);
    expect(await readFile(path, "utf8")).toBe(before);
  });

  test("scans the agent folders once, as do a read and a list: the page repeats them", async () => {
    await put(mine("a.md"), agent("a", "tools: [read]"));
    const changed = await change("a", { model: "haiku" });
    expect(scans).toBe(1);
    expect((await files.check(changed)).text).toContain("model: haiku");
    expect(scans).toBe(2);
    await files.list(null);
    expect(scans).toBe(3);
  });

  test("finds a cycle through other agents, and the agents that the change would break", async () => {
    await put(mine("a.md"), agent("a", "subagents: {allow: [b]}"));
    const b = await put(mine("b.md"), agent("b"));
    const check = await files.check(await change("b", { allow: ["a"] }));
    expect(check.problems).toMatchObject([{ code: "delegation-cycle", path: b, severity: "error" }]);
    expect(check.problems[0]?.message).toContain("b → a → b");
    expect(check.otherProblems).toMatchObject([{ code: "delegation-cycle", path: mine("a.md") }]);
    expect(check.reach).toBeNull();
  });

  test("names an agent without a usable tool", async () => {
    await put(mine("a.md"), agent("a"));
    const check = await files.check(await change("a", { tools: ["Raed"] }));
    expect(check.problems.map(({ code }) => code)).toContain("no-usable-tools");
  });

  test("says what the agent could do, with a reason for each tool that it lacks", async () => {
    await put(mine("a.md"), agent("a"));
    const { reach } = await files.check(await change("a", { tools: ["read", "shell"], allow: ["tester"] }));
    expect(reach?.abilities).toEqual(["runs_commands", "delegates"]);
    expect(reach?.decisions.map(({ name, granted, reason: why }) => [name, granted, why])).toEqual([
      ["read", true, "every layer lets it through"],
      ["write", false, "not among the tools of the agent a"],
      ["shell", true, "every layer lets it through"],
      ["tester", true, "every layer lets it through"],
    ]);
  });

  test("of a text without front matter is an error: the agent would be gone", async () => {
    await put(mine("a.md"), agent("a"));
    const { check } = await files.read("a", null);
    const emptied = draft({ id: "a", version: check.version, text: "Just words." });
    expect((await files.check(emptied)).problems).toMatchObject([{ code: "missing-front-matter", severity: "error" }]);
    await expect(files.save(emptied)).rejects.toThrow(failure("INVALID_AGENT"));
  });
});

describe("a save", () => {
  test("keeps comments, the order of the keys, unknown keys and the mode of the file", async () => {
    const path = await put(mine("a.md"), agent("a", "colour: red", "# why", "tools: [read] # few"));
    await chmod(path, 0o600);
    const { row, check } = await files.save(await change("a", { tools: ["read", "write"], model: "haiku" }));
    expect(await readFile(path, "utf8")).toBe(
      agent("a", "colour: red", "# why", "tools: [read, write] # few", "model: haiku"),
    );
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(row).toMatchObject({ model: "haiku", tools: ["read", "write"] });
    expect(check.version).toBe(hashText(await readFile(path, "utf8")));
    expect(await readdir(dirname(path))).toEqual(["a.md"]);
  });

  test("does not overwrite a file that changed, or was deleted, since it was opened", async () => {
    const path = await put(mine("a.md"), agent("a"));
    const stale = await change("a", { model: "haiku" });
    const later = await put(path, agent("a", "model: opus"));
    await expect(files.save(stale)).rejects.toThrow(
      failure("CONFLICT", expect.stringContaining("changed on the disk")),
    );
    expect(await readFile(later, "utf8")).toContain("model: opus");
    const again = await change("a", { model: "haiku" });
    await put(mine("b.md"), agent("a"));
    await rm(path);
    await expect(files.save(again)).rejects.toThrow(failure("CONFLICT"));
  });

  test("of two changes from one version lets one through", async () => {
    await put(mine("a.md"), agent("a"));
    const both = await Promise.all(["haiku", "opus"].map((model) => change("a", { model })));
    const results = await Promise.allSettled(both.map((each) => files.save(each)));
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  test("is refused if the file would be invalid", async () => {
    const path = await put(mine("a.md"), agent("a"));
    const before = await readFile(path, "utf8");
    for (const changes of [{ limits: { maxDepth: "deep" } }, { allow: ["a"] }, { prompt: "" }, { description: "" }]) {
      await expect(files.save(await change("a", changes))).rejects.toThrow(failure("INVALID_AGENT"));
    }
    expect(await readFile(path, "utf8")).toBe(before);
  });

  test("is refused for a text under another name", async () => {
    await put(mine("a.md"), agent("a"));
    const { check } = await files.read("a", null);
    const other = draft({ id: "a", version: check.version, text: agent("b") });
    await expect(files.save(other)).rejects.toThrow(failure("USAGE", expect.stringContaining('names the agent "b"')));
  });

  test("has a maximum size", async () => {
    await put(mine("a.md"), agent("a"));
    const big = await change("a", { prompt: "ü".repeat(agentFileBytesMax / 2) });
    await expect(files.save(big)).rejects.toThrow(failure("TOO_LARGE"));
  });
});

describe("a new file", () => {
  test("has the template, and goes into the user's folder", async () => {
    const check = await files.check(draft({ id: "clerk" }));
    expect(check).toMatchObject({ path: mine("clerk.md"), version: null });
    expect(check.problems.filter(({ severity }) => severity === "error")).toEqual([]);
    const { row } = await files.save(draft({ id: "clerk", form: check.form as never }));
    expect(row).toMatchObject({ id: "clerk", editing: "file", path: mine("clerk.md") });
    expect(await readFile(mine("clerk.md"), "utf8")).toContain("# When to delegate to this agent.");
  });

  test("can be a copy of a shipped agent, which then counts in its place", async () => {
    const { row } = await files.save(draft({ id: "tester", from: "tester" }));
    expect(row).toMatchObject({ origin: "user", replaces: "builtin", editing: "file" });
    const { check } = await files.read("tester", null);
    await files.remove("tester", { workspace: null, version: check.version ?? "" });
    expect((await files.read("tester", null)).row).toMatchObject({ origin: "builtin", editing: "copy" });
  });

  test("of a project goes into its .troupe/agents", async () => {
    const { row } = await files.save(draft({ id: "clerk", workspace, folder: "project" }));
    expect(row).toMatchObject({ origin: "project", path: projects("clerk.md") });
    expect(accepted).toEqual([projects("clerk.md")]);
    await expect(files.save(draft({ id: "other", folder: "project" }))).rejects.toThrow(failure("USAGE"));
  });

  test("never replaces a file", async () => {
    const path = await put(mine("clerk.md"), "a note");
    await expect(files.save(draft({ id: "clerk" }))).rejects.toThrow(failure("CONFLICT"));
    expect(await readFile(path, "utf8")).toBe("a note");
  });

  test.each(["../x", "a/b", "a\\b", "a.b", ".", "", "/etc/passwd", "a\0b", "x".repeat(129)])(
    "%j is not an id",
    (id) => {
      expect(AgentDraft.safeParse({ id, version: null }).success).toBe(false);
    },
  );

  test("cannot have a name that is never read", async () => {
    await expect(files.save(draft({ id: "README" }))).rejects.toThrow(failure("USAGE"));
  });
});

describe("a file that is not the user's to change", () => {
  test("is refused: of a shipped agent, of a team, of a project without trust", async () => {
    await put(projects("guard.md"), agent("guard"));
    const guard = await change("guard", { model: "haiku" }, workspace);
    reason = "the project is not trusted";
    const drafts = [await change("tester", { model: "haiku" }), await change("coding_planner", { model: "x" }), guard];
    for (const each of [...drafts, draft({ id: "new", workspace, folder: "project" })]) {
      await expect(files.save(each)).rejects.toThrow(failure("FORBIDDEN"));
      await expect(files.check(each)).rejects.toThrow(failure("FORBIDDEN"));
    }
    const { check } = await files.read("guard", workspace);
    const removal = { workspace, version: check.version ?? "" };
    await expect(files.remove("guard", removal)).rejects.toThrow(
      failure("FORBIDDEN", expect.stringContaining("trusted")),
    );
  });

  test("is shown: of a team's member from another file", async () => {
    const { row, check } = await files.read("coding_planner", null);
    expect(row).toMatchObject({ id: "coding_planner", team: "coding" });
    expect(check.text).toContain("name: planner");
  });

  test("is refused behind a symbolic link", async () => {
    const outside = await put(join(root, "outside", "a.md"), agent("a"));
    await mkdir(join(home, "agents"));
    await symlink(outside, mine("a.md"));
    await expect(files.read("a", null)).rejects.toThrow(failure("UNKNOWN_AGENT"));
    await expect(files.save(draft({ id: "a" }))).rejects.toThrow(failure("FORBIDDEN", expect.stringContaining("link")));

    await rm(join(home, "agents"), { recursive: true });
    await symlink(dirname(outside), join(home, "agents"));
    const { check } = await files.read("a", null);
    const form = { ...check.form, model: "haiku" } as never;
    const linked = [draft({ id: "b" }), draft({ id: "a", version: check.version, form })];
    for (const each of linked) {
      await expect(files.save(each)).rejects.toThrow(failure("FORBIDDEN", expect.stringContaining("symbolic link")));
    }
    const removal = { workspace: null, version: check.version ?? "" };
    await expect(files.remove("a", removal)).rejects.toThrow(failure("FORBIDDEN"));
    expect(await readdir(dirname(outside))).toEqual(["a.md"]);
    expect(await readFile(outside, "utf8")).toBe(agent("a"));
  });

  test("is refused in a folder of the project that links elsewhere", async () => {
    await mkdir(join(root, "elsewhere"));
    await symlink(join(root, "elsewhere"), join(workspace, ".troupe"));
    const planted = draft({ id: "a", workspace, folder: "project" });
    await expect(files.save(planted)).rejects.toThrow(failure("FORBIDDEN", expect.stringContaining("symbolic link")));
    expect(await readdir(join(root, "elsewhere"))).toEqual([]);
  });
});

describe("a removal", () => {
  test("deletes the file in the version that the user saw, and no other", async () => {
    const path = await put(mine("a.md"), agent("a"));
    const { check } = await files.read("a", null);
    const removal = { workspace: null, version: check.version ?? "" };
    await put(path, agent("a", "model: opus"));
    await expect(files.remove("a", removal)).rejects.toThrow(failure("CONFLICT"));
    const latest = (await files.read("a", null)).check.version ?? "";
    expect(await files.remove("a", { ...removal, version: latest })).toEqual({ id: "a", path });
    await expect(files.read("a", null)).rejects.toThrow(failure("UNKNOWN_AGENT"));
  });

  test("of a shipped agent is refused", async () => {
    const { check } = await files.read("tester", null);
    const removal = { workspace: null, version: check.version ?? "" };
    await expect(files.remove("tester", removal)).rejects.toThrow(failure("FORBIDDEN"));
  });
});

/** Teams: folders with a `team.yaml`, read into the definitions of their agents. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { AgentRegistry } from "@troupe/core";
import type { AgentProblem } from "@troupe/core/internal";
import { afterAll, describe, expect, test } from "vitest";
import { acceptAll } from "./accept-all.test-helper.ts";
import { createAgentSource } from "./agent-source.ts";

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

type Files = Record<string, string>;

async function projectWith(files: Files): Promise<string> {
  const workspace = await mkdtemp(join(tmpdir(), "troupe-teams-"));
  folders.push(workspace);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(workspace, path)), { recursive: true });
    await writeFile(join(workspace, path), text);
  }
  return workspace;
}

/** The registry of a project whose `.troupe` has these files. */
async function load(files: Files): Promise<AgentRegistry> {
  const workspace = await projectWith(Object.fromEntries(Object.entries(files).map(([k, v]) => [`.troupe/${k}`, v])));
  return await createAgentSource({ builtin: false, userFolders: [] }).load(workspace);
}

const agent = (id: string, ...more: string[]): string =>
  `---\nname: ${id}\ndescription: The ${id}\n${more.map((line) => `${line}\n`).join("")}---\nYou are ${id}.\n`;

const lead = agent("lead", "subagents: {allow: [writer, reader]}");
const pair = {
  "teams/news/lead.md": lead,
  "teams/news/writer.md": agent("writer"),
  "teams/news/team.yaml": "description: Writes news\nentry: lead\n",
};

/** `line code: message`, without the folder. */
const shortly = (problems: readonly AgentProblem[]): string[] =>
  problems.map(({ path, line, code }) => `${path.split("/").slice(-2).join("/")}:${line} ${code}`);

describe("a team", () => {
  test("is a folder with a team.yaml; its agents have its name in their ids", async () => {
    const { teams, find, problems } = await load({ ...pair, "agents/reader.md": agent("reader") });
    expect(problems).toEqual([]);
    expect(teams).toEqual([
      {
        name: "news",
        description: "Writes news",
        entry: "news_lead",
        agents: ["news_lead", "news_writer"],
        origin: "project",
        path: expect.stringMatching(/teams\/news\/team\.yaml$/),
      },
    ]);
    expect(find("news_lead")).toMatchObject({ name: "lead", team: "news", prompt: "You are lead." });
    expect(find("lead")).toBeUndefined();
  });

  test("has its own agents first, then agents without a team", async () => {
    const { find } = await load({ ...pair, "agents/writer.md": agent("writer"), "agents/reader.md": agent("reader") });
    expect(find("news_lead")?.subagents.allow).toEqual(["news_writer", "reader"]);
  });

  test("can delegate to an agent of another team by team/agent", async () => {
    const { find, problems } = await load({
      ...pair,
      "teams/news/lead.md": agent("lead", "subagents: {allow: [writer, books/editor]}"),
      "teams/books/editor.md": agent("editor"),
      "teams/books/team.yaml": "description: Makes books\n",
    });
    expect(problems).toEqual([]);
    expect(find("news_lead")?.subagents.allow).toEqual(["news_writer", "books_editor"]);
  });

  test("can have agents of other teams, and agents without one, as its own", async () => {
    const { find, teams, problems } = await load({
      "agents/reader.md": agent("reader"),
      "teams/books/editor.md": agent("editor", "subagents: {allow: [reader, proof]}"),
      "teams/books/proof.md": agent("proof"),
      "teams/books/team.yaml": "description: Makes books\nentry: editor\n",
      "teams/all/lead.md": agent("lead", "subagents: {allow: [editor, reader]}"),
      "teams/all/team.yaml": "description: All\nentry: lead\nagents: [reader, books/editor]\n",
    });
    expect(problems).toEqual([]);
    expect(teams?.[0]?.agents).toEqual(["all_lead", "all_reader", "all_editor"]);
    expect(find("all_lead")?.subagents.allow).toEqual(["all_editor", "all_reader"]);
    expect(find("all_editor")?.subagents.allow).toEqual(["all_reader", "books_proof"]);
    expect(find("books_editor")?.subagents.allow).toEqual(["reader", "books_proof"]);
  });

  test("needs no entry if it has one agent", async () => {
    const { teams } = await load({ "teams/solo/a.md": agent("a"), "teams/solo/team.yaml": "description: One\n" });
    expect(teams?.map(({ entry }) => entry)).toEqual(["solo_a"]);
  });

  test("gives its defaults to agents that say nothing", async () => {
    const { find } = await load({
      "teams/d/a.md": agent("a", "model: haiku", "troupe: {limits: {maxIterations: 3}}"),
      "teams/d/b.md": agent("b"),
      "teams/d/team.yaml": [
        "description: D",
        "entry: a",
        "defaults: {model: opus, maxDepth: 2, limits: {maxIterations: 9, maxToolCalls: 5}, budget: {spawns: 4}}",
      ].join("\n"),
    });
    expect(find("d_a")).toMatchObject({
      model: "haiku",
      limits: { maxIterations: 3, maxToolCalls: 5, maxDepth: 2 },
      budget: { spawns: 4 },
    });
    expect(find("d_b")).toMatchObject({ model: "opus", limits: { maxIterations: 9 } });
  });

  test("gives triggers, checks and observers to its entry agent, and verifiers to the agents they name", async () => {
    const { find, problems } = await load({
      ...pair,
      "agents/reader.md": agent("reader"),
      "teams/news/team.yaml": [
        "description: Writes news",
        "entry: lead",
        "triggers: [{words: [news], agent: writer, after: [web_search]}]",
        "verifiers: [{name: files-exist, params: {paths: [a.md]}, agent: writer}]",
        "childVerifiers: [{name: files-exist, params: {paths: [b.md]}, agent: writer, words: [news]}]",
        "observers: [{name: save-search-results}]",
      ].join("\n"),
    });
    expect(problems).toEqual([]);
    expect(find("news_lead")).toMatchObject({
      verifiers: [],
      triggers: [{ words: ["news"], agent: "news_writer", after: ["web_search"] }],
      childVerifiers: [{ name: "files-exist", agent: "news_writer", words: ["news"] }],
      observers: [{ name: "save-search-results", params: {} }],
    });
    expect(find("news_writer")).toMatchObject({ verifiers: [{ name: "files-exist", params: { paths: ["a.md"] } }] });
    expect(find("news_writer")).not.toHaveProperty("triggers");
  });

  test("of the project replaces the whole team of the user with the same name", async () => {
    const user = await projectWith({
      "teams/news/team.yaml": "description: The user's\nentry: old\n",
      "teams/news/old.md": agent("old"),
    });
    const workspace = await projectWith({
      ".troupe/teams/news/team.yaml": "description: The project's\n",
      ".troupe/teams/news/new.md": agent("new"),
    });
    const source = createAgentSource({
      ...{ builtin: false, userFolders: [], userTeamFolders: [join(user, "teams")], acceptedFiles: acceptAll },
    });
    const { teams, find } = await source.load(workspace);
    expect(teams?.map(({ description, agents }) => [description, agents])).toEqual([["The project's", ["news_new"]]]);
    expect(find("news_old")).toBeUndefined();
  });

  test("is read again after a change of its file", async () => {
    const workspace = await projectWith({ ".troupe/teams/t/a.md": agent("a") });
    const source = createAgentSource({ builtin: false, userFolders: [] });
    expect((await source.load(workspace)).teams).toEqual([]);
    for (const description of ["First", "Second"]) {
      await writeFile(join(workspace, ".troupe/teams/t/team.yaml"), `description: ${description}\n`);
      expect((await source.load(workspace)).teams?.map((team) => team.description)).toEqual([description]);
    }
  });
});

describe("a wrong team is reported with file and line, and cannot be used:", () => {
  const yaml = (...lines: string[]): Files => ({
    ...pair,
    "teams/news/team.yaml": ["description: N", ...lines].join("\n"),
  });
  test.for<{ what: string; files: Files; problems: string[]; message: RegExp }>([
    {
      what: "an unknown key",
      files: yaml("entry: lead", "entri: lead"),
      problems: ["news/team.yaml:3 unknown-key"],
      message: /"entri" is not a key of team\.yaml/,
    },
    {
      what: "a key without a value",
      files: yaml("entry: lead", "verifiers:"),
      problems: ["news/team.yaml:3 wrong-type"],
      message: /verifiers: has no value/,
    },
    {
      what: "no entry",
      files: yaml(),
      problems: ["news/team.yaml:1 missing-entry"],
      message: /the team news has no entry agent/,
    },
    {
      what: "an entry that does not exist",
      files: yaml("entry: leed"),
      problems: ["news/team.yaml:2 missing-entry"],
      message: /leed is not an agent of this team/,
    },
    {
      what: "an entry with an error in its file",
      files: { ...pair, "teams/news/lead.md": "---\nname: lead\n---\nNo description.\n" },
      problems: ["news/lead.md:2 missing-description", "news/team.yaml:2 missing-entry"],
      message: /the entry agent lead has an error in its file/,
    },
    {
      what: "an unknown guest",
      files: yaml("entry: lead", "agents: [", "  books/editor]"),
      problems: ["news/team.yaml:4 unknown-agent"],
      message: /agents names books\/editor, which does not exist/,
    },
    {
      what: "a trigger of an agent out of reach",
      files: yaml("entry: lead", "triggers: [{words: [a], agent: lead}]"),
      problems: ["news/team.yaml:3 unreachable-agent"],
      message: /the entry agent lead may not delegate to it/,
    },
    {
      what: "a verifier of an unknown agent",
      files: yaml("entry: lead", "verifiers: [{name: claims-have-calls, agent: riter}]"),
      problems: ["news/team.yaml:3 unknown-agent"],
      message: /riter is not an agent of the team news/,
    },
    {
      what: "wrong params of a verifier",
      files: yaml("entry: lead", "verifiers:", "  - name: files-exist", "    params: {path: a}", "    agent: writer"),
      problems: ["news/team.yaml:5 invalid-verifier", "news/team.yaml:5 invalid-verifier"],
      message: /verifiers\[0\]: files-exist: its params: Unrecognized key: "path"/,
    },
    {
      what: "wrong params of a check of children",
      files: yaml("entry: lead", "childVerifiers: [{name: report-corpus, params: {before: work_products}}]"),
      problems: ["news/team.yaml:3 invalid-verifier"],
      message: /childVerifiers\[0\]: report-corpus: before: /,
    },
    {
      what: "wrong params of an observer",
      files: yaml("entry: lead", "observers: [{name: save-search-results, params: {folder: 1}}]"),
      problems: ["news/team.yaml:3 invalid-observer"],
      message: /observers\[0\]: save-search-results: folder: /,
    },
    {
      what: "invalid YAML",
      files: yaml("entry: a: b"),
      problems: ["news/team.yaml:2 invalid-yaml"],
      message: /cannot be read/,
    },
    {
      what: "a wrong value",
      files: yaml("entry: lead", "defaults: {maxDepth: many}"),
      problems: ["news/team.yaml:3 wrong-type"],
      message: /defaults\.maxDepth is "many"/,
    },
    {
      what: "a list instead of keys",
      files: { ...pair, "teams/news/team.yaml": "- a\n" },
      problems: ["news/team.yaml:1 invalid-team"],
      message: /not a list of keys and values/,
    },
    {
      what: "a folder with an invalid name",
      files: { "teams/My Team/team.yaml": "description: M\n", "teams/My Team/a.md": agent("a") },
      problems: ["My Team/team.yaml:1 invalid-name"],
      message: /"my team", is not a name for a team/,
    },
    {
      what: "a team that names itself through another",
      files: {
        "teams/a/team.yaml": "description: A\nentry: x\nagents: [b/y]\n",
        "teams/a/x.md": agent("x"),
        "teams/b/team.yaml": "description: B\nentry: y\nagents: [a/x]\n",
        "teams/b/y.md": agent("y"),
      },
      problems: ["a/team.yaml:3 unknown-agent", "b/team.yaml:3 unknown-agent"],
      message: /agents names a\/x, which does not exist/,
    },
  ])("$what", async ({ files, problems, message }) => {
    const registry = await load({ ...files, "agents/reader.md": agent("reader") });
    const errors = registry.problems.filter(({ severity }) => severity === "error");
    expect(shortly(errors)).toEqual(problems);
    expect(errors.at(-1)?.message).toMatch(message);
    const name = problems[0]?.split("/")[0] ?? "";
    expect(registry.teams?.some((team) => team.name === name)).toBe(false);
    expect(registry.agents.filter((each) => each.team === name)).toEqual([]);
  });

  test("agents that delegate in a circle", async () => {
    const { teams, problems } = await load({
      "teams/c/team.yaml": "description: C\nentry: a\n",
      "teams/c/a.md": agent("a", "subagents: {allow: [b]}"),
      "teams/c/b.md": agent("b", "subagents: {allow: [a]}"),
    });
    expect(shortly(problems)).toEqual(["c/a.md:4 delegation-cycle", "c/b.md:4 delegation-cycle"]);
    expect(teams).toEqual([]);
  });

  test("a broken team of a trusted project hides the user's team with its name", async () => {
    const user = await projectWith({ "teams/news/team.yaml": "description: U\n", "teams/news/a.md": agent("a") });
    const workspace = await projectWith({ ".troupe/teams/news/team.yaml": "entry: a\n" });
    const source = createAgentSource({
      builtin: false,
      userFolders: [],
      userTeamFolders: [join(user, "teams")],
      acceptedFiles: acceptAll,
    });
    const { teams, problems } = await source.load(workspace);
    expect(teams).toEqual([]);
    expect(shortly(problems)).toEqual(["news/team.yaml:1 missing-description"]);
  });

  test("a team.yaml that is a link is not followed", async () => {
    const workspace = await projectWith({ ".troupe/teams/t/a.md": agent("a"), "elsewhere.yaml": "description: E\n" });
    await symlink(join(workspace, "elsewhere.yaml"), join(workspace, ".troupe/teams/t/team.yaml"));
    const { teams, problems } = await createAgentSource({ builtin: false, userFolders: [] }).load(workspace);
    expect([teams, shortly(problems)]).toEqual([[], ["t/team.yaml:1 symbolic-link", "t/team.yaml:1 unreadable-file"]]);
  });

  test("an agent whose id looks like one of the team is named", async () => {
    const { problems } = await load({
      ...pair,
      "agents/news_writer.md": agent("news_writer"),
      "agents/reader.md": agent("reader"),
    });
    expect(shortly(problems)).toEqual(["news/writer.md:1 duplicate-id"]);
  });
});

/** A project's agents and teams never replace those of the user, or shipped ones, unless the user accepted their bytes. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { acceptAll } from "./accept-all.test-helper.ts";
import { createAgentSource } from "./agent-source.ts";

let root: string;
let project: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "troupe-replacements-"));
  project = join(root, "project");
  await mkdir(project);
});
afterEach(() => rm(root, { recursive: true, force: true }));

const agent = (id: string, words = "hostile"): string =>
  `---\nname: ${id}\ndescription: The ${words} ${id}\n---\nYou are the ${words} ${id}.\n`;

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, path)), { recursive: true });
  await writeFile(join(root, path), text);
}

function source(options: Partial<Parameters<typeof createAgentSource>[0]> = {}) {
  return createAgentSource({
    ...{ userFolders: [join(root, "user/agents")], userTeamFolders: [join(root, "user/teams")], ...options },
  });
}

const hostileTeam = {
  "project/.troupe/teams/coding/team.yaml": "description: Hostile\nentry: thief\n",
  "project/.troupe/teams/coding/thief.md": agent("thief"),
};

async function writeAll(files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) await write(path, text);
}

describe("a project that is not trusted", () => {
  test("does not replace a shipped team, and the warning says how to allow it", async () => {
    await writeAll(hostileTeam);
    const { teams = [], problems, find } = await source().load(project);
    expect(teams.find(({ name }) => name === "coding")).toMatchObject({ origin: "builtin", entry: "coding_main" });
    expect(find("coding_thief")).toBeUndefined();
    expect(problems).toEqual([
      {
        ...{ path: join(project, ".troupe/teams/coding/team.yaml"), line: 1, column: 1, severity: "warning" },
        ...{ code: "needs-trust", fix: "troupe trust" },
        message: expect.stringContaining("would replace your own or the shipped team coding"),
      },
    ]);
  });

  test("does not replace the user's team, also not by a file with an error, which would remove it", async () => {
    await write("user/teams/mine/team.yaml", "description: Mine\n");
    await write("user/teams/mine/a.md", agent("a", "kind"));
    for (const text of ["description: Hostile\n", "entry: [broken", ""]) {
      await writeAll({ "project/.troupe/teams/mine/team.yaml": text, "project/.troupe/teams/mine/b.md": agent("b") });
      const { teams = [], find } = await source().load(project);
      expect(teams.find(({ name }) => name === "mine")).toMatchObject({ description: "Mine", agents: ["mine_a"] });
      expect(find("mine_b")).toBeUndefined();
    }
    await write("project/.troupe/teams/other/team.yaml", "name: mine\ndescription: Hostile\n");
    await write("project/.troupe/teams/other/b.md", agent("b"));
    expect((await source().load(project)).find("mine_b")).toBeUndefined();
  });

  test.each([".troupe/agents", ".claude/agents"])("does not replace an agent by a file in %s", async (folder) => {
    await write("user/agents/helper.md", agent("helper", "kind"));
    await write(`project/${folder}/main.md`, agent("main"));
    await write(`project/${folder}/innocent.md`, agent("helper"));
    await write(`project/${folder}/coder.md`, "---\nname: coder\n---\n");
    await write(`project/${folder}/mine.md`, agent("mine"));
    const { find, problems } = await source().load(project);
    expect(find("main")?.source.origin).toBe("builtin");
    expect(find("coder")?.source.origin).toBe("builtin");
    expect(find("helper")?.description).toBe("The kind helper");
    expect(find("mine")?.description).toBe("The hostile mine");
    expect(problems.map(({ code }) => code)).toEqual(["needs-trust", "needs-trust", "needs-trust"]);
  });

  test("does not take the place of a team's agent by its id", async () => {
    await write("project/.troupe/agents/x.md", agent("coding_main"));
    await write("project/.troupe/agents/y.md", agent("coding_new"));
    const { find, teams = [] } = await source().load(project);
    expect(find("coding_main")?.source.origin).toBe("builtin");
    expect(find("coding_new")).toBeUndefined();
    expect(teams.map(({ name }) => name)).toContain("coding");
  });

  test("has its own new teams and agents", async () => {
    await writeAll({
      "project/.troupe/teams/news/team.yaml": "description: News\n",
      "project/.troupe/teams/news/a.md": agent("a"),
    });
    const { teams = [], problems } = await source().load(project);
    expect(teams.find(({ name }) => name === "news")).toMatchObject({ entry: "news_a" });
    expect(problems).toEqual([]);
  });

  test("is held to it as a worker's project, too", async () => {
    await writeAll(hostileTeam);
    await write("project/.troupe/agents/main.md", agent("main"));
    const { find } = await source({ projects: [project] }).load(null);
    expect([find("main")?.source.origin, find("coding_thief")]).toEqual(["builtin", undefined]);
  });
});

describe("a project whose files were accepted", () => {
  test("replaces teams and agents, until one byte or file of them differs", async () => {
    await writeAll(hostileTeam);
    await write("project/.troupe/agents/main.md", agent("main", "own"));
    const accepted = await acceptAll(project);
    const agents = source({ acceptedFiles: async () => accepted });
    const isReplaced = async (): Promise<[string | undefined, boolean]> => {
      const { find } = await agents.load(project);
      return [find("main")?.description, find("coding_thief") !== undefined];
    };
    expect(await isReplaced()).toEqual(["The own main", true]);
    await write("project/.troupe/agents/main.md", agent("main", "owm"));
    expect((await isReplaced())[0]).not.toContain("owm");
    await write("project/.troupe/teams/coding/more.md", agent("more"));
    expect((await isReplaced())[1]).toBe(false);
    await rm(join(root, "project/.troupe/teams/coding/more.md"));
    expect((await isReplaced())[1]).toBe(true);
    const text = await readFile(join(root, "project/.troupe/teams/coding/team.yaml"), "utf8");
    await write("project/.troupe/teams/coding/team.yaml", `${text}\n`);
    expect((await isReplaced())[1]).toBe(false);
  });
});

test("in the user's home the folders of the workspace are the user's own", async () => {
  await write(".troupe/agents/main.md", agent("main", "own"));
  await writeAll({ ".troupe/teams/coding/team.yaml": "description: Mine\n", ".troupe/teams/coding/a.md": agent("a") });
  const homes = { userFolders: [join(root, ".troupe/agents")], userTeamFolders: [join(root, ".troupe/teams")] };
  const { find, problems } = await source(homes).load(root);
  expect([find("main")?.description, find("coding_a")?.description]).toEqual(["The own main", "The hostile a"]);
  expect(problems).toEqual([]);
});

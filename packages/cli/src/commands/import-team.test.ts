import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createAgentSource } from "@troupe/roles";
import { afterAll, describe, expect, it } from "vitest";
import { createFakeCli, type FakeCli, removeTemporaryFolders } from "../testing/fake-cli.ts";

afterAll(removeTemporaryFolders);

const role = (RoleId: string, more: object = {}) => ({ RoleId, SystemPromptFile: `prompts/${RoleId}.md`, ...more });
const settings = {
  AgentRoles: {
    MaxDepth: 1,
    Roles: [role("main", { CanDelegate: true, AllowedDelegations: ["coder"] }), role("coder", { MaxIterations: 30 })],
  },
};

/** A command line in a folder with the settings and the prompts of main and coder. */
async function cliWith(json: unknown = settings): Promise<FakeCli> {
  const cli = createFakeCli();
  const text = typeof json === "string" ? json : JSON.stringify(json);
  await write(cli, "app/appsettings.json", text);
  for (const id of ["main", "coder"]) await write(cli, `app/prompts/${id}.md`, `You are ${id}.\n`);
  return cli;
}

async function write(cli: FakeCli, path: string, text: string): Promise<void> {
  await mkdir(dirname(join(cli.cwd, path)), { recursive: true });
  await writeFile(join(cli.cwd, path), text);
}

const teamFolder = (cli: FakeCli, name: string): string => join(cli.cwd, ".troupe", "teams", name);

describe("troupe teams import", () => {
  it("writes a team that loads without a problem", async () => {
    const cli = await cliWith();
    expect(await cli.run("teams", "import", "app/appsettings.json", "--name", "mine")).toBe(0);
    expect(cli.out()).toBe(`${teamFolder(cli, "mine")}\n`);
    expect(cli.err()).toContain('run it: troupe run --team mine "what to do"');
    expect(await readdir(teamFolder(cli, "mine"))).toEqual(["coder.md", "main.md", "team.yaml"]);
    const { teams, problems, find } = await createAgentSource({ userFolders: [] }).load(cli.cwd);
    expect(problems).toEqual([]);
    expect(teams?.find(({ name }) => name === "mine")).toMatchObject({ entry: "mine_main" });
    expect(find("mine_coder")).toMatchObject({ prompt: "You are coder.", limits: { maxDepth: 1, maxIterations: 30 } });
  });

  it("prints one JSON object with the folder, the agents and the warnings", async () => {
    const cli = await cliWith({ AgentRoles: { Roles: [role("main", { Colour: "red" })] } });
    expect(await cli.run("teams", "import", "app/appsettings.json", "--json")).toBe(0);
    expect(JSON.parse(cli.out())).toEqual({
      team: "imported",
      path: teamFolder(cli, "imported"),
      entry: "main",
      agents: ["imported_main"],
      warnings: ["AgentRoles.Roles[0].Colour has no meaning in a team and was left out"],
    });
    expect(cli.err()).toContain("warning: AgentRoles.Roles[0].Colour");
  });

  it("writes to another folder, and reads the prompts from another", async () => {
    const cli = await cliWith();
    await write(cli, "texts/prompts/main.md", "The other main.\n");
    await write(cli, "texts/prompts/coder.md", "The other coder.\n");
    const args = ["app/appsettings.json", "--out", "made/team", "--prompts", "texts"];
    expect(await cli.run("teams", "import", ...args)).toBe(0);
    expect(cli.out()).toBe(`${join(cli.cwd, "made/team")}\n`);
    expect(await readFile(join(cli.cwd, "made/team/main.md"), "utf8")).toContain("\n---\n\nThe other main.\n");
  });

  it("reads paths with backslashes", async () => {
    const roles = { Roles: [role("main", { SystemPromptFile: "prompts\\main.md" })] };
    const cli = await cliWith({ AgentRoles: roles });
    expect(await cli.run("teams", "import", "app/appsettings.json")).toBe(0);
  });

  it("never overwrites a folder, also an empty one", async () => {
    const cli = await cliWith();
    await mkdir(teamFolder(cli, "mine"), { recursive: true });
    expect(await cli.run("teams", "import", "app/appsettings.json", "--name", "mine")).toBe(1);
    expect(cli.err()).toMatch(
      /teams\/mine exists already and was not changed[\s\S]*\nfix: {3}choose another name: --name NAME/,
    );
    expect(await readdir(teamFolder(cli, "mine"))).toEqual([]);
  });
});

describe("a bad import writes nothing and says why:", () => {
  it.for<{ what: string; json?: unknown; args?: string[]; code: number; error: RegExp }>([
    {
      what: "no file",
      args: ["nothing.json"],
      code: 2,
      error: /"nothing\.json" cannot be read: it does not exist[\s\S]*\nfix: {3}name the settings/,
    },
    { what: "a folder", args: ["app"], code: 2, error: /"app" cannot be read: it is not a file/ },
    { what: "no JSON", json: "{", code: 3, error: /appsettings\.json: the file is not JSON/ },
    { what: "no AgentRoles", json: {}, code: 3, error: /there is no AgentRoles at the top of the file/ },
    {
      what: "an unknown role",
      json: { AgentRoles: { Roles: [role("main", { CanDelegate: true, AllowedDelegations: ["x"] })] } },
      code: 3,
      error: /AgentRoles\.Roles\[0\]\.AllowedDelegations\[0\] is "x", which is not a role/,
    },
    {
      what: "a negative number",
      json: { AgentRoles: { Roles: [role("main", { MaxIterations: -5 })] } },
      code: 3,
      error: /AgentRoles\.Roles\[0\]\.MaxIterations is -5; expected a whole number of 1 or more/,
    },
    {
      what: "a prompt file that does not exist",
      json: { AgentRoles: { Roles: [role("main"), role("tester")] } },
      code: 3,
      error:
        /AgentRoles\.Roles\[1\]\.SystemPromptFile: the prompt file .*app\/prompts\/tester\.md cannot be read: it does not exist[\s\S]*\nfix: {3}create prompts\/tester\.md/,
    },
    {
      what: "a prompt file above the folder",
      json: { AgentRoles: { Roles: [role("main", { SystemPromptFile: "../secret.txt" })] } },
      code: 3,
      error:
        /AgentRoles\.Roles\[0\]\.SystemPromptFile: \.\.\/secret\.txt is outside of .*app[\s\S]*\nfix: {3}name the folder/,
    },
    {
      what: "a link that leads out of the folder",
      json: { AgentRoles: { Roles: [role("main", { SystemPromptFile: "link.md" })] } },
      code: 3,
      error: /SystemPromptFile: link\.md is outside of/,
    },
    {
      what: "a name that is not one",
      args: ["app/appsettings.json", "--name", "a/../b"],
      code: 2,
      error: /is not a name for a team/,
    },
    {
      what: "an unknown entry",
      args: ["app/appsettings.json", "--entry", "boss"],
      code: 2,
      error: /has no role "boss"/,
    },
  ])("$what", async ({ json, args = ["app/appsettings.json"], code, error }) => {
    const cli = await cliWith(json);
    await write(cli, "secret.txt", "a secret\n");
    await symlink(join(cli.cwd, "secret.txt"), join(cli.cwd, "app/link.md"));
    expect(await cli.run("teams", "import", ...args)).toBe(code);
    expect(cli.err()).toMatch(error);
    expect(cli.err()).not.toContain("a secret");
    expect(cli.out()).toBe("");
    expect(existsSync(join(cli.cwd, ".troupe"))).toBe(false);
  });
});

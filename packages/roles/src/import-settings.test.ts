import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AgentRegistry, TroupeError } from "@troupe/core";
import { afterAll, describe, expect, test } from "vitest";
import { createAgentSource } from "./agent-source.ts";
import { importSettings } from "./import-settings.ts";
import { readSettings } from "./settings-file.ts";

const folders: string[] = [];
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))));

const role = (RoleId: string, more: object = {}): object => ({ RoleId, SystemPromptFile: `${RoleId}.md`, ...more });

/** All settings that a role can have, and the defaults for roles without them. */
const six = {
  MaxDepth: 2,
  DefaultMaxIterations: 20,
  DefaultMaxDurationMs: 300_000,
  Roles: [
    role("main", {
      DisplayName: "Main Agent",
      ModelId: "qwen/qwen3-coder-30b",
      CanDelegate: true,
      AllowedDelegations: ["planner", "coder", "tester"],
      MaxIterations: 50,
      MaxDurationMs: 600_000,
    }),
    role("planner", { ModelId: "deepseek-reasoner", CanDelegate: true, AllowedDelegations: ["coder", "tester"] }),
    role("coder", {
      DisplayName: 'The "Coder": 1',
      CanDelegate: true,
      AllowedDelegations: ["tester"],
      MaxIterations: 30,
    }),
    role("tester", { CanDelegate: false, MaxDurationMs: 180_000 }),
  ],
};

function importJson(json: string, more: { name?: string; entry?: string; prompt?: string } = {}) {
  const { prompt = "You are an agent.", name = "mine", entry } = more;
  const settings = readSettings("appsettings.json", json);
  const prompts = new Map(settings.roles.Roles.map(({ RoleId }) => [RoleId, `${prompt} Role: ${RoleId}.`]));
  return importSettings({ ...settings, file: "appsettings.json", name, prompts, entry });
}

const importRoles = (AgentRoles: object, more = {}) => importJson(JSON.stringify({ AgentRoles, Logging: {} }), more);

/** The registry of a project that has the files as a team. */
async function load(files: Readonly<Record<string, string>>): Promise<AgentRegistry> {
  const workspace = await mkdtemp(join(tmpdir(), "troupe-import-"));
  folders.push(workspace);
  const folder = join(workspace, ".troupe", "teams", "mine");
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return await createAgentSource({ builtin: false, userFolders: [] }).load(workspace);
}

/** The error of an import. */
function errorOf(action: () => unknown): Pick<TroupeError, "code" | "message" | "fix"> {
  try {
    action();
  } catch (error) {
    if (TroupeError.is(error)) return { code: error.code, message: error.message, fix: error.fix };
    throw error;
  }
  throw new Error("the import succeeded");
}

describe("an imported configuration", () => {
  test("is a team in which its depth, its defaults and each setting of a role hold", async () => {
    const { files, warnings, entry } = importRoles(six);
    expect([warnings, entry]).toEqual([[], "main"]);
    expect(Object.keys(files)).toEqual(["team.yaml", "main.md", "planner.md", "coder.md", "tester.md"]);
    const { teams, problems, find } = await load(files);
    expect(problems).toEqual([]);
    const agents = ["mine_coder", "mine_main", "mine_planner", "mine_tester"];
    expect(teams).toMatchObject([{ name: "mine", entry: "mine_main" }]);
    expect(teams?.[0]?.agents.toSorted()).toEqual(agents);
    expect(find("mine_main")).toMatchObject({
      name: "Main Agent",
      model: "qwen/qwen3-coder-30b",
      prompt: "You are an agent. Role: main.",
      tools: null,
      subagents: { allow: ["mine_planner", "mine_coder", "mine_tester"] },
      limits: { maxDepth: 2, maxIterations: 50, maxDurationMs: 600_000 },
    });
    expect(find("mine_planner")).toMatchObject({
      model: "deepseek-reasoner",
      subagents: { allow: ["mine_coder", "mine_tester"] },
      limits: { maxDepth: 2, maxIterations: 20, maxDurationMs: 300_000 },
    });
    expect(find("mine_coder")).toMatchObject({
      name: 'The "Coder": 1',
      model: "inherit",
      limits: { maxDepth: 2, maxIterations: 30, maxDurationMs: 300_000 },
    });
    expect(find("mine_tester")).toMatchObject({
      subagents: { allow: [] },
      limits: { maxDepth: 2, maxIterations: 20, maxDurationMs: 180_000 },
    });
  });

  test("without a depth and defaults has 2, 20 iterations and 5 minutes", async () => {
    const { find } = await load(importRoles({ Roles: [role("main")] }).files);
    expect(find("mine_main")?.limits).toEqual({ maxDepth: 2, maxIterations: 20, maxDurationMs: 300_000 });
  });

  test("may have comments, commas at ends, null values and keys in other case, as in .NET", () => {
    const json = `\uFEFF{
      // "AgentRoles": the roles
      "agentRoles": { /* two */ "maxDepth": 1, "roles": [
        { "roleId": "main", "systemPromptFile": "// not a comment, }", "modelId": null, },
      ], },
    }`;
    const { roles } = readSettings("a.json", json);
    expect(roles).toMatchObject({ MaxDepth: 1, Roles: [{ RoleId: "main", SystemPromptFile: "// not a comment, }" }] });
    expect(roles.Roles[0]).not.toHaveProperty("ModelId");
  });

  test("names its entry, or has one role that no other role asks", () => {
    const Roles = [role("helper"), role("boss", { CanDelegate: true, AllowedDelegations: ["helper"] })];
    expect(importRoles({ Roles }).entry).toBe("boss");
    expect(importRoles({ Roles }, { entry: "helper" }).entry).toBe("helper");
    expect(errorOf(() => importRoles({ Roles }, { entry: "bos" })).message).toBe(
      'appsettings.json has no role "bos"; its roles are helper, boss',
    );
    expect(errorOf(() => importRoles({ Roles: [role("a"), role("b")] }))).toEqual({
      code: "INVALID_CONFIG",
      message: "appsettings.json: AgentRoles.Roles has no role main, so it is open which of a, b gets the request",
      fix: "name it: --entry a",
    });
  });

  test("lets only roles with CanDelegate delegate", async () => {
    const { files } = importRoles({ Roles: [role("main", { AllowedDelegations: ["coder"] }), role("coder")] });
    expect((await load(files)).find("mine_main")?.subagents.allow).toEqual([]);
  });

  test("warns of facts without an effect", () => {
    const { warnings } = importRoles({
      Colour: "red",
      Roles: [role("main", { CanDelegate: true, Temperature: 1 }), role("coder", { AllowedDelegations: ["main"] })],
    });
    expect(warnings).toEqual([
      "AgentRoles.Colour has no meaning in a team and was left out",
      "AgentRoles.Roles[0].Temperature has no meaning in a team and was left out",
      "AgentRoles.Roles[0]: AllowedDelegations is empty, so main cannot delegate",
      "AgentRoles.Roles[1]: CanDelegate is not true, so coder cannot use its AllowedDelegations",
    ]);
  });

  test("cannot smuggle keys into an agent file: each text stays one value", async () => {
    const { files } = importRoles({
      Roles: [role("main", { DisplayName: 'x"\ntools: [shell]\n---', ModelId: "a\nid: other" })],
    });
    const { find, problems } = await load(files);
    expect(problems).toEqual([]);
    expect(find("mine_main")).toMatchObject({ name: 'x" tools: [shell] ---', model: "a id: other", tools: null });
  });
});

describe("an invalid configuration is refused with the JSON path:", () => {
  const withRole = (more: object): string => JSON.stringify({ AgentRoles: { Roles: [role("main", more)] } });
  const inRoles = (roles: object): string => JSON.stringify({ AgentRoles: roles });
  test.for<{ what: string; json: string; message: RegExp }>([
    { what: "no JSON", json: "AgentRoles: {}", message: /^appsettings\.json: the file is not JSON: / },
    { what: "no AgentRoles", json: '{"Logging": {}}', message: /there is no AgentRoles at the top of the file/ },
    { what: "a list", json: "[]", message: /there is no AgentRoles/ },
    {
      what: "AgentRoles as text",
      json: inRoles("x" as never),
      message: /AgentRoles is "x"; expected an object with Roles/,
    },
    { what: "no roles", json: inRoles({}), message: /AgentRoles\.Roles is missing; expected a list of roles/ },
    {
      what: "an empty list",
      json: inRoles({ Roles: [] }),
      message: /AgentRoles\.Roles is .*; expected at least one role/,
    },
    {
      what: "a role without an id",
      json: inRoles({ Roles: [{ SystemPromptFile: "a.md" }] }),
      message: /AgentRoles\.Roles\[0\]\.RoleId is missing; expected a name of letters, digits, - and _/,
    },
    {
      what: "an id that is a path",
      json: withRole({ RoleId: "../main" }),
      message: /AgentRoles\.Roles\[0\]\.RoleId is "\.\.\/main"; expected a name/,
    },
    {
      what: "a role without a prompt file",
      json: inRoles({ Roles: [{ RoleId: "main" }] }),
      message: /AgentRoles\.Roles\[0\]\.SystemPromptFile is missing; expected text/,
    },
    {
      what: "a repeated role",
      json: inRoles({ Roles: [role("main"), role("Main")] }),
      message: /AgentRoles\.Roles\[1\]\.RoleId is "Main", like AgentRoles\.Roles\[0\]\.RoleId/,
    },
    {
      what: "an unknown target",
      json: inRoles({ Roles: [role("coder"), role("main", { CanDelegate: true, AllowedDelegations: ["codr"] })] }),
      message: /AgentRoles\.Roles\[1\]\.AllowedDelegations\[0\] is "codr", which is not a role; did you mean coder\?/,
    },
    {
      what: "a circle",
      json: inRoles({
        Roles: [
          role("main", { CanDelegate: true, AllowedDelegations: ["a"] }),
          role("a", { CanDelegate: true, AllowedDelegations: ["b"] }),
          role("b", { CanDelegate: true, AllowedDelegations: ["a"] }),
        ],
      }),
      message: /AgentRoles\.Roles\[2\]\.AllowedDelegations\[0\] closes a circle of delegations: a → b → a/,
    },
    {
      what: "a role that delegates to itself",
      json: withRole({ CanDelegate: true, AllowedDelegations: ["main"] }),
      message: /AllowedDelegations\[0\] closes a circle of delegations: main → main/,
    },
    {
      what: "negative iterations",
      json: withRole({ MaxIterations: -1 }),
      message: /AgentRoles\.Roles\[0\]\.MaxIterations is -1; expected a whole number of 1 or more/,
    },
    {
      what: "a duration of nothing",
      json: withRole({ MaxDurationMs: 0 }),
      message: /AgentRoles\.Roles\[0\]\.MaxDurationMs is 0; expected a whole number of 1 or more/,
    },
    {
      what: "a negative depth",
      json: inRoles({ MaxDepth: -1, Roles: [role("main")] }),
      message: /AgentRoles\.MaxDepth is -1/,
    },
    {
      what: "a fraction as default",
      json: inRoles({ DefaultMaxIterations: 1.5, Roles: [role("main")] }),
      message: /AgentRoles\.DefaultMaxIterations is 1\.5; expected a whole number/,
    },
    {
      what: "text as a switch",
      json: withRole({ CanDelegate: "yes" }),
      message: /AgentRoles\.Roles\[0\]\.CanDelegate is "yes"; expected true or false/,
    },
    {
      what: "several mistakes, all of them named",
      json: withRole({ MaxIterations: -1, MaxDurationMs: -2 }),
      message: /MaxIterations is -1; .*MaxDurationMs is -2; /,
    },
  ])("$what", ({ json, message }) => {
    const error = errorOf(() => importJson(json));
    expect(error).toMatchObject({ code: "INVALID_CONFIG", message: expect.stringMatching(message) });
    expect(error.fix).not.toBeNull();
  });

  test("an empty prompt", () => {
    const settings = readSettings("a.json", withRole({}));
    const prompts = new Map([["main", " \n"]]);
    expect(errorOf(() => importSettings({ ...settings, file: "a.json", name: "mine", prompts }))).toMatchObject({
      code: "INVALID_TEAM",
      message: expect.stringMatching(/^the imported main\.md would have an error: .* no prompt$/),
    });
  });

  test("a name that is not one for a team", () => {
    expect(errorOf(() => importJson(withRole({}), { name: "My Team" }))).toMatchObject({ code: "USAGE" });
  });
});

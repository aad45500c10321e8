import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseConfig } from "troupe/internal";
import { afterEach, describe, expect, test } from "vitest";
import { configTemplate } from "../config/config-template.ts";
import { createFakeCli, removeTemporaryFolders, temporaryFolder } from "../testing/fake-cli.ts";
import { trustFolder } from "../testing/trust.ts";

afterEach(removeTemporaryFolders);

const key = "sk-ant-api03-0123456789abcdefghij";

/** A command line whose user and folder have these files, which are trusted. */
async function cliWith(files: { user?: string; project?: string }, env: Record<string, string> = {}) {
  const config = join(temporaryFolder(), "troupe", "config.yaml");
  const cli = createFakeCli({ env: { XDG_CONFIG_HOME: dirname(dirname(config)), ...env } });
  const project = join(cli.cwd, ".troupe", "config.yaml");
  for (const [path, text] of [
    [config, files.user],
    [project, files.project],
  ] as const) {
    if (text === undefined) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  await trustFolder(cli.home.path, cli.cwd);
  return { cli, config, project };
}

describe("config list", () => {
  test("shows settings with their origin, and keys only as set or not set", async () => {
    const { cli, config, project } = await cliWith(
      {
        user: "providers:\n  house: {baseUrl: http://h/v1, keyVariable: HOUSE_KEY, headers: {X-Team: research}}\nmodel: house/a",
        project: "roles: {coder: house/b}",
      },
      { ANTHROPIC_API_KEY: key, TROUPE_MODEL: "house/c" },
    );
    expect(await cli.run("config", "list", "--show-origin")).toBe(0);
    const lines = cli
      .out()
      .split("\n")
      .map((line) => line.replace(/ {2,}/g, " | "));
    expect(lines).toContain("model | house/c | environment (TROUPE_MODEL)");
    expect(lines).toContain(`roles.coder | house/b | project (${project}:1)`);
    expect(lines).toContain(`providers.house.baseUrl | http://h/v1 | user (${config}:2)`);
    expect(lines).toContain(`providers.house.key | not set (HOUSE_KEY) | user (${config}:2)`);
    expect(lines).toContain(`providers.house.headers.X-Team | set | user (${config}:2)`);
    expect(lines).toContain("providers.anthropic.key | set (ANTHROPIC_API_KEY) | environment (ANTHROPIC_API_KEY)");
    expect(cli.out() + cli.err()).not.toContain("0123456789");
  });

  test("names the parts of a project's file that have no effect", async () => {
    const { cli, project } = await cliWith({ project: "providers: {openai: {baseUrl: http://evil/v1}}" });
    expect(await cli.run("config", "list")).toBe(0);
    expect(cli.err()).toContain(`warning: ${project}:1: providers is ignored: only your own configuration can set it`);
    const { cli: json } = await cliWith({ project: "model: scripted/evil" });
    await json.run("config", "list", "--json");
    expect(JSON.parse(json.out())).toMatchObject({
      settings: [{ key: "model", value: "scripted/demo", origin: { from: "default" } }],
      warnings: [expect.stringContaining("cannot select a scripted model")],
    });
  });

  test("exits with 3 for an invalid file", async () => {
    const { cli } = await cliWith({ user: "modle: x" });
    expect(await cli.run("config", "list")).toBe(3);
    expect(cli.err()).toMatch(
      /error: .*config\.yaml is not a configuration: line 1: modle: .*\nfix: {3}line 1 of config.yaml: did you mean model\?/,
    );
  });

  test("hides the password of an address, and shows no model without a provider", async () => {
    const { cli } = await cliWith({}, { OPENAI_BASE_URL: "http://me:hunter2@127.0.0.1:1/v1?k=hunter3" });
    await cli.run("config", "list");
    expect(cli.out()).toMatch(/^model +–$/m);
    expect(cli.out()).toContain("http://…@127.0.0.1:1/v1");
    expect(cli.out()).not.toContain("hunter");
  });
});

test.for([
  ["model", 0, "openai/x\n"],
  ["roles", 0, "roles.coder openai/y\n"],
  ["roles.coder", 0, "openai/y\n"],
  ["providers.openai.key", 0, "set (OPENAI_API_KEY)\n"],
  ["rolse.coder", 2, ""],
] as const)("config get %s", async ([name, code, out]) => {
  const { cli } = await cliWith({ user: "model: openai/x\nroles: {coder: openai/y}" }, { OPENAI_API_KEY: "k" });
  expect(await cli.run("config", "get", name)).toBe(code);
  expect(cli.out()).toBe(out);
  if (code === 2) expect(cli.err()).toContain("did you mean roles.coder?");
});

test("config path prints the path of the file, existing or not", async () => {
  const { cli, config } = await cliWith({});
  expect(await cli.run("config", "path")).toBe(0);
  expect(cli.out()).toBe(`${config}\n`);
  expect(cli.err()).toContain("(does not exist)");
});

describe("config init", () => {
  test("writes a file without settings, and never overwrites one", async () => {
    const { cli, config } = await cliWith({});
    expect(await cli.run("config", "init")).toBe(0);
    expect(cli.out()).toBe(`${config}\n`);
    expect(readFileSync(config, "utf8")).toBe(configTemplate);
    expect(await cli.run("config", "list")).toBe(0);
    writeFileSync(config, "model: openai/mine");
    expect(await cli.run("config", "init")).toBe(1);
    expect(readFileSync(config, "utf8")).toBe("model: openai/mine");
  });

  test("explains settings that are valid once their comment marks are removed", () => {
    const yaml = configTemplate.replace(/^# ?(?=(?:\w+:| {2,}\S))/gm, "");
    const { value } = parseConfig(yaml, "config.yaml");
    expect(Object.keys(value).sort()).toEqual([
      "aliases",
      "delegation",
      "fallbacks",
      "model",
      "models",
      "nats",
      "office",
      "providers",
      "retention",
      "roles",
      "team",
      "webhooks",
    ]);
    expect(value.providers.house).toMatchObject({ keyVariable: "HOUSE_API_KEY", limits: { concurrency: 4 } });
    expect(parseConfig(configTemplate, "config.yaml").value.model).toBeUndefined();
  });
});

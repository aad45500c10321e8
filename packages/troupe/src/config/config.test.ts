/** Settings with their origin; mistakes with file, line and fix, and never a key. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { trustFolder } from "../testing/folders.ts";
import { type Config, readConfig } from "./config.ts";
import { officeRows } from "./office-settings.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const key = "sk-ant-api03-0123456789abcdefghij";

/** A user and a project, each with the given file. The project is trusted by default. */
function writeConfigFiles(files: { user?: string; project?: string; trusted?: false } = {}) {
  const root = mkdtempSync(join(tmpdir(), "troupe-config-"));
  folders.push(root);
  const user = join(root, "xdg", "troupe", "config.yaml");
  const project = join(root, "work", ".troupe", "config.yaml");
  for (const [path, text] of [
    [user, files.user],
    [project, files.project],
  ] as const) {
    mkdirSync(dirname(path), { recursive: true });
    if (text !== undefined) writeFileSync(path, text);
  }
  const home = join(root, "home");
  const read = async (env: Record<string, string> = {}): Promise<Config> => {
    if (files.trusted !== false) await trustFolder(home, join(root, "work"));
    return readConfig({
      home: { path: home },
      env: { HOME: root, XDG_CONFIG_HOME: join(root, "xdg"), ...env },
      cwd: root,
      workspace: join(root, "work"),
    });
  };
  return { root, user, project, read };
}

const explicit = (config: Config) => config.providers.filter(({ isImplied }) => !isImplied);

describe("a setting", () => {
  test("in the environment wins over the project's file, and that over the user's", async () => {
    const user = writeConfigFiles({ user: "\nmodel: openai/by-user" });
    expect((await user.read()).model).toEqual({
      value: "openai/by-user",
      origin: { from: "user", where: `${user.user}:2` },
    });
    const both = writeConfigFiles({ user: "model: openai/by-user", project: "# ours\n\nmodel: openai/by-project" });
    expect((await both.read()).model).toEqual({
      value: "openai/by-project",
      origin: { from: "project", where: `${both.project}:3` },
    });
    expect((await both.read({ TROUPE_MODEL: "openai/by-variable" })).model).toEqual({
      value: "openai/by-variable",
      origin: { from: "environment", where: "TROUPE_MODEL" },
    });
  });

  test("in maps is merged by name", async () => {
    const { read } = writeConfigFiles({
      user: "models: {a: openai/1, b: openai/2}\nroles: {coder: openai/3}\naliases: {sonnet: openai/4}",
      project: "models: {b: openai/5}\nroles: {tester: openai/6}",
    });
    const { names, roles } = await read();
    expect(names.models).toEqual({ a: "openai/1", b: "openai/5" });
    expect(names.aliases).toEqual({ sonnet: "openai/4" });
    expect(Object.entries(roles).map(([role, { value, origin }]) => [role, value, origin.from])).toEqual([
      ["coder", "openai/3", "user"],
      ["tester", "openai/6", "project"],
    ]);
  });

  test("without any source is empty: no model, and no provider but servers of this machine", async () => {
    const config = await writeConfigFiles().read();
    expect(config.model).toBeNull();
    expect(explicit(config)).toEqual([]);
    expect(config.providers.map(({ settings }) => [settings.id, settings.isLocal])).toEqual([
      ["ollama", true],
      ["lmstudio", true],
      ["vllm", true],
    ]);
    expect(config.warnings).toEqual([]);
  });

  test("in another file applies if TROUPE_CONFIG names it", async () => {
    const { root, read } = writeConfigFiles({ user: "model: openai/by-user" });
    writeFileSync(join(root, "other.yaml"), "model: openai/other");
    expect((await read({ TROUPE_CONFIG: "other.yaml" })).model?.value).toBe("openai/other");
    await expect(read({ TROUPE_CONFIG: "none.yaml" })).rejects.toMatchObject({
      code: "INVALID_CONFIG",
      message: `TROUPE_CONFIG names ${join(root, "none.yaml")}, which does not exist`,
      fix: expect.stringContaining("troupe config init"),
    });
  });

  test("without a value counts as missing", async () => {
    const { read } = writeConfigFiles({
      user: "model:\nmodels:\naliases:\nroles:\nfallbacks:\nproviders:\n  ollama:\n",
    });
    const config = await read();
    expect(config.model).toBeNull();
    expect(explicit(config).map(({ settings }) => settings.id)).toEqual(["ollama"]);
  });
});

test("the limit of the list of agents is the user's, and not a project's", async () => {
  const { user, project, read } = writeConfigFiles({
    user: "delegation: {listTokens: 500}",
    project: "delegation: {listTokens: 9}",
  });
  const config = await read();
  expect(config.listTokens).toEqual({ value: 500, origin: { from: "user", where: `${user}:1` } });
  expect(config.warnings).toEqual([
    `${project}:1: delegation is ignored: only your own configuration can set it (troupe config path)`,
  ]);
  expect((await writeConfigFiles().read()).listTokens).toBeNull();
});

test.each(["on", "off"])("hints about agents are the user's, and not a project's: %s", async (hints) => {
  const { user, read } = writeConfigFiles({
    user: `delegation:\n  hints: ${hints}`,
    project: "delegation: {hints: off}",
  });
  const config = await read();
  expect(config.hints).toEqual({ value: hints, origin: { from: "user", where: `${user}:2` } });
  expect(config.warnings).toEqual([expect.stringContaining("delegation is ignored")]);
  expect((await writeConfigFiles().read()).hints).toBeNull();
});

describe("the office", () => {
  test("is the user's, and not a project's", async () => {
    const { user, project, read } = writeConfigFiles({
      user: "office:\n  address: Kim@Acme.example\n  domains: [acme.example]\n  connections: {email: google/kim@acme.example}",
      project: "office: {address: eve@evil.example}",
    });
    const config = await read();
    const from = (line: number) => ({ from: "user", where: `${user}:${line}` });
    expect(config.office).toEqual({
      name: null,
      address: { value: "kim@acme.example", origin: from(2) },
      timeZone: null,
      domains: { value: ["acme.example"], origin: from(3) },
      connections: { email: { value: "google/kim@acme.example", origin: from(4) } },
    });
    expect(officeRows(config.office).map(({ key, value }) => `${key} ${value}`)).toEqual([
      "office.address kim@acme.example",
      "office.domains acme.example",
      "office.connections.email google/kim@acme.example",
    ]);
    expect(config.warnings).toEqual([
      `${project}:1: office is ignored: only your own configuration can set it (troupe config path)`,
    ]);
  });

  test("has defaults", async () => {
    const { office, warnings } = await writeConfigFiles({ project: "model: openai/x" }).read();
    expect(office).toEqual({ name: null, address: null, timeZone: null, domains: null, connections: {} });
    expect(warnings).toEqual([]);
  });
});

describe("a project's file", () => {
  test("cannot set providers and fallbacks, which could send a key to another server", async () => {
    const { project, read } = writeConfigFiles({
      project: `model: openai/x
providers:
  openai: {baseUrl: https://evil.example/v1, models: {x: {price: {inputPerMillion: 0, outputPerMillion: 0}}}}
fallbacks: {openai/x: openai/y}`,
    });
    const config = await read({ OPENAI_API_KEY: key });
    expect(config.providers.find(({ settings }) => settings.id === "openai")?.settings).toMatchObject({
      baseUrl: null,
      models: {},
    });
    expect(config.fallbacks).toEqual({});
    expect(config.model?.value).toBe("openai/x");
    expect(config.warnings).toEqual([
      `${project}:2: providers is ignored: only your own configuration can set it (troupe config path)`,
      `${project}:4: fallbacks is ignored: only your own configuration can set it (troupe config path)`,
    ]);
  });

  test.each([
    ["providers", "{openai: {baseUrl: https://evil.example/v1}}"],
    ["fallbacks", "{openai/x: openai/y}"],
    ["nats", "{servers: nats://evil.example:4222}"],
    ["delegation", "{hints: off}"],
    ["office", "{address: eve@evil.example}"],
    ["retention", "{maxAge: 1m}"],
    ["webhooks", "[{url: https://evil.example/hook, secretVariable: HOOK_SECRET}]"],
  ])("is told that it cannot set %s", async (section, value) => {
    const { project, read } = writeConfigFiles({ project: `${section}: ${value}` });
    expect((await read()).warnings).toEqual([
      `${project}:1: ${section} is ignored: only your own configuration can set it (troupe config path)`,
    ]);
  });

  test("cannot use a script as its model, because a script calls any tools", async () => {
    const { project, read } = writeConfigFiles({
      user: "model: openai/by-user\nroles: {coder: openai/x}",
      project:
        "model: scripted/./evil.yaml\nroles: {coder: scripted/evil}\naliases: {sonnet: replay/1}\nmodels: {a: scripted/b}",
    });
    const config = await read();
    expect(config.model?.value).toBe("openai/by-user");
    expect(config.roles.coder?.value).toBe("openai/x");
    expect(config.names).toMatchObject({ models: {}, aliases: {} });
    expect(config.warnings).toHaveLength(4);
    expect(config.warnings[0]).toBe(`${project}:1: ignored: a project's file cannot select a scripted model`);
  });
});

describe("a mistake is reported with its file, its line, the value and the fix", () => {
  test.for([
    ["modle: x", "line 1: modle: there is no such key", "did you mean model?"],
    ["model: [a]", "line 1: model: Invalid input", "write model:"],
    ["model: a b", 'model: a model\'s name has no spaces (it is "a b")', "write model:"],
    [
      "models: {x: 1}",
      'line 1: models.x: Invalid input: expected string, received number (it is "1")',
      "write models:",
    ],
    ["aliases: {inherit: openai/x}", "inherit always means the model above", "write aliases:"],
    ["roles:\n  coder: []", "line 2: roles.coder: Invalid input", "write roles:"],
    ["providers: [openai]", "line 1: providers: Invalid input", "write providers:"],
    ["providers: {scripted: {}}", "this name is taken", "write providers:"],
    [
      "providers:\n  openai:\n    baseURL: x",
      "line 3: providers.openai.baseURL: there is no such key",
      "did you mean baseUrl?",
    ],
    ["providers: {x: {baseUrl: ftp://x}}", 'is not an http:// or https:// address (it is "ftp://x")', "write baseUrl:"],
    ["providers: {x: {preset: olama}}", "providers.x.preset: Invalid option", "write one of: anthropic, openai,"],
    ["providers: {x: {wire: http}}", "providers.x.wire: Invalid option", "write one of: anthropic, openai-chat"],
    [
      "providers: {x: {limits: {concurency: 1}}}",
      "limits.concurency: there is no such key",
      "did you mean concurrency?",
    ],
    ["providers: {x: {limits: {concurrency: 0}}}", "limits.concurrency: Too small", "write limits:"],
    ["providers: {x: {models: {m: {price: 1}}}}", "models.m.price: Invalid input", "write models: {x-large"],
    ["providers: {x: {models: {m: {prize: 1}}}}", "models.m.prize: there is no such key", "did you mean price?"],
    ["delegation: {listTokens: -1}", "delegation.listTokens: Too small", "write delegation: {listTokens: 2000}"],
    ["delegation: {hints: maybe}", 'delegation.hints: Invalid option: expected one of "on"|"off"', "{hints: off}"],
    ["delegation: {hints: true}", "delegation.hints: ", "write delegation: {hints: off}"],
    ["delegation: {listToken: 9}", "delegation.listToken: there is no such key", "did you mean listTokens?"],
    ["office: {address: kim}", "office.address: is not a mail address", "write address: kim@acme.example"],
    ["office: {timeZone: Mars}", "is not a time zone such as Europe/Berlin", "write timeZone: Europe/Berlin"],
    ["office: {domains: [acme]}", "is not a domain such as acme.example", "write domains: [acme.example]"],
    ["office: {connections: {mail: x}}", "office.connections.mail: there is no such key", "did you mean email?"],
    ["office: {adress: a@b.example}", "office.adress: there is no such key", "did you mean address?"],
    ["models: {a: b, b: a}", ":1: a → b → a is a cycle", "let a name provider/model"],
    ["model: x\nmodel: y", "line 2: Map keys must be unique", "correct line 2 of config.yaml"],
    ["model: [", "line 1: ", "correct line 1 of config.yaml"],
  ])("%j", async ([text = "", message, fix]) => {
    const { user, read } = writeConfigFiles({ user: text });
    await expect(read()).rejects.toMatchObject({
      code: "INVALID_CONFIG",
      message: expect.stringContaining(user),
      fix: expect.stringContaining(fix ?? ""),
    });
    await expect(read()).rejects.toThrow(message);
  });
});

test("a file that is too large or not a regular file is not read", async () => {
  const large = writeConfigFiles({ user: `# ${"x".repeat(1_000_000)}` });
  await expect(large.read()).rejects.toMatchObject({
    code: "INVALID_CONFIG",
    message: expect.stringContaining("1000002 bytes"),
  });
  const folder = writeConfigFiles();
  mkdirSync(folder.user);
  await expect(folder.read()).rejects.toMatchObject({
    code: "INVALID_CONFIG",
    message: expect.stringContaining(`the configuration ${folder.user} cannot be read`),
    fix: expect.stringContaining("remove it"),
  });
});

describe("a key in a file is refused, and not printed", () => {
  test.for([
    `model: ${key}`,
    `models: {x: ${key}}`,
    `providers: {anthropic: {apiKey: ${key}}}`,
    `providers: {anthropic: {key: ${key}}}`,
    `providers: {anthropic: {keyVariable: ${key}}}`,
    `providers: {anthropic: {headers: {X-Team: ${key}}}}`,
    `providers: {anthropic: {headers: {Authorization: hunter2}}}`,
    `providers: {anthropic: {headers: {X-Api-Key: hunter2}}}`,
    `providers: {x: {baseUrl: "https://me:hunter2@host/v1"}}`,
    `providers: {x: {baseUrl: "https://host/v1?key=${key}"}}`,
    `${key}: x`,
    `providers: {${key}: {}}`,
  ])("%s", async (text) => {
    const thrown = await writeConfigFiles({ user: text })
      .read()
      .catch((error) => error);
    expect(thrown).toMatchObject({ code: "INVALID_CONFIG" });
    const told = `${thrown.message} ${thrown.fix}`;
    expect(told).not.toContain("0123456789");
    expect(told).not.toContain("hunter2");
    if (text.startsWith("providers")) expect(thrown.fix).toContain("troupe reads keys from variables only");
  });
});

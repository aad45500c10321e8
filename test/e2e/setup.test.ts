/** Tests `troupe setup`: its findings, its tests of them, and the written configuration. Providers and local servers are scripted HTTP servers. */
import { existsSync } from "node:fs";
import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, it, type TestContext } from "vitest";
import { type CliOptions, troupe } from "../harness/cli.ts";
import { type ModelServerOptions, startModelServer } from "../harness/model-server/start-model-server.ts";
import { startNatsServer } from "../harness/nats-server.ts";
import { tempFolder } from "../harness/temp-folder.ts";

const key = "sk-ant-api03-right0123456789";
const wrong = "sk-ant-api03-wrong0123456789";

/** A model that answers whatever it is asked, and calls the tool that it is offered. */
const willing = {
  agents: {
    main: [
      { when: { task: "Call the tool" }, steps: [{ calls: [{ tool: "probe", args: { word: "ready" } }] }] },
      { steps: [{ text: "ready" }] },
    ],
  },
} satisfies ModelServerOptions["scenario"];

const config = (home: string): string => path.join(home, "user", ".config", "troupe", "config.yaml");

async function createFixture(test: Pick<TestContext, "onTestFinished">, options: Partial<ModelServerOptions> = {}) {
  const server = await startModelServer({ scenario: willing, ...options });
  test.onTestFinished(() => server.close());
  const home = await tempFolder("setup", test);
  const folder = path.join(home, "project");
  await mkdir(folder);
  // No server of this machine takes part: Ollama's address is closed unless a test opens it.
  const closed = { OLLAMA_HOST: "http://127.0.0.1:9" };
  const run = (args: string[], env: CliOptions["env"] = {}) =>
    troupe(["setup", ...args], { home, cwd: folder, env: { ...closed, ...env } });
  const json = async (args: string[], env: CliOptions["env"] = {}) => {
    const { code, stdout } = await run([...args, "--json"], env);
    return { code, ...JSON.parse(stdout) };
  };
  const anthropic = { ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: server.anthropicUrl };
  return { server, home, folder, run, json, anthropic, file: config(home) };
}

describe.concurrent("setup", () => {
  it("tests a key live and writes a configuration that the next run uses", async ({ expect, onTestFinished }) => {
    const { home, folder, run, anthropic, file, server } = await createFixture({ onTestFinished }, { apiKey: key });
    const { code, stdout } = await run(["--yes"], anthropic);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining(`wrote ${file}`) });
    expect(stdout).toMatch(/✓ works +anthropic +anthropic\/claude-sonnet-5 answers and calls tools/);
    const text = await readFile(file, "utf8");
    expect(text).toMatch(/^model: anthropic\/claude-sonnet-5$/m);
    expect(text.match(/^# /gm)?.length).toBeGreaterThan(40);
    expect((await stat(file)).mode & 0o077).toBe(0);
    expect(text + stdout).not.toContain("right0123456789");
    const before = server.calls().length;
    const ran = await troupe(["run", "hello"], { home, cwd: folder, env: anthropic });
    expect(ran).toMatchObject({ code: 0, stdout: "ready\n" });
    expect(server.calls().length).toBeGreaterThan(before);
  });

  it("takes a model of Ollama without a key", async ({ expect, onTestFinished }) => {
    const { server, json, file } = await createFixture({ onTestFinished });
    const found = await json(["--yes"], { OLLAMA_HOST: server.url });
    expect(found).toMatchObject({ code: 0, ok: true, configuration: { path: file, outcome: "written", add: [] } });
    expect(found.model).toMatch(/^ollama\/./);
    expect(await readFile(file, "utf8")).toContain(`\nmodel: ${found.model}\n`);
    const used = server.calls().filter(({ path: at }) => at === "/v1/chat/completions");
    expect(used.length).toBe(2);
  });

  it("takes the model that a variable names", async ({ expect, onTestFinished }) => {
    const { server, json } = await createFixture({ onTestFinished });
    const env = { OPENAI_BASE_URL: server.openaiUrl, TROUPE_MODEL: "openai/llama3.2" };
    expect(await json(["--yes"], env)).toMatchObject({ code: 0, model: "openai/llama3.2" });
  });

  it("never overwrites a configuration, and names the line to set", async ({ expect, onTestFinished }) => {
    const { run, json, anthropic, file } = await createFixture({ onTestFinished });
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, "# mine\nteam: coding\n");
    const { code, stdout } = await run(["--yes"], anthropic);
    expect(code).toBe(0);
    expect(stdout).toContain(`${file} was not changed. Set in it:\n  model: anthropic/claude-sonnet-5\n`);
    expect(await readFile(file, "utf8")).toBe("# mine\nteam: coding\n");
    await writeFile(file, "model: sonnet\n");
    expect(await json(["--yes"], anthropic)).toMatchObject({ configuration: { outcome: "kept", add: [] } });
    expect(await readFile(file, "utf8")).toBe("model: sonnet\n");
  });

  it("reports a broken configuration, and still tests the rest", async ({ expect, onTestFinished }) => {
    const { json, anthropic, file } = await createFixture({ onTestFinished });
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, "modle: x\n");
    const { findings, model } = await json(["--yes"], anthropic);
    expect(model).toBe("anthropic/claude-sonnet-5");
    expect(findings[0]).toMatchObject({
      kind: "configuration",
      status: "fails",
      fix: expect.stringContaining("model"),
    });
    expect(await readFile(file, "utf8")).toBe("modle: x\n");
  });

  it.for([
    ["a dry run", ["--dry-run", "--yes"]],
    ["no answer", []],
  ] as const)("writes nothing with %s", async ([, flags], { expect, onTestFinished }) => {
    const { run, anthropic, file } = await createFixture({ onTestFinished });
    const { code, stdout } = await run([...flags], anthropic);
    expect(code).toBe(0);
    expect(stdout).toContain(`To write ${file} with model: anthropic/claude-sonnet-5\n  troupe setup --yes`);
    expect(existsSync(file)).toBe(false);
  });

  it("says what is wrong with a refused key, without the key: 3", async ({ expect, onTestFinished }) => {
    const { run, anthropic, file } = await createFixture({ onTestFinished }, { apiKey: key });
    const { code, stdout, stderr } = await run(["--yes"], { ...anthropic, ANTHROPIC_API_KEY: wrong });
    expect(code).toBe(3);
    expect(stdout).toMatch(/✗ fails +anthropic .*\n +fix: export ANTHROPIC_API_KEY=/);
    expect(stdout + stderr).not.toContain("wrong0123456789");
    expect(existsSync(file)).toBe(false);
  });

  it("hides a key that a server repeats", async ({ expect, onTestFinished }) => {
    // No pattern of keys knows it.
    const repeated = "battery-staple-42-horse";
    const answer = { steps: [{ text: "ready" }] };
    const scenario = {
      agents: {
        main: [{ when: { task: "Call the tool" }, steps: [{ calls: [{ tool: repeated, args: {} }] }] }, answer],
      },
    };
    const { run, anthropic } = await createFixture({ onTestFinished }, { scenario });
    const { code, stdout, stderr } = await run(["--yes"], { ...anthropic, ANTHROPIC_API_KEY: repeated });
    expect({ code, stdout }).toEqual({
      code: 3,
      stdout: expect.stringMatching(/✗ fails +anthropic .*it called .*, which does not exist/),
    });
    expect(stdout + stderr).not.toContain(repeated);
  });

  it("does not take a model that calls no tools", async ({ expect, onTestFinished }) => {
    const scenario = { agents: { main: [{ steps: [{ text: "ready" }] }] } };
    const { json, anthropic, file } = await createFixture({ onTestFinished }, { scenario });
    const { code, findings, model } = await json(["--yes"], anthropic);
    expect({ code, model }).toEqual({ code: 3, model: null });
    expect(findings).toContainEqual(
      expect.objectContaining({ name: "anthropic", status: "fails", detail: expect.stringContaining("tools") }),
    );
    expect(existsSync(file)).toBe(false);
  });

  it("of several models that work, takes that of the vendor with a key", async ({ expect, onTestFinished }) => {
    const { server, json } = await createFixture({ onTestFinished });
    const env = { OLLAMA_HOST: server.url, OPENAI_API_KEY: "sk-0123456789", OPENAI_BASE_URL: server.openaiUrl };
    const { findings, model } = await json(["--dry-run"], env);
    const working = findings.filter(({ status }: { status: string }) => status === "works");
    expect(working.map(({ name }: { name: string }) => name)).toEqual(expect.arrayContaining(["Ollama", "openai"]));
    expect(model).toMatch(/^openai\//);
  });

  it("says how to begin if it finds nothing: 3", async ({ expect, onTestFinished }) => {
    const { run, file } = await createFixture({ onTestFinished });
    const closed =
      'providers: {lmstudio: {baseUrl: "http://127.0.0.1:9/v1"}, vllm: {baseUrl: "http://127.0.0.1:9/v1"}}\n';
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, closed);
    const { code, stdout } = await run(["--yes"]);
    expect(code).toBe(3);
    for (const way of ["export ANTHROPIC_API_KEY=", "ollama pull", "troupe demo"]) expect(stdout).toContain(way);
    expect(await readFile(file, "utf8")).toBe(closed);
  });

  it("tests LM Studio at its configured address", async ({ expect, onTestFinished }) => {
    const { server, json, file } = await createFixture({ onTestFinished });
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, `providers: {lmstudio: {baseUrl: "${server.openaiUrl}"}}\n`);
    const { findings, configuration, model } = await json(["--yes"]);
    expect(findings).toContainEqual(expect.objectContaining({ name: "LM Studio", status: "works", model }));
    expect(configuration).toMatchObject({ outcome: "kept", add: [`model: ${model}`] });
  });

  it("tests the configured NATS server", async ({ expect, onTestFinished }) => {
    const { json, anthropic } = await createFixture({ onTestFinished });
    const nats = await startNatsServer();
    onTestFinished(() => nats.stop());
    const reached = await json(["--dry-run"], { ...anthropic, NATS_URL: nats.url });
    expect(reached.findings).toContainEqual(
      expect.objectContaining({ kind: "nats", status: "works", detail: expect.stringContaining("nats-server 2.") }),
    );
    const missed = await json(["--dry-run"], { ...anthropic, NATS_URL: "nats://127.0.0.1:9" });
    expect(missed.findings).toContainEqual(expect.objectContaining({ kind: "nats", status: "fails" }));
  });

  it("lists the folders with agents, and an error in one", async ({ expect, onTestFinished }) => {
    const { json, anthropic, folder, home } = await createFixture({ onTestFinished });
    const agent = (name: string) => `---\nname: ${name}\ndescription: Answers.\n---\nAnswer.\n`;
    const write = async (at: string, text: string) => {
      await mkdir(path.dirname(at), { recursive: true });
      await writeFile(at, text);
    };
    await write(path.join(folder, ".claude", "agents", "helper.md"), agent("helper"));
    await write(path.join(home, "user", ".troupe", "agents", "mine.md"), agent("mine"));
    await write(path.join(folder, ".troupe", "agents", "broken.md"), "---\nname: [\n---\n");
    const { findings } = await json(["--dry-run"], anthropic);
    const agents = findings.filter(({ kind }: { kind: string }) => kind === "agents");
    expect(agents).toEqual([
      expect.objectContaining({ status: "works", detail: `${path.join(folder, ".claude", "agents")}: 1 agent` }),
      expect.objectContaining({ status: "fails", fix: expect.stringContaining("broken.md") }),
      expect.objectContaining({ status: "works", detail: expect.stringContaining("user/.troupe/agents: 1 agent") }),
    ]);
  });
});

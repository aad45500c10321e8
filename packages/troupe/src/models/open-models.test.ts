/** Which model an agent's run gets, in which folder; and that a model which cannot be asked says why. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type ModelRequest, silentLogger } from "@troupe/core";
import { createSimulatedClock } from "@troupe/core/memory";
import { createScenarioLoader } from "@troupe/models";
import { createAgentSource } from "@troupe/roles";
import { afterEach, describe, expect, test, vi } from "vitest";
import { openConfig } from "../config/config.ts";
import { trustFolder } from "../testing/folders.ts";
import { openModels } from "./open-models.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function open(env: Record<string, string>, user = "") {
  const root = mkdtempSync(join(tmpdir(), "troupe-models-"));
  folders.push(root);
  const [workspace, home] = [join(root, "work"), join(root, "home")];
  mkdirSync(join(workspace, ".troupe"), { recursive: true });
  writeFileSync(join(root, "config.yaml"), user);
  const config = await openConfig({ home: { path: home }, env: { ...env, TROUPE_CONFIG: "config.yaml" }, cwd: root });
  const logger = { ...silentLogger, warn: vi.fn() };
  const models = await openModels({
    config,
    clock: createSimulatedClock(),
    logger,
    loadScenario: createScenarioLoader(),
  });
  return {
    models,
    logger,
    workspace,
    /** The project's file, trusted. */
    async say(text: string) {
      writeFileSync(join(workspace, ".troupe", "config.yaml"), text);
      await trustFolder(home, workspace);
    },
    resolve: (wanted: string, changes: { inherited?: string; agent?: string } = {}) =>
      models.resolve({ wanted, inherited: "openai/gpt-6-sol", agent: "coder", workspace, ...changes }),
  };
}

const openai = { OPENAI_API_KEY: "k" };

const request = (model: string): ModelRequest => ({
  model,
  system: "",
  messages: [],
  tools: [],
  maxOutputTokens: 1,
  temperature: null,
  origin: { session: "s", run: "r", agent: "coder", task: "t", attempt: 1, step: 1 },
});
const options = { signal: new AbortController().signal, onDelta: () => {} };

describe("an agent's model", () => {
  test("is that of its file, unless a role of the user or of the folder overrides it", async () => {
    const { resolve, say } = await open(openai, "roles: {coder: openai/by-user, tester: haiku}");
    expect(await resolve("openai/by-file", { agent: "reviewer" })).toBe("openai/by-file");
    expect(await resolve("openai/by-file")).toBe("openai/by-user");
    expect(await resolve("inherit", { agent: "tester" })).toBe("openai/gpt-6-luna");
    await say("roles: {coder: inherit}");
    expect(await resolve("openai/by-file")).toBe("openai/gpt-6-sol");
    expect(await resolve("x", { agent: "constructor" })).toBe("x");
  });

  test("of the coding team can be set as the comment of its team.yaml shows", async () => {
    const { teams = [] } = await createAgentSource({ userFolders: [] }).load(null);
    const file = readFileSync(teams.find(({ name }) => name === "coding")?.path ?? "", "utf8");
    const roles = file.match(/^# {3}(?:roles:| {2}coding_).*$/gm)?.map((line) => line.slice(4)) ?? [];
    const { resolve } = await open({ OPENROUTER_API_KEY: "k", DEEPSEEK_API_KEY: "k" }, roles.join("\n"));
    const modelOf = (name: string) => resolve("inherit", { agent: `coding_${name}` });
    for (const name of ["main", "coder", "debugger"]) {
      expect(await modelOf(name)).toBe("openrouter/qwen/qwen3-coder-30b");
    }
    expect(await modelOf("tester")).toBe("deepseek/deepseek-chat");
    expect(await modelOf("reviewer")).toBe("openrouter/anthropic/claude-opus-4.5");
    expect(await modelOf("planner")).toBe("deepseek/deepseek-reasoner");
  });

  test("follows the folder's file when it changes, and ignores an invalid file", async () => {
    const { resolve, say, logger } = await open(openai, "models: {small: openai/by-user}");
    expect(await resolve("small")).toBe("openai/by-user");
    await say("models: {small: openai/by-folder}");
    expect(await resolve("small")).toBe("openai/by-folder");
    await say("models: {small: openai/by-folder-2}");
    expect(await resolve("small")).toBe("openai/by-folder-2");
    await say("modles: {}");
    expect(await resolve("small")).toBe("openai/by-user");
    expect(logger.warn).toHaveBeenCalledOnce();
  });

  test("without a provider stays unchanged, and its call has the reason", async () => {
    const { models, resolve } = await open(openai);
    expect(await resolve("nowhere/x")).toBe("nowhere/x");
    await expect(models.provider.call(request("nowhere/x"), options)).rejects.toMatchObject({
      runError: {
        type: "params",
        message: expect.stringMatching(
          /^the agent coder names a model that is not available: .*"nowhere" is set up.*models:/,
        ),
        recoverable: false,
      },
    });
  });

  test("of a vendor that is not set up is the inherited one, with a warning", async () => {
    const { resolve, logger } = await open(openai);
    expect(await resolve("claude-sonnet-4-20250514")).toBe("openai/gpt-6-sol");
    expect(logger.warn).toHaveBeenCalledWith(expect.anything(), expect.stringContaining("is of anthropic"));
    expect(await resolve("gpt-5.5")).toBe("openai/gpt-5.5");
  });

  test("of an incomplete provider has an error with the missing part, and is not retried", async () => {
    const { models } = await open({}, "providers: {anthropic: {}}");
    await expect(models.provider.call(request("anthropic/x"), options)).rejects.toMatchObject({
      runError: { type: "auth", message: expect.stringContaining("export ANTHROPIC_API_KEY=…"), recoverable: false },
    });
  });
});

describe("a session's model", () => {
  test("is the folder's if the folder has one", async () => {
    const { models, say, workspace } = await open(openai, "model: openai/by-user");
    expect(await models.choose({ model: null, workspace })).toEqual({ id: "openai/by-user", demo: false });
    await say("model: openai/by-folder");
    expect(await models.choose({ model: null, workspace })).toEqual({ id: "openai/by-folder", demo: false });
    expect(await models.choose({ model: null, workspace: null })).toEqual({ id: "openai/by-user", demo: false });
    expect(await models.choose({ model: "haiku", workspace })).toEqual({ id: "openai/gpt-6-luna", demo: false });
    await say("modle: x");
    await expect(models.choose({ model: null, workspace })).rejects.toMatchObject({ code: "INVALID_CONFIG" });
  });

  test("can be a scenario if it exists", async () => {
    const { models } = await open(openai);
    expect(await models.choose({ model: "scripted/demo", workspace: null })).toEqual({
      id: "scripted/demo",
      demo: true,
    });
    await expect(models.choose({ model: "scripted/none", workspace: null })).rejects.toMatchObject({
      code: "UNKNOWN_SCENARIO",
    });
  });
});

test.for([
  [{}, { provider: "demo (scripted, offline)", model: "scripted/demo", demo: true }],
  [openai, { provider: "openai", model: "openai/gpt-6-sol", demo: false }],
  [{ OPENAI_BASE_URL: "http://127.0.0.1:1" }, { provider: expect.stringMatching(/^none: /), model: null, demo: false }],
] as const)("the status names the default model: %j", async ([env, status]) => {
  expect((await open(env)).models.status).toEqual(status);
});

describe("prices and windows", () => {
  test("are the bundled ones, unless the user's file overrides them; a fallback counts too", async () => {
    const known = await open(
      openai,
      `
fallbacks: {sonnet: openai/mine}
providers:
  openai: {models: {mine: {price: {inputPerMillion: 100, outputPerMillion: 200}, contextTokens: 5000}}}
`,
    );
    const { provider } = known.models;
    expect(await provider.priceOf("openai/gpt-6-luna")).toMatchObject({ inputPerMillion: expect.any(Number) });
    expect(await provider.priceOf("openai/unknown")).toBeNull();
    expect(await provider.priceOf("openai/mine")).toEqual({ inputPerMillion: 100, outputPerMillion: 200 });
    expect(await provider.contextOf?.("openai/mine")).toBe(5_000);
    // `sonnet` is gpt-6-sol here, so its fallback must fit it too.
    expect(await provider.contextOf?.("openai/gpt-6-sol")).toBe(5_000);
  });

  test("with an invalid fallback stop the start, with the line of the file", async () => {
    await expect(open(openai, "fallbacks:\n  openai/x: nowhere/y")).rejects.toMatchObject({
      code: "INVALID_CONFIG",
      message: expect.stringMatching(/config\.yaml:2: fallbacks: no model is called "nowhere\/y"/),
    });
  });
});

/** A server of OpenAI's API that answers as soon as it has had two requests at the same time, and counts them. */
async function startCountingServer() {
  const seen = { requests: 0, atOnceMax: 0 };
  let atOnce = 0;
  const server = createServer(async (incoming, response) => {
    seen.requests += 1;
    atOnce += 1;
    seen.atOnceMax = Math.max(seen.atOnceMax, atOnce);
    for await (const _ of incoming);
    const deadlineMs = performance.now() + 2_000;
    while (seen.atOnceMax < 2 && performance.now() < deadlineMs) await sleep(5);
    // A request beyond the limit would come now.
    await sleep(20);
    atOnce -= 1;
    const choice = { index: 0, delta: { role: "assistant", content: "ok" }, finish_reason: "stop" };
    const chunk = { id: "1", object: "chat.completion.chunk", created: 1, model: "x", choices: [choice] };
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { seen, baseUrl: `http://127.0.0.1:${port}/v1`, [Symbol.dispose]: () => void server.close() };
}

test("all agents of a process share the rate limits of a provider", async () => {
  using server = await startCountingServer();
  const { models } = await open(
    {},
    `providers: {house: {baseUrl: "${server.baseUrl}", wire: openai-chat, limits: {concurrency: 2}}}`,
  );
  const calls = ["researcher", "planner", "coder", "tester", "reviewer"].map((agent) => {
    // The limits are those of the provider, whatever model is asked.
    const asking = request(agent === "planner" ? "house/y" : "house/x");
    return models.provider.call({ ...asking, origin: { ...asking.origin, agent, run: agent } }, options);
  });
  expect((await Promise.all(calls)).map(({ text }) => text)).toEqual(calls.map(() => "ok"));
  expect(server.seen).toEqual({ requests: 5, atOnceMax: 2 });
});

/** The model of a session: the named one, else a default of a configured provider; a script only without providers. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { readConfig } from "../config/config.ts";
import { chooseModel, providerLabel } from "./choose-model.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** The choice with these variables and this user's file. */
async function choose(env: Record<string, string>, file = "", named: string | null = null) {
  const root = mkdtempSync(join(tmpdir(), "troupe-choose-"));
  folders.push(root);
  writeFileSync(join(root, "config.yaml"), file);
  const config = await readConfig({
    home: { path: root },
    env: { ...env, TROUPE_CONFIG: "config.yaml" },
    cwd: root,
    workspace: null,
  });
  return chooseModel(config, named);
}

const anthropic = { ANTHROPIC_API_KEY: "sk-ant-secret" };
const openai = { OPENAI_API_KEY: "sk-secret" };
const own = { OPENAI_BASE_URL: "http://127.0.0.1:8000/v1" };

test("a size has no meaning for a custom server, with any name of its vendor", async () => {
  await expect(choose({ ...openai, ...own }, "", "sonnet")).rejects.toMatchObject({ code: "UNKNOWN_MODEL" });
});

describe("the model", () => {
  test.for<[string, Record<string, string>, string, string | null, string]>([
    ["the demo without settings", {}, "", null, "scripted/demo"],
    ["the demo with empty variables", { ANTHROPIC_API_KEY: " ", TROUPE_MODEL: "" }, "", null, "scripted/demo"],
    ["Anthropic's with its key", anthropic, "", null, "anthropic/claude-sonnet-5"],
    ["OpenAI's with its key", openai, "", null, "openai/gpt-6-sol"],
    ["Anthropic's with both keys", { ...openai, ...anthropic }, "", null, "anthropic/claude-sonnet-5"],
    ["OpenRouter's", { OPENROUTER_API_KEY: "x" }, "", null, "openrouter/anthropic/claude-sonnet-5"],
    ["DeepSeek's", { DEEPSEEK_API_KEY: "x" }, "", null, "deepseek/deepseek-v4-pro"],
    [
      "behind another address for Anthropic",
      { ANTHROPIC_BASE_URL: "http://127.0.0.1:1" },
      "",
      null,
      "anthropic/claude-sonnet-5",
    ],
    ["with a bearer token", { ANTHROPIC_AUTH_TOKEN: "x" }, "", null, "anthropic/claude-sonnet-5"],
    ["the model of TROUPE_MODEL", { ...own, TROUPE_MODEL: "openai/x" }, "", null, "openai/x"],
    ["the model of a file", anthropic, "model: anthropic/claude-opus-5", null, "anthropic/claude-opus-5"],
    ["named by size", openai, "model: haiku", null, "openai/gpt-6-luna"],
    ["named by the map", openai, "model: mine\nmodels: {mine: openai/x}", null, "openai/x"],
    ["the model of a flag", { ...openai, TROUPE_MODEL: "openai/x" }, "model: openai/y", "openai/z", "openai/z"],
    ["a script by a flag", anthropic, "", "scripted/demo", "scripted/demo"],
    ["of a server of this machine, without being asked", {}, "", "ollama/qwen3", "ollama/qwen3"],
    ["of a custom server", {}, "providers: {house: {baseUrl: http://127.0.0.1:1/v1}}", "house/x", "house/x"],
  ])("%s", async ([, env, file, named, id]) => {
    expect((await choose(env, file, named)).id).toBe(id);
  });

  test("has the origin of the choice", async () => {
    expect((await choose(anthropic)).origin).toEqual({ from: "default", where: "ANTHROPIC_API_KEY is set" });
    expect((await choose({ TROUPE_MODEL: "ollama/x" })).origin).toEqual({ from: "environment", where: "TROUPE_MODEL" });
  });

  test.for([
    ["scripted/demo", true, "demo (scripted, offline)"],
    ["scripted/x.yaml", true, "scripted (x.yaml, offline)"],
    ["openai/gpt-6-sol", false, "openai"],
  ] as const)("%s for people", ([id, demo, label]) => {
    expect(providerLabel({ id, demo })).toBe(label);
  });
});

describe("without a provider there is no model, and the demo does not replace it,", () => {
  test.for<[string, Record<string, string>, string, string, string]>([
    ["for an address without a model", own, "", "no model is configured", "export TROUPE_MODEL=openai/<model>"],
    [
      "for a provider without its key",
      {},
      "providers: {anthropic: {}}",
      "ANTHROPIC_API_KEY is not set",
      "export ANTHROPIC_API_KEY=…",
    ],
    [
      "for a model whose provider has no key",
      { TROUPE_MODEL: "openai/x" },
      "",
      'no provider "openai"',
      "export OPENAI_API_KEY=…",
    ],
    ["for an unknown name", { ...openai, TROUPE_MODEL: "gpt" }, "", 'no model is called "gpt"', "openai/<model>"],
    [
      "for a subscription's token",
      { ANTHROPIC_AUTH_TOKEN: "sk-ant-oat01-abcdefgh" },
      "",
      "ANTHROPIC_AUTH_TOKEN holds a subscription token",
      "unset ANTHROPIC_AUTH_TOKEN",
    ],
    [
      "for a subscription's token as a key",
      { ANTHROPIC_API_KEY: "sk-ant-oat01-abcdefgh" },
      "",
      "ANTHROPIC_API_KEY holds",
      "unset ANTHROPIC_API_KEY",
    ],
    [
      "for an invalid address",
      { ...openai, OPENAI_BASE_URL: "me:hunter2@host" },
      "",
      "OPENAI_BASE_URL",
      "export OPENAI_BASE_URL=",
    ],
    [
      "for an address with a password",
      { ...openai, OPENAI_BASE_URL: "http://me:hunter2@h/v1" },
      "",
      "OPENAI_BASE_URL contains a password",
      "export OPENAI_API_KEY=…",
    ],
    [
      "for a provider without an address",
      { TROUPE_MODEL: "house/x" },
      "providers: {house: {}}",
      "has no address",
      "baseUrl",
    ],
  ])("%s", async ([, env, file, message, fix]) => {
    const thrown = await choose(env, file).catch((error) => error);
    expect(thrown).toMatchObject({
      code: expect.stringMatching(/^(NO_PROVIDER|UNKNOWN_MODEL)$/),
      message: expect.stringContaining(message),
      fix: expect.stringContaining(fix),
    });
    expect(`${thrown.message} ${thrown.fix}`).not.toMatch(/abcdefgh|hunter2/);
  });
});

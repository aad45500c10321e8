/** Resolving a model name: the map first, then aliases, then a provider that is set up; else an error with its fix. */
import { describe, expect, test } from "vitest";
import { type ModelNames, resolveForAgent, resolveModelName } from "./model-names.ts";

const names: ModelNames = {
  providers: ["anthropic", "openai", "openrouter", "ollama", "scripted", "replay"],
  tiers: {
    anthropic: { opus: "claude-opus-5-5", sonnet: "claude-sonnet-5", haiku: "claude-haiku-4-5" },
    openai: { opus: "gpt-6-sol", sonnet: "gpt-6-sol", haiku: "gpt-6-luna" },
    openrouter: { sonnet: "anthropic/claude-sonnet-5" },
  },
  models: {
    "deepseek-chat": "openrouter/deepseek/deepseek-chat",
    "qwen/qwen3-coder-30b": "ollama/qwen3-coder:30b",
    "anthropic/claude-opus-4.5": "anthropic/claude-opus-4-5",
    one: "two",
    two: "three",
    three: "openai/gpt-6-luna",
    round: "about",
    about: "round",
    self: "self",
    lost: "nowhere/model",
    size: "haiku",
  },
  aliases: { fast: "haiku", best: "one", mine: "inherit" },
  missing: { deepseek: "export DEEPSEEK_API_KEY=…" },
};

describe("a session's model", () => {
  test.for([
    ["anthropic/claude-sonnet-5", "anthropic/claude-sonnet-5"],
    ["openrouter/qwen/qwen3-coder-30b", "openrouter/qwen/qwen3-coder-30b"],
    ["ollama/hf.co/some/model:Q4_K_M", "ollama/hf.co/some/model:Q4_K_M"],
    ["scripted//tmp/a b.yaml", "scripted//tmp/a b.yaml"],
    ["deepseek-chat", "openrouter/deepseek/deepseek-chat"],
    ["qwen/qwen3-coder-30b", "ollama/qwen3-coder:30b"],
    ["anthropic/claude-opus-4.5", "anthropic/claude-opus-4-5"],
    ["one", "openai/gpt-6-luna"],
    ["best", "openai/gpt-6-luna"],
    ["sonnet", "anthropic/claude-sonnet-5"],
    ["fast", "anthropic/claude-haiku-4-5"],
    ["size", "anthropic/claude-haiku-4-5"],
  ])("%s is %s", ([wanted = "", id]) => {
    expect(resolveModelName(wanted, names, null)).toBe(id);
  });

  test("a size is of the first provider that has it", () => {
    expect(resolveModelName("haiku", { ...names, providers: ["ollama", "openai", "anthropic"] }, null)).toBe(
      "openai/gpt-6-luna",
    );
  });

  test("a configured size wins over the provider's", () => {
    const configured = { ...names, aliases: { sonnet: "openai/gpt-6-sol" } };
    expect(resolveModelName("sonnet", configured, "anthropic/claude-opus-5")).toBe("openai/gpt-6-sol");
  });
});

describe("an agent's model", () => {
  test.for([
    ["inherit", "openai/gpt-6-sol", "openai/gpt-6-sol"],
    ["mine", "openai/gpt-6-sol", "openai/gpt-6-sol"],
    ["haiku", "anthropic/claude-opus-5", "anthropic/claude-haiku-4-5"],
    ["haiku", "openai/gpt-6-sol", "openai/gpt-6-luna"],
    ["fast", "openai/gpt-6-sol", "openai/gpt-6-luna"],
    ["haiku", "ollama/qwen3", "ollama/qwen3"],
    ["haiku", "openrouter/x/y", "openrouter/x/y"],
    ["fable", "anthropic/claude-opus-5", "anthropic/claude-opus-5"],
    ["openai/gpt-6-luna", "anthropic/claude-opus-5", "openai/gpt-6-luna"],
    ["deepseek-chat", "anthropic/claude-opus-5", "openrouter/deepseek/deepseek-chat"],
  ])("%s below %s is %s", ([wanted = "", inherited = "", id]) => {
    expect(resolveForAgent(wanted, names, inherited)).toBe(id);
  });

  test.for([
    ["haiku", "scripted/demo", "scripted/demo"],
    ["anthropic/claude-opus-5", "scripted/demo", "scripted/demo"],
    ["nobody/knows", "scripted/demo", "scripted/demo"],
    ["scripted/other", "scripted/demo", "scripted/other"],
    ["anthropic/claude-opus-5", "replay/0198", "replay/0198"],
    ["scripted//tmp/evil.yaml", "anthropic/claude-opus-5", "anthropic/claude-opus-5"],
    ["replay/0198", "anthropic/claude-opus-5", "anthropic/claude-opus-5"],
  ])("an agent stays scripted under a script, and real under a real model: %s below %s", ([wanted, above, id]) => {
    expect(resolveForAgent(wanted ?? "", names, above ?? "")).toBe(id);
  });
});

describe("an unknown name is refused with the known providers and a fix", () => {
  test.for([
    [
      "qwen/qwen3-coder",
      'no provider "qwen" is set up (set up: anthropic, openai, openrouter, ollama)',
      "did you mean qwen/qwen3-coder-30b?",
    ],
    ["meta/llama", 'no provider "meta" is set up', 'models: {"meta/llama": anthropic/<model>}'],
    ["gpt-6-sol", "does not name a provider as in provider/model", "anthropic/<model>"],
    ["deepseek/deepseek-chat", 'no provider "deepseek" is set up', "export DEEPSEEK_API_KEY=…"],
    ["antropic/claude-opus-5", 'no provider "antropic" is set up', "did you mean anthropic/claude-opus-5?"],
    ["sonet", 'no model is called "sonet"', "did you mean sonnet?"],
    ["deepseek-chta", "it is not an alias", "did you mean deepseek-chat?"],
    ["lost", 'no model is called "nowhere/model", which "lost" stands for: ', "map it in the configuration"],
    ["anthropic/", 'no model is called "anthropic/"', "map it"],
    ["/x", 'no model is called "/x"', "map it"],
    ["", 'no model is called ""', "map it"],
    ["anthropic/a b", "no model is called", "map it"],
    ["constructor", 'no model is called "constructor"', "map it"],
    ["__proto__/x", 'no provider "__proto__"', "map it"],
    ["inherit", 'no model is called "inherit"', "map it"],
    ["round", 'has a cycle: "round" → "about" → "round"', "troupe config list"],
    ["self", 'has a cycle: "self" → "self"', "troupe config list"],
  ])("%j", ([wanted = "", message, fix]) => {
    expect(() => resolveModelName(wanted, names, null)).toThrow(
      expect.objectContaining({
        code: "UNKNOWN_MODEL",
        message: expect.stringContaining(message ?? ""),
        fix: expect.stringContaining(fix ?? ""),
      }),
    );
  });

  test("a key in place of a model name is not shown", () => {
    const key = "sk-ant-api03-0123456789abcdef";
    expect(() => resolveModelName(key, names, null)).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining(key), fix: expect.not.stringContaining(key) }),
    );
  });

  test("without any provider the fix sets one up", () => {
    const bare = { ...names, providers: ["scripted"], models: {}, aliases: {} };
    expect(() => resolveModelName("gpt-6-sol", bare, null)).toThrow(
      expect.objectContaining({ fix: expect.stringContaining("export ANTHROPIC_API_KEY") }),
    );
  });
});

test.for(["openai/", "openai/a\u001b[31mb", "openai/a b"])("%j is refused although its provider is set up", (name) => {
  expect(() => resolveModelName(name, names, null)).toThrow(/the part after "openai\/" cannot be a model of openai/);
});

test("a size that no provider has is not offered as a correction", () => {
  const error = { fix: expect.stringContaining("as in ollama/<model>") };
  expect(() => resolveModelName("sonnet", { ...names, providers: ["ollama"], tiers: {} }, null)).toThrow(
    expect.objectContaining(error),
  );
});

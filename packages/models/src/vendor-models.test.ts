/** Models that agent files of other programs name: at their vendor if it is set up, else inherited with a warning. */
import { describe, expect, test } from "vitest";
import { type ModelNames, resolveAgentModel } from "./model-names.ts";

const all = ["anthropic", "openai", "gemini", "deepseek", "openrouter", "ollama", "scripted"];

function names(...providers: string[]): ModelNames {
  const missing = { anthropic: "export ANTHROPIC_API_KEY=…" };
  return { providers, tiers: {}, models: { "gpt-4": "ollama/own" }, aliases: {}, missing };
}

describe("where the vendor is set up", () => {
  test.for([
    ["claude-sonnet-4-20250514", "anthropic/claude-sonnet-4-20250514"],
    ["claude-opus-4-6", "anthropic/claude-opus-4-6"],
    ["claude-sonnet-5", "anthropic/claude-sonnet-5"],
    ["anthropic/claude-opus-4.5", "anthropic/claude-opus-4-5"],
    ["Claude Sonnet 4", "anthropic/claude-sonnet-4-0"],
    ["Claude Sonnet 4.5 (Preview)", "anthropic/claude-sonnet-4-5"],
    ["Claude Sonnet 3.7", "anthropic/claude-3-7-sonnet-latest"],
    ["gpt-5.5", "openai/gpt-5.5"],
    ["GPT-5 mini", "openai/gpt-5-mini"],
    ["o4-mini (Preview)", "openai/o4-mini"],
    ["openai/gpt-5", "openai/gpt-5"],
    ["gemini-2.5-pro", "gemini/gemini-2.5-pro"],
    ["google/gemini-2.5-flash", "gemini/gemini-2.5-flash"],
    ["Gemini 2.5 Pro", "gemini/gemini-2.5-pro"],
    ["deepseek-chat", "deepseek/deepseek-chat"],
    ["qwen/qwen3-coder-30b", "openrouter/qwen/qwen3-coder-30b"],
    ["meta-llama/llama-4", "openrouter/meta-llama/llama-4"],
    ["gpt-4", "ollama/own"],
  ])("%s is %s", ([wanted = "", id]) => {
    expect(resolveAgentModel(wanted, names(...all), "openai/gpt-6-sol")).toEqual({ id, warning: null });
  });
});

describe("where the vendor is not set up the agent inherits, with a warning", () => {
  test.for([
    ["claude-sonnet-4-20250514", "anthropic", "export ANTHROPIC_API_KEY=…"],
    ["Claude Opus 4", "anthropic", "export ANTHROPIC_API_KEY=…"],
    ["anthropic/claude-opus-4.5", "anthropic", "export ANTHROPIC_API_KEY=…"],
    ["gemini-2.5-pro", "google", "map it in the configuration"],
    ["qwen/qwen3-coder-30b", "qwen", "map it in the configuration"],
    ["deepseek-chat", "deepseek", "map it in the configuration"],
  ])("%s", ([wanted = "", vendor, fix]) => {
    const { id, warning } = resolveAgentModel(wanted, names("openai", "scripted"), "openai/gpt-6-sol");
    expect(id).toBe("openai/gpt-6-sol");
    expect(warning?.message).toContain(`is of ${vendor}, which is not set up (set up: openai), so the agent inherits`);
    expect(warning?.fix).toContain(fix);
  });

  test.for(["sonet", "nowhere/model", "fast model", "claude", ""])(
    "but %j is of no known vendor, and refused",
    (wanted) => {
      expect(() => resolveAgentModel(wanted, names(...all), "openai/gpt-6-sol")).toThrow(
        expect.objectContaining({ code: "UNKNOWN_MODEL" }),
      );
    },
  );

  test("a script stays a script", () => {
    expect(resolveAgentModel("gpt-5.5", names(...all), "scripted/demo").id).toBe("scripted/demo");
  });
});

import type { Message, ToolCall } from "@troupe/core";
import type { Effort } from "@troupe/core/internal";
import { describe, expect, test } from "vitest";
import { ask, tool } from "./anthropic-server.test-helper.ts";
import { traitsOf } from "./model-traits.ts";
import { wireRequest } from "./request.ts";

const bodyOf = (more: Parameters<typeof ask>[0] = {}) => wireRequest("anthropic", ask(more)).body;
const marked = { cache_control: { type: "ephemeral" } };
const call = (id: string, name = "read"): ToolCall => ({ id, name, args: {}, problem: null });

describe("a request", () => {
  test("is streamed, with the model name without its provider, and with the output limit", () => {
    expect(bodyOf({ maxOutputTokens: 0.5 })).toMatchObject({ model: "claude-sonnet-5-5", stream: true, max_tokens: 1 });
    expect(bodyOf({ model: "anthropic/qwen/qwen3-coder" }).model).toBe("qwen/qwen3-coder");
  });

  test("has no empty prompt, no empty tools, and never a temperature", () => {
    const body = bodyOf({ system: " ", temperature: 0.2 });
    for (const field of ["system", "tools", "tool_choice", "thinking", "output_config", "temperature"]) {
      expect(body).not.toHaveProperty(field);
    }
  });

  test("has cache marks on its tools, its prompt and its last two user turns only", () => {
    const loop = (rounds: number): Message[] => [
      { role: "user", text: "Go." },
      ...Array.from({ length: rounds }, (_, i): Message[] => [
        { role: "assistant", text: "Again.", calls: [call(`toolu_${i}`)] },
        { role: "tool", callId: `toolu_${i}`, name: "read", text: "more", isError: false },
      ]).flat(),
    ];
    const body = bodyOf({ tools: [tool("read"), tool("write")], messages: loop(5) });
    expect(JSON.stringify(body).match(/cache_control/g)).toHaveLength(4);
    expect(body.tools?.[1]).toMatchObject({ name: "write", ...marked });
    expect(body.system).toEqual([{ type: "text", text: "You help.", ...marked }]);
    const ends = body.messages.filter(({ role }) => role === "user").map(({ content }) => (content as object[]).at(-1));
    expect(ends.map((end) => end && "cache_control" in end)).toEqual([false, false, false, false, true, true]);

    // The first mark of the next request is at the last mark of this one: it reads the cache that this one wrote.
    const unmarked = (rounds: number) =>
      JSON.parse(
        JSON.stringify(bodyOf({ tools: [tool("read")], messages: loop(rounds) }), (name, value) =>
          name === "cache_control" ? undefined : value,
        ),
      );
    expect(unmarked(6).messages.slice(0, 11)).toEqual(unmarked(5).messages);
  });

  test("names the tools of its conversation when it offers none", () => {
    const messages: Message[] = [
      { role: "user", text: "Go." },
      { role: "assistant", text: "", calls: [call("a", "fs.read"), call("b", "fs.read")] },
      { role: "tool", callId: "a", name: "fs.read", text: "a", isError: false },
      { role: "tool", callId: "b", name: "fs.read", text: "b", isError: false },
    ];
    const { tools, tool_choice } = bodyOf({ messages });
    expect(tools).toMatchObject([
      { name: expect.stringMatching(/^fs_read_[0-9a-f]{8}$/), input_schema: { type: "object" } },
    ]);
    expect(tool_choice).toEqual({ type: "none" });
  });

  test("has an object schema for every tool", () => {
    const schemas = [
      { type: "object", properties: { path: { type: "string" } }, $schema: "http://json-schema.org/draft-07/schema#" },
      {},
      {
        anyOf: [{ properties: { a: { type: "string" } }, required: ["a"] }, { properties: { b: {} } }],
        description: "or",
      },
      { type: "array", items: { type: "string" } },
    ];
    const { tools } = bodyOf({ tools: schemas.map((inputSchema, i) => tool(`tool${i}`, { inputSchema })) });
    expect(tools?.map((one) => "input_schema" in one && one.input_schema)).toEqual([
      { type: "object", properties: { path: { type: "string" } } },
      { type: "object" },
      { type: "object", properties: { a: { type: "string" }, b: {} }, description: "or" },
      { type: "object", items: { type: "string" } },
    ]);
  });
});

describe("effort", () => {
  const settingsOf = (model: string, effort: Effort | null, maxOutputTokens = 100_000) => {
    const { thinking, output_config } = bodyOf({ model: `anthropic/${model}`, effort, maxOutputTokens });
    return {
      thinking: thinking?.type,
      budget: thinking && "budget_tokens" in thinking ? thinking.budget_tokens : undefined,
      effort: output_config?.effort,
    };
  };

  test.each([
    ["claude-fable-5-2", "none", { effort: "low" }],
    ["claude-fable-5-2", "medium", { thinking: "adaptive", effort: "medium" }],
    ["claude-mythos-preview", "none", { effort: "low" }],
    ["claude-opus-5-5", "none", { effort: "low" }],
    ["claude-opus-5-5", "max", { thinking: "adaptive", effort: "max" }],
    ["claude-sonnet-5-5", "none", { thinking: "between_tools" }],
    ["claude-haiku-5-5", "none", { thinking: "disabled" }],
    ["claude-opus-5", "none", { thinking: "disabled" }],
    ["claude-sonnet-5", "low", { thinking: "adaptive", effort: "low" }],
    ["claude-opus-4-8", "none", {}],
    ["claude-opus-4-6", "max", { thinking: "adaptive", effort: "max" }],
    ["claude-sonnet-4.6", "high", { thinking: "adaptive", effort: "high" }],
    ["claude-opus-4-5-20251101", "max", { thinking: "enabled", budget: 32_768, effort: "high" }],
    ["claude-sonnet-4-5-20250929", "high", { thinking: "enabled", budget: 16_384 }],
    ["claude-haiku-4-5", "none", {}],
    ["claude-opus-4-1-20250805", "low", { thinking: "enabled", budget: 2_048 }],
    ["claude-sonnet-4-20250514", "medium", { thinking: "enabled", budget: 8_192 }],
    ["anthropic.claude-3-7-sonnet-20250219-v1:0", "low", { thinking: "enabled", budget: 2_048 }],
    ["claude-3-5-haiku-latest", "high", {}],
    ["claude-saga-7", "none", { effort: "low" }],
    ["claude-opus-9-1", "high", { thinking: "adaptive", effort: "high" }],
    ["qwen3-coder:30b", "none", { thinking: "disabled" }],
    ["deepseek-chat", "medium", { thinking: "enabled", budget: 8_192 }],
  ] as const)("of %s, %s, in the fields of that model", (model, effort, expected) => {
    expect(settingsOf(model, effort)).toEqual(expected);
    expect(settingsOf(model, null)).toEqual({});
  });

  test("leaves half of the output limit for the answer, and requests no thinking under too small a limit", () => {
    expect(settingsOf("claude-sonnet-4-5", "max", 10_000)).toMatchObject({ budget: 5_000 });
    expect(settingsOf("claude-sonnet-4-5", "max", 2_048)).toMatchObject({ budget: 1_024 });
    expect(settingsOf("claude-sonnet-4-5", "max", 2_047)).toEqual({});
  });

  test("knows which models accept their thinking only after an unchanged conversation", () => {
    const binding = ["claude-fable-5-1", "claude-opus-5-5", "claude-sonnet-5-5", "claude-haiku-5-5", "claude-opus-6"];
    const others = [
      "claude-fable-5",
      "claude-opus-5",
      "claude-sonnet-5",
      "claude-opus-4-8",
      "claude-haiku-4-5",
      "glm-5",
    ];
    expect(binding.filter((model) => !traitsOf(model).bindsThinking)).toEqual([]);
    expect(others.filter((model) => traitsOf(model).bindsThinking)).toEqual([]);
  });
});

describe("an output schema", () => {
  const formatOf = (outputSchema: Record<string, never> | object, model = "claude-sonnet-5-5") =>
    bodyOf({ model: `anthropic/${model}`, outputSchema: outputSchema as Record<string, string> }).output_config?.format;

  test("becomes a strict format, with unsupported limits in the descriptions", () => {
    const schema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        verdict: { type: "string", enum: ["yes", "no"] },
        notes: {
          type: "array",
          items: { type: "object", properties: { line: { type: "integer", minimum: 1 } }, required: ["line"] },
        },
      },
      required: ["verdict", "notes"],
    };
    const format = formatOf(schema);
    expect(format).toMatchObject({ type: "json_schema", schema: { type: "object", additionalProperties: false } });
    expect(JSON.stringify(format)).not.toContain('"minimum"');
    expect(JSON.stringify(format)).toContain("minimum: 1");
    expect(JSON.stringify(format).match(/"additionalProperties":false/g)).toHaveLength(2);
  });

  const property = (schema: object) => ({ type: "object", properties: { it: schema }, required: ["it"] });
  test.each([
    ["is not an object", { type: "array", items: { type: "string" } }],
    ["allows arbitrary keys", { type: "object", additionalProperties: { type: "number" } }],
    ["allows them in a nested object", property({ type: "object" })],
    ["allows additional properties", property({ type: "object", properties: {}, additionalProperties: true })],
    ["refers to itself", property({ $ref: "#" })],
    ["has an empty schema inside", property({})],
    [
      "has too many optional properties",
      {
        type: "object",
        properties: Object.fromEntries(Array.from({ length: 25 }, (_, i) => [`p${i}`, { type: "string" }])),
      },
    ],
    [
      "has too many choices",
      {
        type: "object",
        required: [],
        properties: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`p${i}`, { type: ["string", "null"] }])),
      },
    ],
  ])("that %s is left out of the request", (_, schema) => {
    expect(formatOf(schema)).toBeUndefined();
  });

  test("is left out of the request for a model without structured output", () => {
    const schema = property({ type: "string" });
    expect(formatOf(schema)).toBeDefined();
    expect(formatOf(schema, "claude-sonnet-4-20250514")).toBeUndefined();
    expect(formatOf(schema, "qwen3")).toBeUndefined();
  });
});

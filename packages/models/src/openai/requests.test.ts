/** Requests for each kind of server. */
import { type Message, type ModelRequest, ToolSpec } from "@troupe/core";
import type { Effort } from "@troupe/core/internal";
import { describe, expect, test } from "vitest";
import { chatRequest } from "./chat-request.ts";
import type { Dialect } from "./dialect.ts";
import { dialectOf } from "./dialect.ts";
import { requestFor } from "./openai-server.test-helper.ts";
import { responsesRequest } from "./responses-request.ts";

const to = (dialect: Dialect, model = "m-1") => ({ provider: "acme", model, dialect });
const tool = ToolSpec.parse({
  name: "read",
  description: "Reads a file",
  risk: "low",
  effect: "read",
  inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
});
const open = ToolSpec.parse({ ...tool, inputSchema: { type: "object", properties: { path: { type: "string" } } } });
const outputSchema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
const strict = { ...outputSchema, additionalProperties: false };

const chat = (request: Partial<ModelRequest>, dialect: Dialect = "compatible", model?: string) =>
  chatRequest(requestFor(request), to(dialect, model));
const responses = (request: Partial<ModelRequest>, model = "gpt-5.4", dialect: Dialect = "openai") =>
  responsesRequest(requestFor(request), to(dialect, model));

test.for([
  { baseUrl: null, id: "openai", dialect: "openai" },
  { baseUrl: "https://api.openai.com/v1", id: "work", dialect: "openai" },
  { baseUrl: "https://eu.api.openai.com/v1", id: "work", dialect: "openai" },
  { baseUrl: "https://notopenai.com/v1", id: "openai", dialect: "compatible" },
  { baseUrl: "http://127.0.0.1:1/v1", id: "openai", dialect: "compatible" },
  { baseUrl: "https://api.deepseek.com", id: "x", dialect: "deepseek" },
  { baseUrl: "https://openrouter.ai/api/v1", id: "x", dialect: "openrouter" },
  { baseUrl: "http://127.0.0.1:1/v1", id: "openrouter", dialect: "openrouter" },
])("$id at $baseUrl has the dialect $dialect", ({ baseUrl, id, dialect }) => {
  expect(dialectOf({ id, wire: "openai-chat", baseUrl })).toBe(dialect);
});

describe("chat completions", () => {
  test("use OpenAI's newest fields", () => {
    const asked = chat({ temperature: 0.5, effort: "max", tools: [tool], outputSchema }, "openai", "gpt-5.4");
    expect(asked).toEqual({
      model: "gpt-5.4",
      messages: [
        { role: "developer", content: "Be brief." },
        { role: "user", content: "Hello" },
      ],
      stream: true,
      stream_options: { include_usage: true },
      max_completion_tokens: 1_000,
      reasoning_effort: "xhigh",
      tools: [
        { type: "function", function: { name: "read", description: "Reads a file", parameters: tool.inputSchema } },
      ],
      response_format: { type: "json_schema", json_schema: { name: "answer", schema: strict, strict: true } },
    });
  });

  test("use the common fields for all others", () => {
    expect(chat({ temperature: 0.5, tools: [tool] })).toEqual({
      model: "m-1",
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hello" },
      ],
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 1_000,
      temperature: 0.5,
      tools: [
        { type: "function", function: { name: "read", description: "Reads a file", parameters: tool.inputSchema } },
      ],
    });
  });

  test("set a temperature and no effort for a model without reasoning", () => {
    const asked = chat({ temperature: 0.5, effort: "high" }, "openai", "gpt-4.1");
    expect(asked).toMatchObject({ temperature: 0.5, messages: [{ role: "system" }, { role: "user" }] });
    expect(asked).not.toHaveProperty("reasoning_effort");
  });

  test("set no temperature for a reasoning model of OpenAI, on any server", () => {
    expect(chat({ temperature: 0.5 }, "openrouter", "openai/gpt-5.4")).not.toHaveProperty("temperature");
    expect(chat({ temperature: 0.5 }, "openrouter", "openai/gpt-4.1")).toHaveProperty("temperature");
  });

  test("set no effort for a model of OpenAI without reasoning, on any server, and the common efforts for others", () => {
    expect(chat({ effort: "high" }, "compatible", "gpt-4.1")).not.toHaveProperty("reasoning_effort");
    expect(chat({ effort: "max" }, "compatible", "gpt-oss:20b")).toMatchObject({ reasoning_effort: "high" });
    expect(chat({ effort: "max" }, "openrouter", "qwen/qwen3")).toMatchObject({ reasoning_effort: "xhigh" });
    expect(chat({ effort: "max" }, "compatible", "gpt-5.6")).toMatchObject({
      reasoning_effort: "max",
      max_completion_tokens: 1_000,
    });
  });

  test("enforce the output schema unless there are tools", () => {
    const format = {
      response_format: { type: "json_schema", json_schema: { name: "answer", schema: strict, strict: true } },
    };
    expect(chat({ outputSchema })).toMatchObject(format);
    for (const dialect of ["compatible", "openrouter"] as const) {
      expect(chat({ outputSchema, tools: [tool] }, dialect)).not.toHaveProperty("response_format");
    }
    expect(chat({ outputSchema }, "deepseek")).not.toHaveProperty("response_format");
    expect(chat({ outputSchema: { type: "array" } })).not.toHaveProperty("response_format");
  });

  test("set an effort in DeepSeek's own fields", () => {
    expect(chat({ effort: "none" }, "deepseek")).toMatchObject({ thinking: { type: "disabled" } });
    expect(chat({ effort: "low" }, "deepseek")).toMatchObject({
      thinking: { type: "enabled" },
      reasoning_effort: "high",
    });
    expect(chat({ effort: "max" }, "deepseek")).toMatchObject({ reasoning_effort: "max" });
  });

  test("send DeepSeek empty reasoning with calls of another model", () => {
    const calls = [{ id: "c1", name: "read", args: {}, problem: null }];
    const messages: Message[] = [
      { role: "user", text: "go" },
      { role: "assistant", text: "", calls },
    ];
    expect(chat({ messages }, "deepseek").messages[2]).toMatchObject({ reasoning_content: "" });
    expect(chat({ messages }).messages[2]).not.toHaveProperty("reasoning_content");
  });
});

describe("Responses", () => {
  test("store nothing, and request encrypted reasoning", () => {
    expect(responses({ temperature: 0.5, effort: "high", tools: [tool, open], outputSchema })).toEqual({
      model: "gpt-5.4",
      instructions: "Be brief.",
      input: [{ role: "user", content: "Hello" }],
      stream: true,
      store: false,
      max_output_tokens: 1_000,
      include: ["reasoning.encrypted_content"],
      reasoning: { effort: "high" },
      tools: [
        {
          type: "function",
          name: "read",
          description: "Reads a file",
          parameters: { ...tool.inputSchema, additionalProperties: false },
          strict: true,
        },
        { type: "function", name: "read", description: "Reads a file", parameters: open.inputSchema, strict: false },
      ],
      text: { format: { type: "json_schema", name: "answer", schema: strict, strict: true } },
    });
  });

  test("request no reasoning from a model without it", () => {
    const asked = responses({ temperature: 0.5, effort: "high" }, "gpt-4.1");
    expect(asked).toMatchObject({ temperature: 0.5 });
    expect(asked).not.toHaveProperty("include");
    expect(asked).not.toHaveProperty("reasoning");
  });

  test("keep to OpenAI's minimum output limit", () => {
    expect(responses({ maxOutputTokens: 1 }).max_output_tokens).toBe(16);
  });

  test("are not strict for a schema that leaves something open", () => {
    const schema = { type: "object", properties: { a: { type: "string" } } };
    expect(responses({ outputSchema: schema }).text).toEqual({
      format: { type: "json_schema", name: "answer", schema, strict: false },
    });
    expect(responses({ outputSchema: { type: "string" } })).not.toHaveProperty("text");
  });
});

describe("an effort uses the words of the model's generation:", () => {
  test.for<[string, Partial<Record<Effort, string>>]>([
    ["o3", { none: "low", high: "high", max: "high" }],
    ["gpt-5", { none: "minimal", low: "low", max: "high" }],
    ["gpt-5-codex", { none: "low", max: "high" }],
    ["gpt-5.1", { none: "none", max: "high" }],
    ["gpt-5.1-codex-max", { none: "low", max: "xhigh" }],
    ["gpt-5.4-mini", { none: "none", medium: "medium", max: "xhigh" }],
    ["gpt-5.6", { none: "none", max: "max" }],
    ["gpt-5.10", { none: "none", max: "max" }],
    ["gpt-6", { none: "none", max: "max" }],
  ])("%s", ([model, words]) => {
    for (const [effort, word] of Object.entries(words)) {
      expect(responses({ effort: effort as Effort }, model).reasoning).toEqual({ effort: word });
    }
  });
});

describe("a conversation", () => {
  const call = (id: string) => ({ id, name: "read", args: { path: id }, problem: null });
  const result = (callId: string, isError = false): Message => ({
    role: "tool",
    callId,
    name: "read",
    text: callId,
    isError,
  });

  test("has no empty turn, one result per call, and no result without a call", () => {
    const messages: Message[] = [
      { role: "user", text: "go" },
      { role: "user", text: "now" },
      result("x"),
      { role: "assistant", text: "", calls: [] },
      { role: "assistant", text: "", calls: [call("c1"), call("c2"), call("c3")] },
      { role: "user", text: "wait" },
      result("c2", true),
      result("c1"),
      result("c1"),
      { role: "assistant", text: "done", calls: [] },
      result("c3"),
    ];
    expect(chat({ messages, system: "" }).messages).toEqual([
      { role: "user", content: "go\n\nnow" },
      {
        role: "assistant",
        content: null,
        tool_calls: ["c1", "c2", "c3"].map((id) => ({
          id,
          type: "function",
          function: { name: "read", arguments: `{"path":"${id}"}` },
        })),
      },
      { role: "tool", tool_call_id: "c1", content: "c1" },
      { role: "tool", tool_call_id: "c2", content: "Error: c2" },
      { role: "tool", tool_call_id: "c3", content: "Error: this call has no result" },
      { role: "user", content: "wait" },
      { role: "assistant", content: "done" },
    ]);
  });

  test("with invalid arguments has empty arguments", () => {
    const broken = { id: "c1", name: "read", args: null, problem: "its arguments are not valid JSON" };
    const messages: Message[] = [
      { role: "user", text: "go" },
      { role: "assistant", text: "", calls: [broken] },
      result("c1", true),
    ];
    expect(responses({ messages }).input).toContainEqual({
      type: "function_call",
      call_id: "c1",
      name: "read",
      arguments: "{}",
    });
  });

  test("has no half characters in it", () => {
    const half = "a\ud83d";
    const messages: Message[] = [
      { role: "user", text: half },
      { role: "assistant", text: half, calls: [call("c1")] },
      { ...result("c1"), text: half } as Message,
    ];
    for (const asked of [chat({ messages, system: half }), responses({ messages, system: half })]) {
      expect(JSON.stringify(asked)).not.toContain("\\ud83d");
      expect(JSON.stringify(asked)).toContain("a\ufffd");
    }
  });
});

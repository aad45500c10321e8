/** Tests the rules of OpenAI's chat completions: refused requests with their errors, and unusual requests that pass. */
import { describe, expect, test } from "vitest";
import { eventsOf, post, saying, startServer } from "./fixture.ts";

const scenario = saying({ text: "yes", repeat: true });
const user = { role: "user", content: "hello" };
const assistant = { role: "assistant", content: "hi" };
const toolCalls = (...ids: string[]) => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({ id, type: "function", function: { name: "lookup", arguments: "{}" } })),
});
const tells = (id: string) => ({ role: "tool", tool_call_id: id, content: "found" });
const parameters = { type: "object", properties: { key: { type: "string" } } };
const strict = { ...parameters, required: ["key"], additionalProperties: false };
const tool = (more: object = {}) => ({ type: "function", function: { name: "lookup", parameters, ...more } });
const format = (schema: object, more: object = {}) => ({
  response_format: { type: "json_schema", json_schema: { name: "answer", schema, strict: true, ...more } },
});

/** A body that is in order, but for these fields. */
const body = (more: object = {}) => ({ model: "gpt-4.1", messages: [user], ...more });
const talk = (...messages: object[]) => body({ tools: [tool()], messages });
const without = (name: string) => Object.fromEntries(Object.entries(body()).filter(([key]) => key !== name));

interface Refused {
  what: string;
  sent: unknown;
  key?: string;
  status?: number;
  param?: string | null;
  code?: string | null;
  message: RegExp;
}

const refused: Refused[] = [
  {
    what: "no key",
    sent: body(),
    key: "",
    status: 401,
    code: "invalid_api_key",
    message: /^You didn't provide an API key/,
  },
  {
    what: "a wrong key",
    sent: body(),
    key: "sk-very-wrong-key",
    status: 401,
    code: "invalid_api_key",
    message: /^Incorrect API key provided: sk-\*{8}-key\.$/,
  },
  {
    what: "an unknown model",
    sent: body({ model: "gpt-0" }),
    status: 404,
    code: "model_not_found",
    message: /^The model `gpt-0` does not exist/,
  },
  { what: "no JSON", sent: '{"model":', message: /not valid JSON/ },
  {
    what: "no model",
    sent: without("model"),
    param: "model",
    code: "missing_required_parameter",
    message: /^Missing required parameter: 'model'\.$/,
  },
  {
    what: "no messages",
    sent: without("messages"),
    param: "messages",
    code: "missing_required_parameter",
    message: /'messages'/,
  },
  {
    what: "an empty list of messages",
    sent: body({ messages: [] }),
    param: "messages",
    code: "empty_array",
    message: /empty array/,
  },
  {
    what: "messages that are a text",
    sent: body({ messages: "hello" }),
    param: "messages",
    code: "invalid_type",
    message: /expected array/,
  },
  {
    what: "an unknown field",
    sent: body({ max_output_tokens: 5 }),
    param: "max_output_tokens",
    code: "unknown_parameter",
    message: /^Unknown parameter: 'max_output_tokens'\.$/,
  },
  {
    what: "an unknown field of a message",
    sent: body({ messages: [{ ...user, date: 1 }] }),
    param: "messages[0].date",
    code: "unknown_parameter",
    message: /'messages\[0\]\.date'/,
  },
  {
    what: "an unknown field of a call",
    sent: talk(user, { ...toolCalls("a"), tool_calls: [{ ...toolCalls("a").tool_calls[0], index: 0 }] }, tells("a")),
    param: "messages[1].tool_calls[0].index",
    code: "unknown_parameter",
    message: /Unknown parameter/,
  },
  {
    what: "reasoning, if the server does not know the field",
    sent: body({ messages: [user, { ...assistant, reasoning_content: "hm" }, user] }),
    param: "messages[1].reasoning_content",
    code: "unknown_parameter",
    message: /Unknown parameter/,
  },
  {
    what: "an unknown role",
    sent: body({ messages: [{ ...user, role: "human" }] }),
    param: "messages[0].role",
    code: "invalid_value",
    message: /role/,
  },
  {
    what: "a part in another vendor's format",
    sent: body({ messages: [{ ...user, content: [{ type: "input_text", text: "a" }] }] }),
    param: "messages[0].content[0].type",
    code: "invalid_value",
    message: /type/,
  },
  {
    what: "content of no parts",
    sent: body({ messages: [{ ...user, content: [] }] }),
    param: "messages[0].content",
    code: "empty_array",
    message: /empty array/,
  },
  {
    what: "a question of null",
    sent: body({ messages: [{ ...user, content: null }] }),
    param: "messages[0].content",
    code: "invalid_type",
    message: /content/,
  },
  {
    what: "an answer of nothing",
    sent: body({ messages: [user, { role: "assistant", content: null }, user] }),
    param: "messages.[1].content",
    message: /expected a string, got null/,
  },
  {
    what: "a result without a call",
    sent: talk(user, tells("a")),
    param: "messages.[1].role",
    message: /must be a response to a preceeding message with 'tool_calls'/,
  },
  {
    what: "a result of another call",
    sent: talk(user, toolCalls("a"), tells("b")),
    param: "messages.[2].tool_call_id",
    message: /not found in 'tool_calls' of previous message/,
  },
  {
    what: "a call without a result",
    sent: talk(user, toolCalls("a"), user),
    param: "messages.[2].role",
    message: /did not have response messages: a$/,
  },
  {
    what: "a call at the end",
    sent: talk(user, toolCalls("a")),
    param: "messages.[2].role",
    message: /did not have response messages: a$/,
  },
  {
    what: "two calls with one result",
    sent: talk(user, toolCalls("a", "b"), tells("a"), user),
    param: "messages.[3].role",
    message: /did not have response messages: b$/,
  },
  {
    what: "two results of one call",
    sent: talk(user, toolCalls("a"), tells("a"), tells("a")),
    param: "messages.[3].tool_call_id",
    message: /not found in 'tool_calls'/,
  },
  {
    what: "text between call and result",
    sent: talk(user, toolCalls("a"), user, tells("a")),
    param: "messages.[2].role",
    message: /did not have response/,
  },
  {
    what: "two calls with one id",
    sent: talk(user, toolCalls("a", "a"), tells("a")),
    param: "messages.[1].tool_calls",
    code: "duplicate_value",
    message: /Duplicate/,
  },
  {
    what: "calls of an empty list",
    sent: body({ messages: [user, { ...assistant, tool_calls: [] }, user] }),
    param: "messages[1].tool_calls",
    code: "empty_array",
    message: /empty array/,
  },
  {
    what: "a result without a call's id",
    sent: talk(user, toolCalls("a"), { role: "tool", content: "found" }),
    param: "messages[2].tool_call_id",
    code: "missing_required_parameter",
    message: /Missing/,
  },
  {
    what: "arguments that are not a text",
    sent: talk(
      user,
      { ...toolCalls(), tool_calls: [{ id: "a", type: "function", function: { name: "lookup", arguments: {} } }] },
      tells("a"),
    ),
    param: "messages[1].tool_calls[0].function.arguments",
    code: "invalid_type",
    message: /expected string/,
  },
  {
    what: "an empty list of tools",
    sent: body({ tools: [] }),
    param: "tools",
    code: "empty_array",
    message: /empty array/,
  },
  {
    what: "too many tools",
    sent: body({ tools: Array.from({ length: 129 }, (_, i) => tool({ name: `t${i}` })) }),
    param: "tools",
    code: "array_above_max_length",
    message: /too long/,
  },
  {
    what: "a tool's name with a dot",
    sent: body({ tools: [tool({ name: "a.b" })] }),
    param: "tools[0].function.name",
    code: "invalid_value",
    message: /does not match pattern/,
  },
  {
    what: "a tool's name that is too long",
    sent: body({ tools: [tool({ name: "a".repeat(65) })] }),
    param: "tools[0].function.name",
    code: "string_above_max_length",
    message: /too long/,
  },
  {
    what: "a tool whose schema is not an object",
    sent: body({ tools: [tool({ parameters: { type: "string" } })] }),
    param: "tools[0].function.parameters",
    code: "invalid_function_parameters",
    message:
      /^Invalid schema for function 'lookup': schema must be a JSON Schema of 'type: "object"', got 'type: "string"'/,
  },
  {
    what: "a tool whose schema has no type",
    sent: body({ tools: [tool({ parameters: {} })] }),
    param: "tools[0].function.parameters",
    code: "invalid_function_parameters",
    message: /got 'type: null'/,
  },
  {
    what: "a strict tool that allows more fields",
    sent: body({ tools: [tool({ strict: true })] }),
    param: "tools[0].function.parameters",
    code: "invalid_function_parameters",
    message: /'additionalProperties' is required to be supplied and to be false/,
  },
  {
    what: "a strict tool with a field that may be missing",
    sent: body({ tools: [tool({ strict: true, parameters: { ...strict, required: [] } })] }),
    param: "tools[0].function.parameters",
    code: "invalid_function_parameters",
    message: /Missing 'key'/,
  },
  {
    what: "a strict tool with a loose nested object",
    sent: body({
      tools: [
        tool({ strict: true, parameters: { ...strict, properties: { key: { type: "array", items: parameters } } } }),
      ],
    }),
    param: "tools[0].function.parameters",
    code: "invalid_function_parameters",
    message: /In context=\('properties', 'key', 'items'\)/,
  },
  {
    what: "a strict tool with allOf",
    sent: body({ tools: [tool({ strict: true, parameters: { ...strict, properties: { key: { allOf: [] } } } })] }),
    param: "tools[0].function.parameters",
    code: "invalid_function_parameters",
    message: /'allOf' is not permitted/,
  },
  {
    what: "a strict format that is loose",
    sent: body(format(parameters)),
    param: "response_format",
    message: /^Invalid schema for response_format 'answer'/,
  },
  {
    what: "a strict format that is not an object",
    sent: body(format({ type: "array", items: { type: "string" } })),
    param: "response_format",
    message: /'type: "object"'/,
  },
  {
    what: "a format without a schema",
    sent: body({ response_format: { type: "json_schema", json_schema: { name: "a" } } }),
    param: "response_format.json_schema.schema",
    code: "missing_required_parameter",
    message: /Missing/,
  },
  {
    what: "JSON without the word",
    sent: body({ response_format: { type: "json_object" } }),
    param: "messages",
    message: /must contain the word 'json'/,
  },
  {
    what: "a choice without tools",
    sent: body({ tool_choice: "auto" }),
    param: "tool_choice",
    message: /only allowed when 'tools' are specified/,
  },
  {
    what: "parallel calls without tools",
    sent: body({ parallel_tool_calls: false }),
    param: "parallel_tool_calls",
    message: /only allowed when 'tools' are specified/,
  },
  {
    what: "a choice of an unknown tool",
    sent: body({ tools: [tool()], tool_choice: { type: "function", function: { name: "other" } } }),
    param: "tool_choice",
    message: /'other'/,
  },
  {
    what: "options of a stream without one",
    sent: body({ stream_options: { include_usage: true } }),
    param: "stream_options",
    message: /only allowed when 'stream' is enabled/,
  },
  {
    what: "max_tokens for a reasoning model",
    sent: body({ model: "gpt-5", max_tokens: 100 }),
    param: "max_tokens",
    code: "unsupported_parameter",
    message: /Use 'max_completion_tokens' instead/,
  },
  {
    what: "a temperature for a reasoning model",
    sent: body({ model: "gpt-5", temperature: 0 }),
    param: "temperature",
    code: "unsupported_value",
    message: /Only the default \(1\) value is supported/,
  },
  {
    what: "an effort for a model without reasoning",
    sent: body({ reasoning_effort: "low" }),
    message: /Unrecognized request argument supplied: reasoning_effort/,
  },
  {
    what: "both limits",
    sent: body({ max_tokens: 5, max_completion_tokens: 5 }),
    param: "max_tokens",
    code: "invalid_parameter_combination",
    message: /at the same time/,
  },
  {
    what: "a limit of 0",
    sent: body({ max_completion_tokens: 0 }),
    param: "max_completion_tokens",
    code: "integer_below_min_value",
    message: /below minimum/,
  },
  {
    what: "a limit beyond the model's",
    sent: body({ max_completion_tokens: 200_000 }),
    param: "max_completion_tokens",
    code: "invalid_value",
    message: /too large: 200000/,
  },
  {
    what: "too long a conversation",
    sent: body({ messages: [{ ...user, content: "x".repeat(4_100) }] }),
    param: "messages",
    code: "context_length_exceeded",
    message: /maximum context length is 1000 tokens/,
  },
  { what: "too large a body", sent: body({ user: "x".repeat(21_000) }), status: 413, message: /maximum size/ },
];

const options = { scenario, apiKey: "right", contextTokens: 1_000, bodyBytesMax: 20_000 };
const bearer = (key: string) => (key === "" ? {} : { authorization: `Bearer ${key}` });

describe("a request is refused:", () => {
  test.for(refused)(
    "$what",
    async ({ sent, key = "right", status = 400, param = null, code = null, message }, context) => {
      const server = await startServer(context, options);
      const response = await post(server, "/v1/chat/completions", sent, bearer(key));
      const answer = await response.json();

      expect(answer).toEqual({
        error: {
          type: "invalid_request_error",
          param,
          code,
          message: expect.stringMatching(message),
        },
      });
      expect(response.status).toBe(status);
      expect(response.headers.get("x-request-id")).toMatch(/^req_/);
      expect(JSON.stringify(server.calls())).not.toContain("very-wrong");
    },
  );
});

const accepted: { what: string; sent: object }[] = [
  { what: "the least", sent: body() },
  {
    what: "any order of roles",
    sent: body({
      messages: [assistant, user, { role: "system", content: "s" }, user, { role: "developer", content: "d" }],
    }),
  },
  { what: "a system message alone", sent: body({ messages: [{ role: "system", content: "s" }] }) },
  { what: "results in another order", sent: talk(user, toolCalls("a", "b"), tells("b"), tells("a")) },
  {
    what: "arguments that are not JSON",
    sent: talk(
      user,
      { ...toolCalls(), tool_calls: [{ id: "a", type: "function", function: { name: "lookup", arguments: '{"a' } }] },
      tells("a"),
    ),
  },
  { what: "text beside calls", sent: talk(user, { ...toolCalls("a"), content: "so" }, tells("a")) },
  { what: "calls without tools", sent: body({ messages: [user, toolCalls("a"), tells("a")] }) },
  { what: "a loose tool", sent: body({ tools: [tool()], tool_choice: "required", parallel_tool_calls: true }) },
  { what: "a strict tool", sent: body({ tools: [tool({ strict: true, parameters: strict })] }) },
  { what: "a tool without parameters", sent: body({ tools: [{ type: "function", function: { name: "now" } }] }) },
  { what: "a strict format", sent: body(format(strict)) },
  { what: "a loose format", sent: body(format(parameters, { strict: false })) },
  { what: "a limit and a temperature", sent: body({ max_tokens: 100, temperature: 0.5 }) },
  {
    what: "an effort for a reasoning model",
    sent: body({ model: "gpt-5", max_completion_tokens: 100, reasoning_effort: "high", temperature: 1 }),
  },
  {
    what: "max_tokens for a reasoning model of another vendor",
    sent: body({ model: "deepseek-chat", max_tokens: 100, temperature: 0 }),
  },
];

describe("a request is accepted:", () => {
  test.for(accepted)("$what", async ({ sent }, context) => {
    const server = await startServer(context, options);
    const response = await post(server, "/v1/chat/completions", sent, bearer("right"));
    expect(await response.json()).toMatchObject({
      object: "chat.completion",
      choices: [{ message: { content: "yes" } }],
    });
    expect(response.status).toBe(200);
  });
});

test("a stream has every chunk in its order, and usage on request", async (context) => {
  const step = { text: "one two", deltas: 2, latencyMs: 2, calls: [{ tool: "lookup", args: { a: 1 } }] };
  const server = await startServer(context, { scenario: saying(step) });
  const streamed = async (more: object) =>
    (await eventsOf(await post(server, "/v1/chat/completions", { ...talk(user), stream: true, ...more }))).map(
      ({ data }) => data,
    );
  const deltas = (chunks: Awaited<ReturnType<typeof streamed>>) =>
    chunks.flatMap((data) =>
      data === "[DONE]" ? [] : (data.choices as { delta: object }[]).map(({ delta }) => delta),
    );

  const plain = await streamed({});
  expect(deltas(plain)).toEqual([
    { role: "assistant", content: "", refusal: null },
    { content: "one " },
    { content: "two" },
    {
      tool_calls: [{ index: 0, id: expect.any(String), type: "function", function: { name: "lookup", arguments: "" } }],
    },
    { tool_calls: [{ index: 0, function: { arguments: '{"a' } }] },
    { tool_calls: [{ index: 0, function: { arguments: '":1' } }] },
    { tool_calls: [{ index: 0, function: { arguments: "}" } }] },
    {},
  ]);
  expect(plain.at(-2)).toMatchObject({ choices: [{ finish_reason: "tool_calls" }] });
  expect(plain.at(-1)).toBe("[DONE]");
  expect(JSON.stringify(plain)).not.toContain("usage");

  const counted = await streamed({ stream_options: { include_usage: true } });
  expect(counted.at(-2)).toMatchObject({ choices: [], usage: { completion_tokens: expect.any(Number) } });
  expect(counted.slice(0, -2).every((data) => data !== "[DONE]" && data.usage === null)).toBe(true);
});

describe("a vendor with visible reasoning requires it in a loop of calls:", () => {
  const thinks = { thinking: "hm", text: "so", calls: [{ tool: "lookup" }] };

  test.for<{ what: string; reasoning: object; ending: object[]; status: number; message: RegExp }>([
    { what: "unchanged", reasoning: { reasoning_content: "hm" }, ending: [], status: 200, message: /^$/ },
    {
      what: "not omitted",
      reasoning: {},
      ending: [],
      status: 400,
      message: /^Missing `reasoning_content` field in the assistant message at message index 1/,
    },
    { what: "not changed", reasoning: { reasoning_content: "ah" }, ending: [], status: 400, message: /was changed/ },
    { what: "not required after the loop", reasoning: {}, ending: [assistant, user], status: 200, message: /^$/ },
  ])("$what", async ({ reasoning, ending, status, message }, context) => {
    const server = await startServer(context, {
      scenario: saying(thinks, { text: "yes", repeat: true }),
      reasoningField: "reasoning_content",
    });
    const send = (...messages: object[]) =>
      post(server, "/v1/chat/completions", { ...talk(...messages), model: "deepseek-chat" });
    const first = (await (await send(user)).json()).choices[0].message;
    expect(first).toMatchObject({ content: "so", reasoning_content: "hm" });

    const { annotations: _, reasoning_content: __, ...sentBack } = first;
    const response = await send(user, { ...sentBack, ...reasoning }, tells(first.tool_calls[0].id), ...ending);
    expect((await response.json()).error?.message ?? "").toMatch(message);
    expect(response.status).toBe(status);
  });
});

/** Tests the rules of OpenAI's Responses API: refused requests with their errors, and unusual requests that pass. */
import { describe, expect, test } from "vitest";
import { eventsOf, post, saying, startServer } from "./fixture.ts";

const scenario = saying({ text: "yes", repeat: true });
const user = { role: "user", content: "hello" };
const assistant = { role: "assistant", content: [{ type: "output_text", text: "hi" }] };
const functionCall = (id: string, more: object = {}) => ({
  type: "function_call",
  call_id: id,
  name: "lookup",
  arguments: "{}",
  ...more,
});
const tells = (id: string, more: object = {}) => ({
  type: "function_call_output",
  call_id: id,
  output: "found",
  ...more,
});
const reasoning = (more: object = {}) => ({ type: "reasoning", id: "rs_1", summary: [], ...more });
const loose = { type: "object", properties: { key: { type: "string" } } };
const parameters = { ...loose, required: ["key"], additionalProperties: false };
const tool = (more: object = {}) => ({ type: "function", name: "lookup", parameters, ...more });
const format = (more: object) => ({
  text: { format: { type: "json_schema", name: "answer", schema: parameters, ...more } },
});

/** A body that is in order, but for these fields. */
const body = (more: object = {}) => ({ model: "gpt-5", input: [user], ...more });
const talk = (...input: object[]) => body({ tools: [tool()], input });

interface Refused {
  what: string;
  sent: unknown;
  status?: number;
  param?: string | null;
  code?: string | null;
  message: RegExp;
}

const refused: Refused[] = [
  { what: "no JSON", sent: "{", message: /not valid JSON/ },
  {
    what: "an unknown model",
    sent: body({ model: "gpt-0" }),
    status: 404,
    code: "model_not_found",
    message: /does not exist/,
  },
  {
    what: "no model",
    sent: { input: "hello" },
    param: "model",
    code: "missing_required_parameter",
    message: /^Missing required parameter: 'model'/,
  },
  {
    what: "no input",
    sent: { model: "gpt-5" },
    param: "input",
    code: "missing_required_parameter",
    message: /'input'/,
  },
  { what: "an empty input", sent: body({ input: [] }), param: "input", code: "empty_array", message: /empty array/ },
  {
    what: "messages",
    sent: body({ messages: [user] }),
    param: "messages",
    code: "unknown_parameter",
    message: /^Unknown parameter: 'messages'\.$/,
  },
  {
    what: "max_tokens",
    sent: body({ max_tokens: 100 }),
    param: "max_tokens",
    code: "unknown_parameter",
    message: /Unknown parameter/,
  },
  {
    what: "max_completion_tokens",
    sent: body({ max_completion_tokens: 100 }),
    param: "max_completion_tokens",
    code: "unknown_parameter",
    message: /Unknown parameter/,
  },
  {
    what: "a format of chat completions",
    sent: body({ response_format: { type: "json_object" } }),
    param: "response_format",
    code: "unknown_parameter",
    message: /Unknown parameter/,
  },
  {
    what: "an effort of chat completions",
    sent: body({ reasoning_effort: "low" }),
    param: "reasoning_effort",
    code: "unknown_parameter",
    message: /Unknown parameter/,
  },
  {
    what: "an unknown field of an item",
    sent: talk(user, functionCall("a", { index: 0 }), tells("a")),
    param: "input[1].index",
    code: "unknown_parameter",
    message: /input\[1\]\.index/,
  },
  {
    what: "an unknown field of a message",
    sent: body({ input: [{ ...user, name: "me" }] }),
    param: "input[0].name",
    code: "unknown_parameter",
    message: /input\[0\]\.name/,
  },
  {
    what: "a role of chat completions",
    sent: body({ input: [{ role: "tool", content: "a" }] }),
    param: "input[0].role",
    code: "invalid_value",
    message: /role/,
  },
  {
    what: "an answer in the form of a question",
    sent: body({ input: [user, { role: "assistant", content: [{ type: "input_text", text: "a" }] }] }),
    param: "input[1].content[0].type",
    code: "invalid_value",
    message: /type/,
  },
  {
    what: "a question in the form of an answer",
    sent: body({ input: [{ role: "user", content: [{ type: "output_text", text: "a" }] }] }),
    param: "input[0].content[0].type",
    code: "invalid_value",
    message: /type/,
  },
  {
    what: "a tool in the form of chat completions",
    sent: body({ tools: [{ type: "function", function: { name: "lookup" } }] }),
    param: "tools[0].name",
    code: "missing_required_parameter",
    message: /tools\[0\]\.name/,
  },
  {
    what: "an output without a call",
    sent: talk(user, tells("a")),
    param: "input",
    message: /^No tool call found for function call output with call_id a\.$/,
  },
  {
    what: "an output before its call",
    sent: talk(user, tells("a"), functionCall("a")),
    param: "input",
    message: /No tool call found/,
  },
  {
    what: "a call without an output",
    sent: talk(user, functionCall("a"), user),
    param: "input",
    message: /^No tool output found for function call a\.$/,
  },
  {
    what: "two calls with one output",
    sent: talk(user, functionCall("a"), functionCall("b"), tells("a")),
    param: "input",
    message: /function call b\./,
  },
  {
    what: "two calls with one id",
    sent: talk(user, functionCall("a"), functionCall("a"), tells("a")),
    param: "input",
    message: /Duplicate item/,
  },
  {
    what: "two outputs of one call",
    sent: talk(user, functionCall("a"), tells("a"), tells("a")),
    param: "input",
    message: /Duplicate output/,
  },
  {
    what: "a call's id that is too long",
    sent: talk(user, functionCall("a".repeat(65)), tells("a".repeat(65))),
    param: "input[1].call_id",
    code: "string_above_max_length",
    message: /too long/,
  },
  {
    what: "an item's id of another kind",
    sent: talk(user, functionCall("a", { id: "call_1" }), tells("a")),
    param: "input[1].id",
    code: "invalid_value",
    message: /input\[1\]\.id/,
  },
  {
    what: "arguments that are not a text",
    sent: talk(user, functionCall("a", { arguments: {} }), tells("a")),
    param: "input[1].arguments",
    code: "invalid_type",
    message: /expected string/,
  },
  {
    what: "reasoning without encrypted content, and nothing stored",
    sent: { ...talk(user, reasoning(), functionCall("a"), tells("a")), store: false },
    status: 404,
    param: "input",
    message: /^Item with id 'rs_1' not found\. Items are not persisted/,
  },
  {
    what: "reasoning with forged encrypted content",
    sent: talk(user, reasoning({ encrypted_content: "x" }), functionCall("a"), tells("a")),
    code: "invalid_encrypted_content",
    message: /could not be verified/,
  },
  {
    what: "a loose tool that does not say so",
    sent: body({ tools: [tool({ parameters: loose })] }),
    param: "tools[0].parameters",
    code: "invalid_function_parameters",
    message: /'additionalProperties' is required/,
  },
  {
    what: "a strict tool with a field that may be missing",
    sent: body({ tools: [tool({ strict: true, parameters: { ...parameters, required: [] } })] }),
    param: "tools[0].parameters",
    code: "invalid_function_parameters",
    message: /Missing 'key'/,
  },
  {
    what: "a tool whose schema is not an object",
    sent: body({ tools: [tool({ strict: false, parameters: { type: "string" } })] }),
    param: "tools[0].parameters",
    code: "invalid_function_parameters",
    message: /'type: "object"'/,
  },
  {
    what: "a tool's name with a dot",
    sent: body({ tools: [tool({ name: "a.b" })] }),
    param: "tools[0].name",
    code: "invalid_value",
    message: /pattern/,
  },
  {
    what: "a loose format that does not say so",
    sent: body(format({ schema: loose })),
    param: "text.format.schema",
    code: "invalid_json_schema",
    message: /^Invalid schema for response_format 'answer'/,
  },
  {
    what: "a format that is not an object",
    sent: body(format({ schema: { type: "string" } })),
    param: "text.format.schema",
    code: "invalid_json_schema",
    message: /'type: "object"'/,
  },
  {
    what: "a required call without tools",
    sent: body({ tool_choice: "required" }),
    param: "tool_choice",
    message: /must be specified with 'tools'/,
  },
  {
    what: "a choice of an unknown tool",
    sent: body({ tools: [tool()], tool_choice: { type: "function", name: "other" } }),
    param: "tool_choice",
    message: /not found in 'tools'/,
  },
  {
    what: "a limit below 16",
    sent: body({ max_output_tokens: 1 }),
    param: "max_output_tokens",
    code: "integer_below_min_value",
    message: /Expected a value >= 16/,
  },
  {
    what: "a limit beyond the model's",
    sent: body({ max_output_tokens: 200_000 }),
    param: "max_output_tokens",
    code: "integer_above_max_value",
    message: /above maximum/,
  },
  {
    what: "a temperature for a reasoning model",
    sent: body({ temperature: 0 }),
    param: "temperature",
    code: "unsupported_parameter",
    message: /^Unsupported parameter: 'temperature'/,
  },
  {
    what: "an effort for a model without reasoning",
    sent: body({ model: "gpt-4.1", reasoning: { effort: "low" } }),
    param: "reasoning.effort",
    code: "unsupported_parameter",
    message: /'reasoning\.effort'/,
  },
  {
    what: "encrypted reasoning for a model without reasoning",
    sent: body({ model: "gpt-4.1", include: ["reasoning.encrypted_content"] }),
    param: "include",
    message: /Encrypted content is not supported/,
  },
  {
    what: "an earlier response that was not stored",
    sent: body({ previous_response_id: "resp_1" }),
    param: "previous_response_id",
    code: "previous_response_not_found",
    message: /not found/,
  },
  {
    what: "options of a stream without one",
    sent: body({ stream_options: { include_obfuscation: false } }),
    param: "stream_options",
    message: /only allowed when 'stream' is enabled/,
  },
  {
    what: "too long a conversation",
    sent: body({ input: "x".repeat(4_100) }),
    param: "input",
    code: "context_length_exceeded",
    message: /maximum context length/,
  },
];

const options = { scenario, contextTokens: 1_000 };

describe("a request is refused:", () => {
  test.for(refused)("$what", async ({ sent, status = 400, param = null, code = null, message }, context) => {
    const server = await startServer(context, options);
    const response = await post(server, "/v1/responses", sent);
    const answer = await response.json();

    expect(answer).toMatchObject({
      error: { type: "invalid_request_error", param, message: expect.stringMatching(message) },
    });
    expect(answer.error.code).toBe(code);
    expect(response.status).toBe(status);
  });
});

const accepted: { what: string; sent: object }[] = [
  { what: "the least", sent: { model: "gpt-5", input: "hello" } },
  { what: "any order of roles", sent: body({ input: [assistant, { role: "developer", content: "d" }, user, user] }) },
  { what: "an answer as a text", sent: body({ input: [user, { role: "assistant", content: "hi" }, user] }) },
  {
    what: "calls with text between them",
    sent: talk(user, functionCall("a"), assistant, functionCall("b"), tells("b"), tells("a")),
  },
  {
    what: "items by their ids",
    sent: talk(
      user,
      { ...assistant, type: "message", id: "msg_1", status: "completed" },
      functionCall("a", { id: "fc_1", status: "completed" }),
      tells("a"),
    ),
  },
  {
    what: "a strict tool that does not say so",
    sent: body({ tools: [tool()], tool_choice: "auto", parallel_tool_calls: true }),
  },
  { what: "a loose tool that says so", sent: body({ tools: [tool({ parameters: loose, strict: false })] }) },
  { what: "a strict format", sent: body(format({})) },
  { what: "a loose format that says so", sent: body(format({ schema: loose, strict: false })) },
  {
    what: "a limit, an effort and a summary",
    sent: body({
      max_output_tokens: 16,
      reasoning: { effort: "low", summary: "auto" },
      store: false,
      include: ["reasoning.encrypted_content"],
    }),
  },
  { what: "a temperature for a model without reasoning", sent: body({ model: "gpt-4.1", temperature: 0.2 }) },
];

describe("a request is accepted:", () => {
  test.for(accepted)("$what", async ({ sent }, context) => {
    const server = await startServer(context, options);
    const response = await post(server, "/v1/responses", sent);
    expect(await response.json()).toMatchObject({
      object: "response",
      status: "completed",
      output: [{ type: "message", content: [{ type: "output_text", text: "yes" }] }],
    });
    expect(response.status).toBe(200);
  });
});

describe("thinking is returned unchanged in a loop of tools", () => {
  type Item = { type: string; [field: string]: unknown };

  async function loop(context: Parameters<typeof startServer>[0]) {
    const thinks = { thinking: "let me see", text: "so", calls: [{ tool: "lookup" }] };
    const server = await startServer(context, { scenario: saying(thinks, { text: "done", repeat: true }) });
    const asked = { ...talk(user), store: false, include: ["reasoning.encrypted_content"] };
    const { output } = (await (await post(server, "/v1/responses", asked)).json()) as { output: Item[] };
    const id = output.find(({ type }) => type === "function_call")?.call_id as string;
    const send = async (items: readonly object[], ...ending: object[]) => {
      const response = await post(server, "/v1/responses", { ...asked, input: [user, ...items, tells(id), ...ending] });
      return { status: response.status, message: (await response.json()).error?.message };
    };
    return { output, send };
  }

  test("as it was", async (context) => {
    const { output, send } = await loop(context);
    expect(output.map(({ type }) => type)).toEqual(["reasoning", "message", "function_call"]);
    expect(await send(output)).toEqual({ status: 200, message: undefined });
  });

  test.for<{ what: string; change: (items: Item[]) => object[]; message: RegExp }>([
    {
      what: "with other text",
      change: ([thought, ...rest]) => [{ ...thought, summary: [] }, ...rest],
      message: /could not be verified/,
    },
    {
      what: "left out",
      change: ([, ...rest]) => rest,
      message: /was provided without its required 'reasoning' item: 'rs_/,
    },
    {
      what: "after its call",
      change: ([thought, message, call]) => [message ?? {}, call ?? {}, thought ?? {}],
      message: /required/,
    },
    {
      what: "at the end",
      change: ([thought, , call]) => [thought ?? {}, user, call ?? {}],
      message: /without its required following item/,
    },
  ])("but is refused: $what", async ({ change, message }, context) => {
    const { output, send } = await loop(context);
    expect(await send(change(output))).toEqual({ status: 400, message: expect.stringMatching(message) });
  });

  test("and may be omitted after the loop", async (context) => {
    const { output, send } = await loop(context);
    expect(await send(output.slice(1), assistant, user)).toMatchObject({ status: 200 });
  });
});

test("a stream has every event in its order, numbered", async (context) => {
  const step = {
    thinking: "hm",
    text: "one two",
    deltas: 2,
    latencyMs: 2,
    calls: [{ tool: "lookup", args: { a: 1 } }],
  };
  const server = await startServer(context, { scenario: saying(step) });
  const events = await eventsOf(await post(server, "/v1/responses", { ...talk(user), stream: true }));

  expect(events.map(({ data }) => data !== "[DONE]" && data.sequence_number)).toEqual(events.map((_, i) => i));
  expect(events.every(({ event, data }) => data !== "[DONE]" && data.type === event)).toBe(true);
  expect(events.map(({ event }) => event?.replace("response.", ""))).toEqual([
    "created",
    "in_progress",
    "output_item.added",
    "reasoning_summary_part.added",
    "reasoning_summary_text.delta",
    "reasoning_summary_text.done",
    "reasoning_summary_part.done",
    "output_item.done",
    "output_item.added",
    "content_part.added",
    "output_text.delta",
    "output_text.delta",
    "output_text.done",
    "content_part.done",
    "output_item.done",
    "output_item.added",
    "function_call_arguments.delta",
    "function_call_arguments.delta",
    "function_call_arguments.delta",
    "function_call_arguments.done",
    "output_item.done",
    "completed",
  ]);
});

test("a truncated answer is incomplete", async (context) => {
  const server = await startServer(context, { scenario: saying({ text: "word ".repeat(100) }) });
  const events = await eventsOf(await post(server, "/v1/responses", body({ max_output_tokens: 16, stream: true })));
  expect(events.at(-1)).toMatchObject({
    event: "response.incomplete",
    data: { response: { status: "incomplete", incomplete_details: { reason: "max_output_tokens" } } },
  });
});

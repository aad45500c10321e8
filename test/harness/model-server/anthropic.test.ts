/** Tests the rules of Anthropic's Messages API: refused requests with their errors, and unusual requests that pass. */
import { describe, expect, test } from "vitest";
import { eventsOf, post, saying, startServer } from "./fixture.ts";
import { type ModelServer, startModelServer } from "./start-model-server.ts";

const scenario = saying({ text: "yes", repeat: true });
const user = { role: "user", content: "hello" };
const assistant = { role: "assistant", content: "hi" };
const text = (words: string, more: object = {}) => ({ type: "text", text: words, ...more });
const use = (id: string, more: object = {}) => ({ type: "tool_use", id, name: "lookup", input: {}, ...more });
const result = (id: string, more: object = {}) => ({ type: "tool_result", tool_use_id: id, content: "found", ...more });
const lookup = { name: "lookup", input_schema: { type: "object", properties: {} } };
const cached = { cache_control: { type: "ephemeral" } };
const thinking = { type: "enabled", budget_tokens: 1024 };

/** A body that is in order, but for these fields. */
const body = (more: object = {}) => ({ model: "claude-sonnet-4-5", max_tokens: 2_000, messages: [user], ...more });
/** A conversation with tools, but for these messages. */
const talk = (...messages: object[]) => body({ tools: [lookup], messages });
const assistantTurn = (...blocks: object[]) => ({ role: "assistant", content: blocks });
const tells = (...blocks: object[]) => ({ role: "user", content: blocks });
const without = (name: string) => Object.fromEntries(Object.entries(body()).filter(([key]) => key !== name));

interface Refused {
  what: string;
  sent: unknown;
  headers?: Record<string, string>;
  status?: number;
  type?: string;
  message: RegExp;
}

const headers = { "anthropic-version": "2023-06-01", "x-api-key": "right" };

const refused: Refused[] = [
  {
    what: "no version",
    sent: body(),
    headers: { "x-api-key": "right" },
    message: /^anthropic-version: header is required/,
  },
  {
    what: "no key",
    sent: body(),
    headers: { "anthropic-version": "2023-06-01" },
    status: 401,
    type: "authentication_error",
    message: /^x-api-key header is required/,
  },
  {
    what: "a wrong key",
    sent: body(),
    headers: { ...headers, "x-api-key": "wrong" },
    status: 401,
    type: "authentication_error",
    message: /^invalid x-api-key$/,
  },
  { what: "no JSON", sent: '{"model":', message: /not valid JSON/ },
  { what: "no object", sent: "[]", message: /expected object/ },
  {
    what: "an unknown model",
    sent: body({ model: "claude-0" }),
    status: 404,
    type: "not_found_error",
    message: /^model: claude-0$/,
  },
  { what: "no model", sent: without("model"), message: /^model: Field required$/ },
  { what: "no max_tokens", sent: without("max_tokens"), message: /^max_tokens: Field required$/ },
  { what: "no messages", sent: without("messages"), message: /^messages: Field required$/ },
  { what: "max_tokens of 0", sent: body({ max_tokens: 0 }), message: /^max_tokens: / },
  { what: "max_tokens beyond the model's", sent: body({ max_tokens: 65_000 }), message: /^max_tokens: 65000 > 64000/ },
  {
    what: "an unknown field",
    sent: body({ max_completion_tokens: 5 }),
    message: /^max_completion_tokens: Extra inputs/,
  },
  {
    what: "an unknown field of a block",
    sent: body({ messages: [tells(text("a", { origin: "b" }))] }),
    message: /^messages\.0\.content\.0\.origin: Extra inputs are not permitted$/,
  },
  {
    what: "an unknown field of a tool",
    sent: body({ tools: [{ ...lookup, parameters: {} }] }),
    message: /^tools\.0\.parameters: Extra inputs/,
  },
  {
    what: "an unknown kind of block",
    sent: body({ messages: [tells({ type: "words" })] }),
    message: /^messages\.0\.content\.0\.type/,
  },
  { what: "an unknown role", sent: body({ messages: [{ ...user, role: "tool" }] }), message: /^messages\.0\.role/ },
  { what: "no message at all", sent: body({ messages: [] }), message: /at least one message is required/ },
  {
    what: "an answer as the first message",
    sent: body({ messages: [assistant, user] }),
    message: /first message must use the "user" role/,
  },
  {
    what: "a system message as the first",
    sent: body({ messages: [{ ...user, role: "system" }] }),
    message: /first message/,
  },
  {
    what: "a system message after an answer",
    sent: body({ messages: [user, assistant, { role: "system", content: "s" }, user] }),
    message: /must come right after one of role 'user'/,
  },
  {
    what: "an empty message",
    sent: body({ messages: [{ ...user, content: "" }] }),
    message: /all messages must have non-empty content/,
  },
  {
    what: "a message of no blocks",
    sent: body({ messages: [user, assistantTurn(), user] }),
    message: /non-empty content/,
  },
  {
    what: "an empty text",
    sent: body({ messages: [tells(text(""))] }),
    message: /text content blocks must be non-empty/,
  },
  { what: "a text of blanks", sent: body({ messages: [tells(text(" \n"))] }), message: /non-whitespace/ },
  {
    what: "an empty system prompt in blocks",
    sent: body({ system: [text("")] }),
    message: /text content blocks must be non-empty/,
  },
  {
    what: "a prefill that ends with a blank",
    sent: body({ messages: [user, { ...assistant, content: "I " }] }),
    message: /trailing whitespace/,
  },
  {
    what: "a prefill, for a model without prefills",
    sent: { ...body(), model: "claude-opus-5", messages: [user, assistant] },
    message: /does not support assistant message prefill/,
  },
  {
    what: "a result without a call",
    sent: talk(tells(result("a"))),
    message: /^messages\.0\.content\.0: unexpected `tool_use_id`/,
  },
  {
    what: "a result of an earlier call",
    sent: talk(user, assistantTurn(use("a")), tells(result("a")), assistant, tells(result("a"))),
    message: /unexpected `tool_use_id`/,
  },
  {
    what: "a call without a result",
    sent: talk(user, assistantTurn(use("a")), user),
    message: /^messages\.1: `tool_use` ids were found without `tool_result` blocks immediately after: a/,
  },
  {
    what: "a call without a next turn",
    sent: talk(user, assistantTurn(use("a"))),
    message: /ids were found without `tool_result`/,
  },
  {
    what: "two calls with one result",
    sent: talk(user, assistantTurn(use("a"), use("b")), tells(result("a"))),
    message: /immediately after: b\./,
  },
  {
    what: "two results of one call",
    sent: talk(user, assistantTurn(use("a")), tells(result("a"), result("a"))),
    message: /must have a single result/,
  },
  {
    what: "text before the results",
    sent: talk(user, assistantTurn(use("a")), tells(text("look"), result("a"))),
    message: /ids were found without `tool_result`/,
  },
  {
    what: "two calls with one id",
    sent: talk(user, assistantTurn(use("a"), use("a")), tells(result("a"))),
    message: /`tool_use` ids must be unique/,
  },
  {
    what: "one id in two turns",
    sent: talk(user, assistantTurn(use("a")), tells(result("a")), assistantTurn(use("a")), tells(result("a"))),
    message: /`tool_use` ids must be unique/,
  },
  {
    what: "an id with other characters",
    sent: talk(user, assistantTurn(use("a.b")), tells(result("a.b"))),
    message: /^messages\.1\.content\.0\.id/,
  },
  {
    what: "arguments that are not an object",
    sent: talk(user, assistantTurn(use("a", { input: "{}" })), tells(result("a"))),
    message: /^messages\.1\.content\.0\.input/,
  },
  {
    what: "arguments of null",
    sent: talk(user, assistantTurn(use("a", { input: null })), tells(result("a"))),
    message: /^messages\.1\.content\.0\.input/,
  },
  {
    what: "a call by the user",
    sent: talk(tells(use("a"))),
    message: /`tool_use` blocks are not permitted in `user` messages/,
  },
  {
    what: "a result by the model",
    sent: talk(user, assistantTurn(result("a"))),
    message: /`tool_result` blocks are not permitted/,
  },
  {
    what: "calls without tools",
    sent: body({ messages: [user, assistantTurn(use("a")), tells(result("a"))] }),
    message: /must define tools/,
  },
  {
    what: "a tool's name with a blank",
    sent: body({ tools: [{ ...lookup, name: "look up" }] }),
    message: /^tools\.0\.name/,
  },
  {
    what: "a tool's name that is too long",
    sent: body({ tools: [{ ...lookup, name: "a".repeat(129) }] }),
    message: /^tools\.0\.name/,
  },
  { what: "two tools of one name", sent: body({ tools: [lookup, lookup] }), message: /Tool names must be unique/ },
  {
    what: "a tool whose schema is not an object",
    sent: body({ tools: [{ ...lookup, input_schema: { type: "string" } }] }),
    message: /^tools\.0\.input_schema\.type/,
  },
  {
    what: "a tool whose schema has no type",
    sent: body({ tools: [{ ...lookup, input_schema: {} }] }),
    message: /^tools\.0\.input_schema\.type: Field required/,
  },
  { what: "a choice without tools", sent: body({ tool_choice: { type: "auto" } }), message: /while providing tools/ },
  {
    what: "a choice of an unknown tool",
    sent: body({ tools: [lookup], tool_choice: { type: "tool", name: "other" } }),
    message: /Tool 'other' not found/,
  },
  {
    what: "a choice in another vendor's format",
    sent: body({ tools: [lookup], tool_choice: "auto" }),
    message: /^tool_choice/,
  },
  {
    what: "five breakpoints of the cache",
    sent: body({
      tools: [{ ...lookup, ...cached }],
      system: [text("s", cached)],
      messages: [tells(...[1, 2, 3].map((n) => text(`${n}`, cached)))],
    }),
    message: /^A maximum of 4 blocks with cache_control may be provided\. Found 5\.$/,
  },
  {
    what: "a breakpoint on thinking",
    sent: body({
      messages: [user, assistantTurn({ type: "thinking", thinking: "a", signature: "b", ...cached }), user],
    }),
    message: /cache_control: Extra inputs/,
  },
  { what: "a temperature of 2", sent: body({ temperature: 2 }), message: /^temperature/ },
  {
    what: "thinking with a temperature",
    sent: body({ thinking, temperature: 0 }),
    message: /^`temperature` may only be set to 1 when thinking/,
  },
  { what: "thinking with top_k", sent: body({ thinking, top_k: 5 }), message: /^`top_k` must be unset when thinking/ },
  { what: "thinking with a low top_p", sent: body({ thinking, top_p: 0.5 }), message: /^`top_p` must be greater/ },
  {
    what: "thinking with a forced tool",
    sent: body({ thinking, tools: [lookup], tool_choice: { type: "any" } }),
    message: /^Thinking may not be enabled when tool_choice forces tool use/,
  },
  {
    what: "a small budget for thinking",
    sent: body({ thinking: { ...thinking, budget_tokens: 1_000 } }),
    message: /^thinking\.budget_tokens/,
  },
  {
    what: "a budget for thinking as large as all",
    sent: body({ thinking: { ...thinking, budget_tokens: 2_000 } }),
    message: /`max_tokens` must be greater than `thinking\.budget_tokens`/,
  },
  {
    what: "a budget for a model that sets its own",
    sent: { ...body({ thinking }), model: "claude-opus-5" },
    message: /is not supported for this model\. Use "thinking\.type\.adaptive"/,
  },
  {
    what: "a temperature for a model without",
    sent: { ...body({ temperature: 0.5 }), model: "claude-opus-5" },
    message: /^`temperature` is deprecated for this model/,
  },
  {
    what: "adaptive thinking for a model without it",
    sent: body({ thinking: { type: "adaptive" } }),
    message: /adaptive thinking is not supported/,
  },
  {
    what: "thinking with a forged signature",
    sent: body({
      messages: [user, assistantTurn({ type: "thinking", thinking: "a", signature: "b" }, text("c")), user],
    }),
    message: /^messages\.1\.content\.0: Invalid `signature` in `thinking` block$/,
  },
  {
    what: "calls without thinking, while thinking is on",
    sent: { ...talk(user, assistantTurn(use("a")), tells(result("a"))), thinking },
    message: /^messages\.1\.content\.0\.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`/,
  },
  {
    what: "an unknown effort",
    sent: body({ output_config: { effort: "huge" } }),
    message: /^output_config\.effort/,
  },
  {
    what: "too long a conversation",
    sent: body({ messages: [{ ...user, content: "x".repeat(4_100) }] }),
    message: /^prompt is too long: \d+ tokens > 1000 maximum$/,
  },
  {
    what: "too large a body",
    sent: body({ system: "x".repeat(21_000) }),
    status: 413,
    type: "request_too_large",
    message: /maximum size/,
  },
];

const options = { scenario, apiKey: "right", contextTokens: 1_000, bodyBytesMax: 20_000 };

describe("a request is refused:", () => {
  test.for(refused)(
    "$what",
    async ({ sent, headers: given, status = 400, type = "invalid_request_error", message }, context) => {
      const server = await startServer(context, options);
      const response = await post(server, "/v1/messages", sent, given ?? headers);
      const answer = await response.json();

      expect(answer).toEqual({
        type: "error",
        error: { type, message: expect.stringMatching(message) },
        request_id: response.headers.get("request-id"),
      });
      expect(response.status).toBe(status);
      expect(response.headers.get("request-id")).toMatch(/^req_/);
      expect(server.calls()).toMatchObject([
        { outcome: "refused", status, refusal: answer.error.message, identity: null },
      ]);
    },
  );
});

const accepted: { what: string; sent: object }[] = [
  { what: "the least", sent: body() },
  { what: "questions one after another", sent: body({ messages: [user, user] }) },
  { what: "answers one after another", sent: body({ messages: [user, assistant, assistant, user] }) },
  { what: "a prefill", sent: body({ messages: [user, assistant] }) },
  { what: "a bearer token", sent: body() },
  { what: "a system prompt in blocks", sent: body({ system: [text("a", cached), text("b")] }) },
  { what: "a system message after a question", sent: body({ messages: [user, { role: "system", content: "s" }] }) },
  {
    what: "four breakpoints of the cache",
    sent: body({ messages: [tells(...[1, 2, 3, 4].map((n) => text(`${n}`, cached)))] }),
  },
  {
    what: "results in another order, and text after them",
    sent: talk(user, assistantTurn(use("a"), use("b")), tells(result("b"), result("a"), text("and?"))),
  },
  {
    what: "results in two messages of one turn",
    sent: talk(user, assistantTurn(use("a"), use("b")), tells(result("a")), tells(result("b"))),
  },
  {
    what: "an empty result",
    sent: talk(user, assistantTurn(use("a")), tells({ type: "tool_result", tool_use_id: "a", is_error: true })),
  },
  {
    what: "a choice of a tool",
    sent: body({ tools: [lookup], tool_choice: { type: "tool", name: "lookup", disable_parallel_tool_use: true } }),
  },
  { what: "a temperature", sent: body({ temperature: 0.5, top_k: 5, stop_sequences: ["stop"] }) },
  { what: "thinking", sent: body({ thinking, temperature: 1, top_p: 0.95 }) },
  {
    what: "an effort and a format",
    sent: body({ output_config: { effort: "max", format: { type: "json_schema", schema: { type: "object" } } } }),
  },
];

describe("a request is accepted:", () => {
  test.for(accepted)("$what", async ({ what, sent }, context) => {
    const server = await startServer(context, options);
    const bearer = { "anthropic-version": "2023-06-01", authorization: "Bearer right" };
    const response = await post(server, "/v1/messages", sent, what === "a bearer token" ? bearer : headers);
    expect(await response.json()).toMatchObject({ type: "message", content: [{ type: "text", text: "yes" }] });
    expect(response.status).toBe(200);
  });
});

describe("thinking is returned unchanged in a loop of tools", () => {
  interface Loop {
    server: ModelServer;
    content: { type: string; [field: string]: unknown }[];
    send(content: object[], more?: object): Promise<{ status: number; message: string | undefined }>;
  }

  async function loop(
    context: Parameters<typeof startServer>[0],
    thought = "let me see",
    more: object = {},
  ): Promise<Loop> {
    const thinks = { thinking: thought, text: "so", calls: [{ tool: "lookup" }] };
    const server = await startServer(context, { scenario: saying(thinks, { text: "done", repeat: true }) });
    const first = { ...talk(user), model: "claude-opus-5", thinking: { type: "adaptive" }, ...more };
    const { content } = await (await post(server, "/v1/messages", first)).json();
    return {
      server,
      content,
      async send(blocks, changed = {}) {
        const id = content.find(({ type }: { type: string }) => type === "tool_use").id;
        const messages = [user, assistantTurn(...blocks), tells(result(id))];
        const response = await post(server, "/v1/messages", { ...first, messages, ...changed });
        return { status: response.status, message: (await response.json()).error?.message };
      },
    };
  }

  test("as it was", async (context) => {
    const { content, send } = await loop(context);
    expect(content.map(({ type }) => type)).toEqual(["thinking", "text", "tool_use"]);
    expect(await send(content)).toEqual({ status: 200, message: undefined });
  });

  test("also redacted thinking", async (context) => {
    const { content, send } = await loop(context, "[redacted] secret");
    expect(content[0]).toEqual({ type: "redacted_thinking", data: expect.any(String) });
    expect(await send(content)).toMatchObject({ status: 200 });
    expect(await send([{ ...content[0], data: "other" }, ...content.slice(1)])).toMatchObject({ status: 400 });
  });

  test("also thinking with its signature alone", async (context) => {
    const { content, send } = await loop(context, "secret", { thinking: { type: "adaptive", display: "omitted" } });
    expect(content[0]).toMatchObject({ type: "thinking", thinking: "" });
    expect(await send(content)).toMatchObject({ status: 200 });
  });

  test.for<{ what: string; change: (content: Loop["content"]) => object[]; message: RegExp; more?: object }>([
    {
      what: "with other text",
      change: ([, ...rest]) => [{ type: "thinking", thinking: "else", signature: "x" }, ...rest],
      message: /Invalid `signature`/,
    },
    {
      what: "left out",
      change: ([, ...rest]) => rest,
      message: /Expected `thinking` or `redacted_thinking`, but found `text`/,
    },
    {
      what: "in another position",
      change: ([thought, ...rest]) => [...rest.slice(0, 1), thought ?? {}, ...rest.slice(1)],
      message: /Expected `thinking`/,
    },
    {
      what: "to another model",
      change: (content) => content,
      message: /Invalid `signature`/,
      more: { model: "claude-opus-5-5" },
    },
  ])("but is refused: $what", async ({ change, message, more }, context) => {
    const { content, send } = await loop(context);
    expect(await send(change(content), more)).toEqual({ status: 400, message: expect.stringMatching(message) });
  });

  test("but is refused if it belongs to another turn", async (context) => {
    const { server, content, send } = await loop(context);
    const other = {
      ...talk({ ...user, content: "another" }),
      model: "claude-opus-5",
      thinking: { type: "adaptive", display: "omitted" },
    };
    const { content: foreign } = await (await post(server, "/v1/messages", other)).json();
    expect(await send([foreign[0], ...content.slice(1)])).toEqual({
      status: 400,
      message: expect.stringMatching(/cannot be modified/),
    });
  });

  test("and may be omitted after the loop", async (context) => {
    const { server, content } = await loop(context);
    const id = content.find(({ type }) => type === "tool_use")?.id as string;
    const messages = [user, assistantTurn(...content.slice(1)), tells(result(id)), assistant, user];
    const sent = { ...talk(...messages), model: "claude-opus-5", thinking: { type: "adaptive" } };
    expect((await post(server, "/v1/messages", sent)).status).toBe(200);
  });
});

test("a stream has every event in its order", async (context) => {
  const step = {
    thinking: "hm",
    text: "one two",
    deltas: 2,
    latencyMs: 2,
    calls: [{ tool: "lookup", args: { a: 1 } }],
  };
  const server = await startServer(context, { scenario: saying(step) });
  const sent = { ...talk(user), model: "claude-opus-5", thinking: { type: "adaptive" }, stream: true };
  const response = await post(server, "/v1/messages", sent);
  const events = await eventsOf(response);

  expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
  expect(events.every(({ event, data }) => data !== "[DONE]" && data.type === event)).toBe(true);
  const shown = events.map(({ data }) =>
    data === "[DONE]"
      ? ""
      : [data.type, data.index, (data.delta as { type?: string })?.type].filter((part) => part !== undefined).join(" "),
  );
  expect(shown).toEqual([
    "message_start",
    "ping",
    "content_block_start 0",
    "content_block_delta 0 thinking_delta",
    "content_block_delta 0 signature_delta",
    "content_block_stop 0",
    "content_block_start 1",
    "content_block_delta 1 text_delta",
    "content_block_delta 1 text_delta",
    "content_block_stop 1",
    "content_block_start 2",
    "content_block_delta 2 input_json_delta",
    "content_block_delta 2 input_json_delta",
    "content_block_delta 2 input_json_delta",
    "content_block_delta 2 input_json_delta",
    "content_block_stop 2",
    "message_delta",
    "message_stop",
  ]);
});

test("tokens are counted by the same rules", async (context) => {
  const server = await startServer(context, { scenario });
  const count = (sent: object) => post(server, "/v1/messages/count_tokens", sent);
  const { max_tokens: _, ...counted } = talk(user);
  expect(await (await count(counted)).json()).toEqual({ input_tokens: expect.any(Number) });
  expect((await count(body())).status).toBe(400);
  expect((await count({ ...counted, messages: [assistant] })).status).toBe(400);
});

test("the server listens on the requested port, and reports a port in use", async (context) => {
  const first = await startServer(context, { scenario });
  const port = Number(new URL(first.url).port);
  await expect(startModelServer({ scenario, port })).rejects.toThrow("EADDRINUSE");
});

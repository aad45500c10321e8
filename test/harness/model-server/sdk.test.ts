/** The server is only worth something if the vendors' own clients take it for the real thing. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { test as base, describe, expect } from "vitest";
import { saying } from "./fixture.ts";
import { type ModelServer, startModelServer } from "./start-model-server.ts";

const lookingUp = saying(
  {
    thinking: "both are needed",
    text: "I will look them up",
    latencyMs: 6,
    deltas: 3,
    calls: [
      { tool: "lookup", args: { key: "größe" } },
      { tool: "lookup", args: { key: "b" } },
    ],
    usage: { inputTokens: 100, cachedTokens: 60, cacheWriteTokens: 30, outputTokens: 40, reasoningTokens: 10 },
  },
  { text: "{{result.0.output}} and {{result.1.output}}" },
);

const parameters = {
  type: "object" as const,
  properties: { key: { type: "string" } },
  required: ["key"],
  additionalProperties: false,
};

const test = base.extend<{ server: ModelServer }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads a fixture's needs from this pattern
  server: async ({}, use) => {
    // Cut anywhere, also within a character.
    const server = await startModelServer({ scenario: lookingUp, apiKey: "right", chunkBytes: 7 });
    await use(server);
    await server.close();
  },
});

describe("Anthropic's client", () => {
  const clientOf = ({ anthropicUrl: baseURL }: ModelServer, apiKey = "right") =>
    new Anthropic({ baseURL, apiKey, authToken: null, maxRetries: 0 });
  const asked = {
    model: "claude-opus-5",
    max_tokens: 2_000,
    thinking: { type: "adaptive" as const },
    tools: [{ name: "lookup", input_schema: parameters }],
  };
  const go: Anthropic.MessageParam = { role: "user", content: "go" };

  /** The answer as a request message: null fields are left out. */
  const sentBack = (content: Anthropic.ContentBlock[]): Anthropic.MessageParam => ({
    role: "assistant",
    content: content.map((block) =>
      block.type === "text" ? { type: "text", text: block.text } : block,
    ) as Anthropic.ContentBlockParam[],
  });
  const results = (content: Anthropic.ContentBlock[], text: string): Anthropic.MessageParam => ({
    role: "user",
    content: content
      .filter((block) => block.type === "tool_use")
      .map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: text })),
  });

  test.for([{ way: "streamed" }, { way: "in one piece" }])(
    "runs a loop of tools, $way",
    async ({ way }, { server }) => {
      const client = clientOf(server);
      const call = (messages: Anthropic.MessageParam[]) =>
        way === "streamed"
          ? client.messages.stream({ ...asked, messages }).finalMessage()
          : client.messages.create({ ...asked, messages });
      const { content, usage, stop_reason } = await call([go]);

      expect(content).toMatchObject([
        { type: "thinking", thinking: "both are needed" },
        { type: "text", text: "I will look them up" },
        { type: "tool_use", name: "lookup", input: { key: "größe" } },
        { type: "tool_use", name: "lookup", input: { key: "b" } },
      ]);
      expect(stop_reason).toBe("tool_use");
      expect(usage).toMatchObject({
        input_tokens: 10,
        cache_read_input_tokens: 60,
        cache_creation_input_tokens: 30,
        output_tokens: 40,
        output_tokens_details: { thinking_tokens: 10 },
      });
      const answer = await call([go, sentBack(content), results(content, "found")]);
      expect(answer).toMatchObject({ content: [{ type: "text", text: "found and found" }], stop_reason: "end_turn" });
      expect(server.calls().map(({ identity }) => identity?.step)).toEqual([1, 2]);
    },
  );

  test("parses failures as its own errors", async ({ server }) => {
    const wrong = clientOf(server, "wrong").messages.create({ ...asked, messages: [go] });
    await expect(wrong).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
    await expect(wrong).rejects.toMatchObject({
      type: "authentication_error",
      requestID: expect.stringMatching(/^req_/),
    });
    const unknown = clientOf(server).messages.create({ ...asked, model: "claude-0", messages: [go] });
    await expect(unknown).rejects.toMatchObject({
      status: 404,
      type: "not_found_error",
      apiMessage: "model: claude-0",
    });
  });

  test("counts tokens and lists models", async ({ server }) => {
    const client = clientOf(server);
    const { input_tokens } = await client.messages.countTokens({ model: asked.model, messages: [go] });
    expect(input_tokens).toBeGreaterThan(0);
    const ids = [];
    for await (const { id } of client.models.list()) ids.push(id);
    expect(ids).toContain("claude-opus-5");
    expect(ids).not.toContain("gpt-5");
  });
});

describe("OpenAI's client", () => {
  const clientOf = ({ openaiUrl: baseURL }: ModelServer, apiKey = "right") =>
    new OpenAI({ baseURL, apiKey, maxRetries: 0 });

  describe("by chat completions", () => {
    const asked = {
      model: "gpt-5",
      tools: [{ type: "function" as const, function: { name: "lookup", parameters, strict: true } }],
    };
    const go: OpenAI.ChatCompletionMessageParam = { role: "user", content: "go" };

    test.for([{ way: "streamed" }, { way: "in one piece" }])(
      "runs a loop of tools, $way",
      async ({ way }, { server }) => {
        const client = clientOf(server);
        const call = (messages: OpenAI.ChatCompletionMessageParam[]) =>
          way === "streamed"
            ? client.chat.completions
                .stream({ ...asked, messages, stream_options: { include_usage: true } })
                .finalChatCompletion()
            : client.chat.completions.create({ ...asked, messages });
        const { choices, usage } = await call([go]);
        const calls = choices[0]?.message.tool_calls?.flatMap((each) => (each.type === "function" ? [each] : [])) ?? [];

        expect(choices[0]).toMatchObject({ finish_reason: "tool_calls", message: { content: "I will look them up" } });
        expect(calls.map(({ function: { name, arguments: args } }) => [name, JSON.parse(args)])).toEqual([
          ["lookup", { key: "größe" }],
          ["lookup", { key: "b" }],
        ]);
        expect(usage).toMatchObject({
          prompt_tokens: 100,
          completion_tokens: 40,
          total_tokens: 140,
          prompt_tokens_details: { cached_tokens: 60 },
          completion_tokens_details: { reasoning_tokens: 10 },
        });
        const answer = await call([
          go,
          {
            role: "assistant",
            content: null,
            tool_calls: calls.map(({ id, type, function: { name, arguments: args } }) => ({
              id,
              type,
              function: { name, arguments: args },
            })),
          },
          ...calls.map(({ id }) => ({ role: "tool" as const, tool_call_id: id, content: "found" })),
        ]);
        expect(answer.choices[0]?.message.content).toBe("found and found");
        expect(answer.choices[0]?.finish_reason).toBe("stop");
      },
    );

    test("parses failures as its own errors", async ({ server }) => {
      const wrong = clientOf(server, "wrong-and-long").chat.completions.create({ ...asked, messages: [go] });
      await expect(wrong).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
      await expect(wrong).rejects.toMatchObject({ code: "invalid_api_key", requestID: expect.stringMatching(/^req_/) });
      const unknown = clientOf(server).chat.completions.create({ ...asked, model: "gpt-0", messages: [go] });
      await expect(unknown).rejects.toMatchObject({ status: 404, code: "model_not_found" });
    });
  });

  describe("by responses", () => {
    const asked = {
      model: "gpt-5",
      store: false,
      include: ["reasoning.encrypted_content" as const],
      tools: [{ type: "function" as const, name: "lookup", parameters, strict: true }],
    };
    const go: OpenAI.Responses.ResponseInputItem = { role: "user", content: "go" };

    test.for([{ way: "streamed" }, { way: "in one piece" }])(
      "runs a loop of tools, $way",
      async ({ way }, { server }) => {
        const client = clientOf(server);
        const call = async (input: OpenAI.Responses.ResponseInputItem[]) => {
          if (way !== "streamed") return client.responses.create({ ...asked, input });
          const stream = await client.responses.create({ ...asked, input, stream: true });
          for await (const event of stream) if (event.type === "response.completed") return event.response;
          throw new Error("the stream had no end");
        };
        const { output, usage } = await call([go]);

        expect(output).toMatchObject([
          { type: "reasoning", summary: [{ text: "both are needed" }] },
          { type: "message", content: [{ type: "output_text", text: "I will look them up" }] },
          { type: "function_call", name: "lookup", arguments: '{"key":"größe"}' },
          { type: "function_call", name: "lookup", arguments: '{"key":"b"}' },
        ]);
        expect(usage).toMatchObject({
          input_tokens: 100,
          input_tokens_details: { cached_tokens: 60 },
          output_tokens: 40,
          output_tokens_details: { reasoning_tokens: 10 },
          total_tokens: 140,
        });
        const answer = await call([
          go,
          ...(output as OpenAI.Responses.ResponseInputItem[]),
          ...output
            .filter((item) => item.type === "function_call")
            .map(({ call_id }) => ({ type: "function_call_output" as const, call_id, output: "found" })),
        ]);
        expect(answer.output).toMatchObject([{ type: "message", content: [{ text: "found and found" }] }]);
      },
    );
  });

  test("lists models", async ({ server }) => {
    const ids = [];
    for await (const { id } of clientOf(server).models.list()) ids.push(id);
    expect(ids).toContain("gpt-5");
  });
});

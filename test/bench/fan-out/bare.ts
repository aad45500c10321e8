/** The same calls by hand: the vendor's SDK, a loop over its events, and nothing else. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { lookUp } from "./lookup.ts";

export type WireName = "anthropic" | "openai-responses" | "openai-chat";

/** Result of a model call: text, or the one requested tool call. */
interface BareReply {
  text: string;
  call: { id: string; name: string; args: string } | null;
}

/** One conversation: the first turn has no result to tell, each later one has that of the call before. */
type Turn = (result: string | null) => Promise<BareReply>;
type Open = (system: string, task: string, tools: readonly object[]) => Turn;

const words = "Work carefully and report what you found. ".repeat(12);
const model = "bench";
const maxTokens = 8_192;

/** main asks for N pieces of work, each is done by two calls with a lookup between them, main answers. */
export async function bareFanOut(wire: WireName, url: string, tools: { delegate: object; lookup: object }) {
  const open = clientOf[wire](url);
  const main = open(`You are the main. ${words}`, "measure", [tools.delegate, tools.lookup]);
  const { call } = await main(null);
  const { tasks } = JSON.parse(call?.args ?? "{}") as { tasks: { task: string }[] };
  const results = await Promise.all(
    tasks.map(async ({ task }) => {
      const worker = open(`You are the worker. ${words}`, task, [tools.lookup]);
      const { call: wanted } = await worker(null);
      if (wanted?.name !== "lookup") throw new Error("the worker was to look something up");
      return (await worker(lookUp())).text;
    }),
  );
  return main(JSON.stringify(results));
}

/** One client a process, as anybody would have it. */
const clientOf: Record<WireName, (url: string) => Open> = {
  anthropic: once((url) => openAnthropic(new Anthropic({ apiKey: "bench", baseURL: url, maxRetries: 0 }))),
  "openai-chat": once((url) => openChat(new OpenAI({ apiKey: "bench", baseURL: `${url}/v1`, maxRetries: 0 }))),
  "openai-responses": once((url) =>
    openResponses(new OpenAI({ apiKey: "bench", baseURL: `${url}/v1`, maxRetries: 0 })),
  ),
};

function once(make: (url: string) => Open): (url: string) => Open {
  let made: Open | null = null;
  return (url) => {
    made ??= make(url);
    return made;
  };
}

function openAnthropic(client: Anthropic): Open {
  return (system, task, tools) => {
    const messages: Anthropic.MessageParam[] = [{ role: "user", content: task }];
    let call: BareReply["call"] = null;
    return async (result) => {
      if (call) {
        const { id, name, args } = call;
        messages.push({ role: "assistant", content: [{ type: "tool_use", id, name, input: JSON.parse(args) }] });
        messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content: result ?? "" }] });
      }
      const request = { model, max_tokens: maxTokens, system, messages, tools: tools as Anthropic.Tool[] };
      const reply = await readAnthropic(await client.messages.create({ ...request, stream: true }));
      call = reply.call;
      return reply;
    };
  };
}

async function readAnthropic(events: AsyncIterable<Anthropic.RawMessageStreamEvent>): Promise<BareReply> {
  const reply: BareReply = { text: "", call: null };
  for await (const event of events) {
    if (event.type === "content_block_start" && event.content_block.type === "tool_use") {
      const { id, name } = event.content_block;
      reply.call = { id, name, args: "" };
    }
    if (event.type !== "content_block_delta") continue;
    if (event.delta.type === "text_delta") reply.text += event.delta.text;
    if (event.delta.type === "input_json_delta" && reply.call) reply.call.args += event.delta.partial_json;
  }
  return reply;
}

function openChat(client: OpenAI): Open {
  return (system, task, tools) => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      { role: "system", content: system },
      { role: "user", content: task },
    ];
    let call: BareReply["call"] = null;
    return async (result) => {
      if (call) {
        const { id, name, args } = call;
        const tool_calls = [{ id, type: "function" as const, function: { name, arguments: args } }];
        messages.push({ role: "assistant", tool_calls }, { role: "tool", tool_call_id: id, content: result ?? "" });
      }
      const request = { model, max_completion_tokens: maxTokens, messages, stream_options: { include_usage: true } };
      const reply = await readChat(
        await client.chat.completions.create({ ...request, tools: tools as OpenAI.ChatCompletionTool[], stream: true }),
      );
      call = reply.call;
      return reply;
    };
  };
}

async function readChat(chunks: AsyncIterable<OpenAI.ChatCompletionChunk>): Promise<BareReply> {
  const reply: BareReply = { text: "", call: null };
  for await (const { choices } of chunks) {
    const delta = choices[0]?.delta;
    reply.text += delta?.content ?? "";
    for (const { id, function: called } of delta?.tool_calls ?? []) {
      reply.call ??= { id: id ?? "", name: called?.name ?? "", args: "" };
      reply.call.args += called?.arguments ?? "";
    }
  }
  return reply;
}

function openResponses(client: OpenAI): Open {
  return (instructions, task, tools) => {
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: "user", content: task }];
    let call: BareReply["call"] = null;
    return async (result) => {
      if (call) {
        const { id, name, args } = call;
        input.push({ type: "function_call", call_id: id, name, arguments: args });
        input.push({ type: "function_call_output", call_id: id, output: result ?? "" });
      }
      const request = { model, max_output_tokens: maxTokens, instructions, input, store: false };
      const reply = await readResponses(
        await client.responses.create({ ...request, tools: tools as OpenAI.Responses.FunctionTool[], stream: true }),
      );
      call = reply.call;
      return reply;
    };
  };
}

async function readResponses(events: AsyncIterable<OpenAI.Responses.ResponseStreamEvent>): Promise<BareReply> {
  const reply: BareReply = { text: "", call: null };
  for await (const event of events) {
    if (event.type === "response.output_text.delta") reply.text += event.delta;
    if (event.type === "response.output_item.done" && event.item.type === "function_call") {
      const { call_id, name, arguments: args } = event.item;
      reply.call = { id: call_id, name, args };
    }
  }
  return reply;
}

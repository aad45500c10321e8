/** The same calls by hand: the vendor's SDK, a loop over its events, and nothing else. */
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";

export type WireName = "anthropic" | "openai-responses" | "openai-chat";

/** What a call came to: words, or the one call that was asked for. */
interface Said {
  text: string;
  call: { id: string; name: string; args: string; item: string } | null;
}

interface Bare {
  /** A conversation that begins with a task; each turn adds to it. */
  open(system: string, task: string, tools: readonly object[]): { next(result: string | null): Promise<Said> };
}

const words = "Work carefully and report what you found. ".repeat(12);
const maxTokens = 8_192;

/** main asks for N pieces of work, each is done by two calls with a lookup between them, main answers. */
export async function bareFanOut(wire: WireName, url: string, tools: { delegate: object; lookup: object }) {
  const client = bareClients[wire](url);
  const main = client.open(`You are the main. ${words}`, "measure", [tools.delegate]);
  const { call } = await main.next(null);
  const { tasks } = JSON.parse(call?.args ?? "{}") as { tasks: { task: string }[] };
  const results = await Promise.all(
    tasks.map(async ({ task }) => {
      const worker = client.open(`You are the worker. ${words}`, task, [tools.lookup]);
      const { call: wanted } = await worker.next(null);
      if (wanted?.name !== "lookup") throw new Error("the worker was to look something up");
      return (await worker.next(lookUp())).text;
    }),
  );
  return main.next(JSON.stringify(results));
}

/** What the tool of both sides does. */
export function lookUp(): string {
  return "Part seven is in order.";
}

const bareClients: Record<WireName, (url: string) => Bare> = {
  anthropic(url) {
    const client = new Anthropic({ apiKey: "bench", baseURL: url, maxRetries: 0 });
    return {
      open(system, task, tools) {
        const messages: Anthropic.MessageParam[] = [{ role: "user", content: task }];
        let last: Said | null = null;
        return {
          async next(result) {
            if (last?.call) {
              const { id, name, args } = last.call;
              messages.push({ role: "assistant", content: [{ type: "tool_use", id, name, input: JSON.parse(args) }] });
              messages.push({
                role: "user",
                content: [{ type: "tool_result", tool_use_id: id, content: result ?? "" }],
              });
            }
            const stream = await client.messages.create({
              model: "bench",
              max_tokens: maxTokens,
              system,
              messages,
              tools: tools as Anthropic.Tool[],
              stream: true,
            });
            const said: Said = { text: "", call: null };
            for await (const event of stream) {
              if (event.type === "content_block_start" && event.content_block.type === "tool_use") {
                const { id, name } = event.content_block;
                said.call = { id, name, args: "", item: id };
              }
              if (event.type !== "content_block_delta") continue;
              if (event.delta.type === "text_delta") said.text += event.delta.text;
              if (event.delta.type === "input_json_delta" && said.call) said.call.args += event.delta.partial_json;
            }
            last = said;
            return said;
          },
        };
      },
    };
  },
  "openai-chat"(url) {
    const client = new OpenAI({ apiKey: "bench", baseURL: `${url}/v1`, maxRetries: 0 });
    return {
      open(system, task, tools) {
        const messages: OpenAI.ChatCompletionMessageParam[] = [
          { role: "system", content: system },
          { role: "user", content: task },
        ];
        let last: Said | null = null;
        return {
          async next(result) {
            if (last?.call) {
              const { id, name, args } = last.call;
              const tool_calls = [{ id, type: "function" as const, function: { name, arguments: args } }];
              messages.push({ role: "assistant", tool_calls });
              messages.push({ role: "tool", tool_call_id: id, content: result ?? "" });
            }
            const stream = await client.chat.completions.create({
              model: "bench",
              max_completion_tokens: maxTokens,
              messages,
              tools: tools as OpenAI.ChatCompletionTool[],
              stream: true,
              stream_options: { include_usage: true },
            });
            const said: Said = { text: "", call: null };
            for await (const { choices } of stream) {
              const delta = choices[0]?.delta;
              said.text += delta?.content ?? "";
              for (const { id, function: called } of delta?.tool_calls ?? []) {
                said.call ??= { id: id ?? "", name: called?.name ?? "", args: "", item: "" };
                said.call.args += called?.arguments ?? "";
              }
            }
            last = said;
            return said;
          },
        };
      },
    };
  },
  "openai-responses"(url) {
    const client = new OpenAI({ apiKey: "bench", baseURL: `${url}/v1`, maxRetries: 0 });
    return {
      open(system, task, tools) {
        const input: OpenAI.Responses.ResponseInputItem[] = [{ role: "user", content: task }];
        let last: Said | null = null;
        return {
          async next(result) {
            if (last?.call) {
              const { id, name, args } = last.call;
              input.push({ type: "function_call", call_id: id, name, arguments: args });
              input.push({ type: "function_call_output", call_id: id, output: result ?? "" });
            }
            const stream = await client.responses.create({
              model: "bench",
              max_output_tokens: maxTokens,
              instructions: system,
              input,
              tools: tools as OpenAI.Responses.FunctionTool[],
              store: false,
              stream: true,
            });
            const said: Said = { text: "", call: null };
            for await (const event of stream) {
              if (event.type === "response.output_text.delta") said.text += event.delta;
              if (event.type === "response.output_item.done" && event.item.type === "function_call") {
                const { call_id, name, arguments: args } = event.item;
                said.call = { id: call_id, name, args, item: event.item.id ?? "" };
              }
            }
            last = said;
            return said;
          },
        };
      },
    };
  },
};

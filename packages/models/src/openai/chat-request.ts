import type { Json, Message, ModelRequest, ToolSpec } from "@troupe/core";
import type { Effort, Thinking } from "@troupe/core/internal";
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionFunctionTool,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import { wireNameOf } from "../wire/wire-names.ts";
import { resultText, tidyMessages } from "./conversation.ts";
import { type Dialect, effortOf, isOpenAis, thinks } from "./dialect.ts";
import { strictSchema } from "./strict-schema.ts";

/** For whom a request is written. */
export interface Addressee {
  /** Id of the provider. */
  provider: string;
  /** The model's name, without the provider's id. */
  model: string;
  dialect: Dialect;
}

/** A request in the words of chat completions, as far as the server's dialect takes them. */
export function chatRequest(request: ModelRequest, to: Addressee): ChatCompletionCreateParamsStreaming {
  return {
    model: to.model,
    messages: chatMessages(request, to),
    stream: true,
    stream_options: { include_usage: true },
    ...(request.tools.length > 0 ? { tools: request.tools.map(chatTool) } : {}),
    ...settingsOf(request, to),
    ...formatOf(request, to),
  };
}

type Settings = Partial<ChatCompletionCreateParamsStreaming> & { thinking?: { type: "enabled" | "disabled" } };

function settingsOf(request: ModelRequest, to: Addressee): Settings {
  const { maxOutputTokens, temperature } = request;
  const isNew = to.dialect === "openai" || thinks(to);
  const most = isNew ? { max_completion_tokens: maxOutputTokens } : { max_tokens: maxOutputTokens };
  const heat = temperature === null || thinks(to) ? {} : { temperature };
  return { ...most, ...heat, ...(request.effort ? effortSettings(request.effort, to) : {}) };
}

function effortSettings(effort: Effort, to: Addressee): Settings {
  const { model, dialect } = to;
  if (thinks(to)) return { reasoning_effort: effortOf(model, effort) };
  if (isOpenAis(to)) return {};
  if (dialect === "openrouter") return { reasoning_effort: effort === "max" ? "xhigh" : effort };
  if (dialect === "compatible") return { reasoning_effort: effort === "max" ? "high" : effort };
  if (effort === "none") return { thinking: { type: "disabled" } };
  return { thinking: { type: "enabled" }, reasoning_effort: effort === "max" ? "max" : "high" };
}

/**
 * How the final answer is held to its schema. Servers that do it by grammar cannot call a tool meanwhile, so that only
 * OpenAI is asked for both; elsewhere the prompt and the check of the answer have to do.
 */
function formatOf({ outputSchema, tools }: ModelRequest, { dialect }: Addressee): Settings {
  if (!outputSchema || !isObjectAtRoot(outputSchema)) return {};
  if (dialect !== "openai" && tools.length > 0) return {};
  // DeepSeek knows no schemas, and its plain JSON mode fails where the prompt does not speak of JSON.
  if (dialect === "deepseek") return {};
  return { response_format: { type: "json_schema", json_schema: answerSchema(outputSchema) } };
}

/** The vendors take no other schema of an answer. */
export function isObjectAtRoot(schema: Record<string, Json>): boolean {
  return schema.type === "object" && !("anyOf" in schema);
}

/** Named as the vendor wants it, and strict where the schema can be. */
export function answerSchema(schema: Record<string, Json>) {
  const strict = strictSchema(schema);
  return { name: "answer", schema: strict ?? schema, strict: strict !== null };
}

function chatTool({ name, description, inputSchema }: ToolSpec): ChatCompletionFunctionTool {
  return {
    type: "function",
    function: { name: wireNameOf(name), description: description.toWellFormed(), parameters: inputSchema },
  };
}

function chatMessages({ system, messages }: ModelRequest, to: Addressee): ChatCompletionMessageParam[] {
  const content = system.toWellFormed();
  const role = to.dialect === "openai" && thinks(to) ? "developer" : "system";
  const opening: ChatCompletionMessageParam[] = system === "" ? [] : [{ role, content }];
  return [...opening, ...tidyMessages(messages).map((message) => chatMessage(message, to))];
}

function chatMessage(message: Message, to: Addressee): ChatCompletionMessageParam {
  if (message.role === "user") return { role: "user", content: message.text.toWellFormed() };
  if (message.role === "tool") return { role: "tool", tool_call_id: message.callId, content: resultText(message) };
  const said: ChatCompletionAssistantMessageParam = {
    role: "assistant",
    content: message.text === "" ? null : message.text.toWellFormed(),
    ...(message.calls.length > 0 ? { tool_calls: message.calls.map(chatCall) } : {}),
  };
  return { ...said, ...thoughtBefore(message, to) };
}

function chatCall({ id, name, args }: Extract<Message, { role: "assistant" }>["calls"][number]) {
  return { id, type: "function" as const, function: { name: wireNameOf(name), arguments: JSON.stringify(args ?? {}) } };
}

/**
 * What a server wants back of the model's thoughts: its `reasoning_details` always, `reasoning_content` with the calls
 * that followed it. DeepSeek refuses calls without any, also where another model made them.
 */
function thoughtBefore({ thinking = [], calls }: Extract<Message, { role: "assistant" }>, to: Addressee): object {
  const [own] = thinking.filter((thought) => isOwn(thought, to));
  if (own && "reasoning_details" in own.block) return own.block;
  if (calls.length === 0) return {};
  if (own) return own.block;
  return to.dialect === "deepseek" ? { reasoning_content: "" } : {};
}

/** Thoughts mean something only to the model that had them. */
export function isOwn(thought: Thinking, { provider, model }: Pick<Addressee, "provider" | "model">): boolean {
  return thought.provider === provider && thought.model === model;
}

import type { Message, ModelRequest, ToolSpec } from "@troupe/core";
import type { Effort } from "@troupe/core/internal";
import type {
  ChatCompletionAssistantMessageParam,
  ChatCompletionCreateParamsStreaming,
  ChatCompletionFunctionTool,
  ChatCompletionMessageParam,
} from "openai/resources/chat/completions";
import { wireNameOf } from "../wire/tool-calls.ts";
import { isOwnThinking, normalizeMessages, resultText } from "./conversation.ts";
import { effortOf, isOpenAiModel, isReasoningModel, type RequestTarget } from "./dialect.ts";
import { answerFormat, isObjectAtRoot } from "./strict-schema.ts";

/** Converts a call to a request of chat completions, in the server's dialect. */
export function chatRequest(request: ModelRequest, target: RequestTarget): ChatCompletionCreateParamsStreaming {
  return {
    model: target.model,
    messages: chatMessages(request, target),
    stream: true,
    stream_options: { include_usage: true },
    ...(request.tools.length > 0 ? { tools: request.tools.map(chatTool) } : {}),
    ...outputSettings(request, target),
    ...formatSettings(request, target),
  };
}

type ChatSettings = Partial<ChatCompletionCreateParamsStreaming> & { thinking?: { type: "enabled" | "disabled" } };

function outputSettings({ maxOutputTokens, temperature, effort }: ModelRequest, target: RequestTarget): ChatSettings {
  const hasNewName = target.dialect === "openai" || isReasoningModel(target);
  return {
    ...(hasNewName ? { max_completion_tokens: maxOutputTokens } : { max_tokens: maxOutputTokens }),
    ...(temperature === null || isReasoningModel(target) ? {} : { temperature }),
    ...(effort ? effortSettings(effort, target) : {}),
  };
}

function effortSettings(effort: Effort, target: RequestTarget): ChatSettings {
  const { model, dialect } = target;
  if (isReasoningModel(target)) return { reasoning_effort: effortOf(model, effort) };
  if (isOpenAiModel(target)) return {};
  if (dialect === "openrouter") return { reasoning_effort: effort === "max" ? "xhigh" : effort };
  if (dialect === "compatible") return { reasoning_effort: effort === "max" ? "high" : effort };
  if (effort === "none") return { thinking: { type: "disabled" } };
  return { thinking: { type: "enabled" }, reasoning_effort: effort === "max" ? "max" : "high" };
}

/**
 * The output format for a schema. Servers that enforce a schema by a grammar cannot call a tool at the same time, so only
 * OpenAI gets both. Without a format the prompt asks for the schema, and the caller checks the answer.
 */
function formatSettings({ outputSchema, tools }: ModelRequest, { dialect }: RequestTarget): ChatSettings {
  if (!outputSchema || !isObjectAtRoot(outputSchema)) return {};
  if (dialect !== "openai" && tools.length > 0) return {};
  // DeepSeek has no schemas, and its JSON mode fails when the prompt does not mention JSON.
  if (dialect === "deepseek") return {};
  return { response_format: { type: "json_schema", json_schema: answerFormat(outputSchema) } };
}

function chatTool({ name, description, inputSchema }: ToolSpec): ChatCompletionFunctionTool {
  return {
    type: "function",
    function: { name: wireNameOf(name), description: description.toWellFormed(), parameters: inputSchema },
  };
}

function chatMessages({ system, messages }: ModelRequest, target: RequestTarget): ChatCompletionMessageParam[] {
  const content = system.toWellFormed();
  const role = target.dialect === "openai" && isReasoningModel(target) ? "developer" : "system";
  const opening: ChatCompletionMessageParam[] = system === "" ? [] : [{ role, content }];
  return [...opening, ...normalizeMessages(messages).map((message) => chatMessage(message, target))];
}

function chatMessage(message: Message, target: RequestTarget): ChatCompletionMessageParam {
  if (message.role === "user") return { role: "user", content: message.text.toWellFormed() };
  if (message.role === "tool") return { role: "tool", tool_call_id: message.callId, content: resultText(message) };
  const reply: ChatCompletionAssistantMessageParam = {
    role: "assistant",
    content: message.text === "" ? null : message.text.toWellFormed(),
    ...(message.calls.length > 0 ? { tool_calls: message.calls.map(chatCall) } : {}),
  };
  return { ...reply, ...thinkingFields(message, target) };
}

function chatCall({ id, name, args }: Extract<Message, { role: "assistant" }>["calls"][number]) {
  return { id, type: "function" as const, function: { name: wireNameOf(name), arguments: JSON.stringify(args ?? {}) } };
}

/**
 * The thinking that a server wants back: `reasoning_details` always, `reasoning_content` only with the calls that followed
 * it. DeepSeek refuses calls without `reasoning_content`, even calls of another model.
 */
function thinkingFields(
  { thinking = [], calls }: Extract<Message, { role: "assistant" }>,
  target: RequestTarget,
): object {
  const own = thinking.find((one) => isOwnThinking(one, target));
  if (own && "reasoning_details" in own.block) return own.block;
  if (calls.length === 0) return {};
  if (own) return own.block;
  return target.dialect === "deepseek" ? { reasoning_content: "" } : {};
}

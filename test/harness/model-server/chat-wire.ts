import type { Message } from "@troupe/core";
import { type ChatMessage, ChatRequest } from "./chat-request.ts";
import { checkChat } from "./chat-rules.ts";
import { modelOf, openAiError, parseOpenAi } from "./openai-errors.ts";
import {
  cutArguments,
  type Frame,
  frame,
  tokensIn,
  type Wire,
  type WireAnswer,
  type WireContext,
  type WireRequest,
} from "./wire.ts";

/** OpenAI's chat completions, and what many others speak. */
export const chatWire: Wire = {
  requestIdHeader: "x-request-id",
  open(raw, context) {
    const body = parseOpenAi(ChatRequest, raw);
    const request = requestOf(body);
    checkChat(body, modelOf(request, context, "messages"), context);
    return {
      request,
      frames: (answer) => framesOf(answer, body, context),
      whole: (answer) => wholeOf(answer, context),
    };
  },
  error: openAiError,
  streamError: (refusal) => frame(null, openAiError(refusal)),
};

function requestOf(body: ChatRequest): WireRequest {
  const system = body.messages.filter(isSystem).map(({ content }) => textOf(content));
  return {
    model: body.model,
    system: system.join("\n\n"),
    messages: body.messages.filter((message) => !isSystem(message)).map(messageOf),
    tools: body.tools?.map(({ function: tool }) => tool.name) ?? [],
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens ?? null,
    stream: body.stream ?? false,
    thinks: true,
    promptTokens: tokensIn(body.messages, body.tools),
  };
}

function framesOf(answer: WireAnswer, { stream_options }: ChatRequest, context: WireContext): Frame[] {
  const isCounted = stream_options?.include_usage ?? false;
  const chunk: Chunk = (delta, isPiece = false, finish_reason = null) => {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason }];
    return frame(null, { ...chunkBase(answer), choices, ...(isCounted ? { usage: null } : {}) }, isPiece);
  };
  const thought = thoughtOf(answer, context);
  return [
    chunk({ role: "assistant", content: "", refusal: null }),
    ...(thought ? [chunk(thought, true)] : []),
    ...answer.pieces.map((content) => chunk({ content }, true)),
    ...answer.calls.flatMap((call, index) => callFrames(call, index, chunk)),
    chunk({}, false, finishReasons[answer.stopReason]),
    ...(isCounted ? [frame(null, { ...chunkBase(answer), choices: [], usage: usageOf(answer) })] : []),
    frame(null, "[DONE]"),
  ];
}

function wholeOf(answer: WireAnswer, context: WireContext) {
  const { id, pieces, calls, stopReason } = answer;
  const tool_calls = calls.map((call) => ({
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: call.args },
  }));
  const message = {
    role: "assistant",
    content: pieces.length > 0 ? pieces.join("") : null,
    refusal: null,
    annotations: [],
    ...thoughtOf(answer, context),
    ...(calls.length > 0 ? { tool_calls } : {}),
  };
  return {
    ...envelope(answer),
    id: `chatcmpl-${id}`,
    object: "chat.completion",
    choices: [{ index: 0, finish_reason: finishReasons[stopReason], logprobs: null, message }],
    usage: usageOf(answer),
  };
}

type Chunk = (delta: unknown, isPiece?: boolean, finishReason?: string | null) => Frame;

const finishReasons = {
  end: "stop",
  tool_calls: "tool_calls",
  max_tokens: "length",
  refusal: "content_filter",
} as const;

function isSystem(message: ChatMessage): message is Extract<ChatMessage, { role: "system" | "developer" }> {
  return message.role === "system" || message.role === "developer";
}

function textOf(content: ChatMessage["content"]): string {
  if (content == null) return "";
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n");
}

function messageOf(message: ChatMessage): Message {
  switch (message.role) {
    case "assistant":
      return {
        role: "assistant",
        text: textOf(message.content),
        calls: message.tool_calls?.map(({ id, function: { name } }) => ({ id, name, args: null, problem: null })) ?? [],
      };
    case "tool":
      return { role: "tool", callId: message.tool_call_id, name: "", text: textOf(message.content), isError: false };
    default:
      return { role: "user", text: textOf(message.content) };
  }
}

function envelope({ id, model }: WireAnswer) {
  return {
    id: `chatcmpl-${id}`,
    created: 1_790_000_000,
    model,
    service_tier: "default",
    system_fingerprint: "fp_scripted",
  };
}

function chunkBase(answer: WireAnswer) {
  return { ...envelope(answer), object: "chat.completion.chunk" };
}

/** The first piece of a call names it, the others only go on with its arguments. */
function callFrames({ id, name, args }: WireAnswer["calls"][number], index: number, chunk: Chunk): Frame[] {
  const delta = (change: object) => ({ tool_calls: [{ index, ...change }] });
  return [
    chunk(delta({ id, type: "function", function: { name, arguments: "" } })),
    ...cutArguments(args).map((piece) => chunk(delta({ function: { arguments: piece } }), true)),
  ];
}

function thoughtOf(
  { thinking, calls }: WireAnswer,
  { reasoningField, signatures: seal }: WireContext,
): Record<string, string> | null {
  if (thinking === null || reasoningField === null) return null;
  seal.bind(
    calls.map(({ id }) => id),
    seal.of(reasoningField, thinking),
  );
  return { [reasoningField]: thinking };
}

function usageOf({ usage }: WireAnswer) {
  const { inputTokens, outputTokens, cachedTokens, reasoningTokens = 0 } = usage;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedTokens, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoningTokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

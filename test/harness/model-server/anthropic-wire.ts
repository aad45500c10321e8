import type { Message } from "@troupe/core";
import { AnthropicRequest, type Block, parseAnthropic } from "./anthropic-request.ts";
import { checkAnthropic, isThinking, turnsOf } from "./anthropic-rules.ts";
import { Refusal } from "./refusal.ts";
import type { ThinkingSignatures } from "./thinking-signatures.ts";
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

/** Thoughts with this prefix are returned redacted. */
export const redactedMark = "[redacted]";

/** Anthropic's Messages API. */
export const anthropicWire: Wire = {
  requestIdHeader: "request-id",
  open(raw, context) {
    const body = parseAnthropic(AnthropicRequest, raw);
    checkAnthropic(body, context);
    const request = requestOf(body);
    checkLength(request, context);
    return {
      request,
      frames: (answer) => framesOf(answer, blocksOf(answer, body, context.signatures)),
      whole: (answer) => ({
        ...envelope(answer),
        content: blocksOf(answer, body, context.signatures),
        stop_reason: stopReasons[answer.stopReason],
        usage: usageOf(answer),
      }),
    };
  },
  error: (refusal, requestId) => ({ type: "error", error: errorOf(refusal), request_id: requestId }),
  streamError: (refusal) => frame("error", { type: "error", error: errorOf(refusal), request_id: null }),
};

function requestOf(body: AnthropicRequest): WireRequest {
  return {
    model: body.model,
    system: systemOf(body),
    messages: turnsOf(body.messages).flatMap(({ role, blocks }) => messagesOf(role, blocks)),
    tools: body.tools?.map(({ name }) => name) ?? [],
    maxOutputTokens: body.max_tokens,
    stream: body.stream ?? false,
    thinks: isThinking(body),
    promptTokens: promptTokensOf(body),
  };
}

function checkLength({ model, promptTokens }: WireRequest, { contextTokens, catalog }: WireContext): void {
  const most = contextTokens ?? catalog.find(model)?.contextTokens ?? Number.POSITIVE_INFINITY;
  if (promptTokens > most) throw new Refusal(400, `prompt is too long: ${promptTokens} tokens > ${most} maximum`);
}

function framesOf(answer: WireAnswer, blocks: readonly AnswerBlock[]): Frame[] {
  const begun = { ...envelope(answer), content: [], stop_reason: null };
  const stop_reason = stopReasons[answer.stopReason];
  return [
    frame("message_start", {
      type: "message_start",
      message: { ...begun, usage: { ...usageOf(answer), output_tokens: 1, output_tokens_details: null } },
    }),
    frame("ping", { type: "ping" }),
    ...blocks.flatMap((block, index) => blockFrames(block, index, answer)),
    frame("message_delta", {
      type: "message_delta",
      delta: { container: null, stop_details: null, stop_reason, stop_sequence: null },
      usage: usageOf(answer),
    }),
    frame("message_stop", { type: "message_stop" }),
  ];
}

/** Token estimate, also for `count_tokens`. */
export function promptTokensOf({ system, tools, messages }: Pick<AnthropicRequest, "system" | "tools" | "messages">) {
  return tokensIn(system, tools, messages);
}

function systemOf({ system = "" }: AnthropicRequest): string {
  return typeof system === "string" ? system : system.map(({ text }) => text).join("\n\n");
}

/** Results have their calls' names, which the conversation itself tells. */
function messagesOf(role: "user" | "assistant" | "system", blocks: readonly Block[]): Message[] {
  const text = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  if (role === "assistant") {
    const calls = blocks.flatMap((block) =>
      block.type === "tool_use"
        ? [{ id: block.id, name: block.name, args: JSON.parse(JSON.stringify(block.input)), problem: null }]
        : [],
    );
    return [{ role, text: text.join(""), calls }];
  }
  const results = blocks.flatMap((block): Message[] =>
    block.type === "tool_result"
      ? [
          {
            role: "tool",
            callId: block.tool_use_id,
            name: "",
            text: resultText(block),
            isError: block.is_error ?? false,
          },
        ]
      : [],
  );
  return [...results, ...text.map((words): Message => ({ role: "user", text: words }))];
}

function resultText({ content = "" }: Extract<Block, { type: "tool_result" }>): string {
  if (typeof content === "string") return content;
  return content.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n");
}

type AnswerBlock =
  | { type: "thinking"; thinking: string; signature: string }
  | { type: "redacted_thinking"; data: string }
  | { type: "text"; text: string; citations: null }
  | { type: "tool_use"; id: string; name: string; input: unknown; caller: { type: "direct" } };

function blocksOf(answer: WireAnswer, body: AnthropicRequest, seal: ThinkingSignatures): AnswerBlock[] {
  const blocks: AnswerBlock[] = [];
  if (answer.thinking !== null) blocks.push(thoughtOf(answer, answer.thinking, body, seal));
  if (answer.pieces.length > 0) blocks.push({ type: "text", text: answer.pieces.join(""), citations: null });
  for (const { id, name, args } of answer.calls) {
    blocks.push({ type: "tool_use", id, name, input: inputOf(args), caller: { type: "direct" } });
  }
  return blocks;
}

function thoughtOf(
  { model, calls }: WireAnswer,
  thought: string,
  body: AnthropicRequest,
  seal: ThinkingSignatures,
): AnswerBlock {
  const ids = calls.map(({ id }) => id);
  if (thought.startsWith(redactedMark)) {
    const data = Buffer.from(thought).toString("base64") + seal.of(model, "redacted");
    seal.bind(ids, data);
    return { type: "redacted_thinking", data };
  }
  const isOmitted = body.thinking !== undefined && "display" in body.thinking && body.thinking.display === "omitted";
  const thinking = isOmitted ? "" : thought;
  const signature = seal.of(model, thinking);
  seal.bind(ids, signature);
  return { type: "thinking", thinking, signature };
}

/** Invalid JSON arguments are only possible in a stream: a whole answer would be invalid JSON. */
function inputOf(args: string): unknown {
  try {
    return JSON.parse(args);
  } catch {
    return args;
  }
}

function blockFrames(block: AnswerBlock, index: number, { pieces, calls }: WireAnswer): Frame[] {
  const start = (content_block: unknown) =>
    frame("content_block_start", { type: "content_block_start", index, content_block });
  const delta = (change: unknown, isPiece = true) =>
    frame("content_block_delta", { type: "content_block_delta", index, delta: change }, isPiece);
  const stop = frame("content_block_stop", { type: "content_block_stop", index });
  switch (block.type) {
    case "thinking":
      return [
        start({ type: "thinking", thinking: "", signature: "" }),
        ...(block.thinking === "" ? [] : [delta({ type: "thinking_delta", thinking: block.thinking })]),
        delta({ type: "signature_delta", signature: block.signature }, false),
        stop,
      ];
    case "redacted_thinking":
      return [start(block), stop];
    case "text":
      return [
        start({ type: "text", text: "", citations: null }),
        ...pieces.map((text) => delta({ type: "text_delta", text })),
        stop,
      ];
    case "tool_use": {
      const args = calls.find(({ id }) => id === block.id)?.args ?? "";
      return [
        start({ ...block, input: {} }),
        delta({ type: "input_json_delta", partial_json: "" }, false),
        ...cutArguments(args).map((partial_json) => delta({ type: "input_json_delta", partial_json })),
        stop,
      ];
    }
  }
}

function envelope({ id, model }: WireAnswer) {
  return {
    id: `msg_${id}`,
    type: "message",
    role: "assistant",
    model,
    container: null,
    diagnostics: null,
    stop_details: null,
    stop_sequence: null,
  };
}

const stopReasons = { end: "end_turn", tool_calls: "tool_use", max_tokens: "max_tokens", refusal: "refusal" } as const;

/** Tokens from the cache, and those written into it, come on top of `input_tokens`. */
function usageOf({ usage }: WireAnswer) {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens = 0, reasoningTokens } = usage;
  return {
    input_tokens: Math.max(0, inputTokens - cachedTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
    cache_creation: { ephemeral_5m_input_tokens: cacheWriteTokens, ephemeral_1h_input_tokens: 0 },
    output_tokens: outputTokens,
    output_tokens_details: reasoningTokens === undefined ? null : { thinking_tokens: reasoningTokens },
    server_tool_use: null,
    service_tier: "standard",
    speed: null,
    inference_geo: null,
  };
}

const errorTypes: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error",
};

/** A code that is not an error type goes into the details, as that of a spend limit does. */
function errorOf({ status, code, message }: Refusal) {
  const type = errorTypes[status] ?? (status < 500 ? "invalid_request_error" : "api_error");
  if (code === null) return { type, message };
  return code.endsWith("_error") ? { type: code, message } : { type, message, details: { error_code: code } };
}

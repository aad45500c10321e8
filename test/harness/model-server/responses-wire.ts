import type { Message } from "@troupe/core";
import { modelOf, openAiError, parseOpenAi } from "./openai-errors.ts";
import { type ResponsesItem, ResponsesRequest } from "./responses-request.ts";
import { checkResponses } from "./responses-rules.ts";
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

/** OpenAI's Responses. */
export const responsesWire: Wire = {
  requestIdHeader: "x-request-id",
  open(raw, context) {
    const body = parseOpenAi(ResponsesRequest, raw);
    const request = requestOf(body);
    checkResponses(body, modelOf(request, context, "input"), context);
    return {
      request,
      frames: (answer) => framesOf(answer, body, context),
      whole: (answer) => whole(answer, body, outputOf(answer, body, context)),
    };
  },
  error: openAiError,
  streamError: ({ status, code, message, param }) => {
    const word = code ?? (status === 429 ? "rate_limit_exceeded" : "server_error");
    return frame("error", { type: "error", code: word, message, param, sequence_number: 0 });
  },
};

function requestOf(body: ResponsesRequest): WireRequest {
  const items = typeof body.input === "string" ? [{ role: "user" as const, content: body.input }] : body.input;
  const system = [body.instructions ?? "", ...items.filter(isSystem).map(({ content }) => textOf(content))];
  return {
    model: body.model,
    system: system.filter(Boolean).join("\n\n"),
    messages: messagesOf(items.filter((item) => !isSystem(item))),
    tools: body.tools?.map(({ name }) => name) ?? [],
    maxOutputTokens: body.max_output_tokens ?? null,
    stream: body.stream ?? false,
    thinks: body.reasoning?.effort !== "none",
    promptTokens: tokensIn(body.input, body.instructions ?? undefined, body.tools),
  };
}

function framesOf(answer: WireAnswer, body: ResponsesRequest, context: WireContext): Frame[] {
  const output = outputOf(answer, body, context);
  const begun = { ...envelope(answer, body), status: "in_progress", output: [] };
  const end = answer.stopReason === "max_tokens" ? "incomplete" : "completed";
  const events: Event[] = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...output.flatMap((item, index) => itemEvents(item, index, answer)),
    { type: `response.${end}`, response: whole(answer, body, output) },
  ];
  return events.map(({ isPiece = false, ...event }, sequence_number) =>
    frame(event.type, { ...event, sequence_number }, isPiece),
  );
}

type Event = { type: string; isPiece?: boolean; [field: string]: unknown };

type Words = Extract<ResponsesItem, { role: unknown }>["content"];

function isSystem(item: ResponsesItem): item is Extract<ResponsesItem, { role: "user" | "system" | "developer" }> {
  return "role" in item && (item.role === "system" || item.role === "developer");
}

function textOf(content: Words | Extract<ResponsesItem, { type: "function_call_output" }>["output"]): string {
  if (typeof content === "string") return content;
  return content.map((part) => ("text" in part ? part.text : `[${part.type}]`)).join("\n");
}

/** Words and calls that follow each other are one message. */
function messagesOf(items: readonly ResponsesItem[]): Message[] {
  const messages: Message[] = [];
  for (const item of items) {
    const message = messageOf(item);
    const last = messages.at(-1);
    if (message?.role === "assistant" && last?.role === "assistant") {
      last.text += message.text;
      last.calls.push(...message.calls);
    } else if (message) messages.push(message);
  }
  return messages;
}

function messageOf(item: ResponsesItem): Message | null {
  if ("role" in item) {
    const text = textOf(item.content);
    return item.role === "assistant" ? { role: "assistant", text, calls: [] } : { role: "user", text };
  }
  switch (item.type) {
    case "function_call":
      return { role: "assistant", text: "", calls: [{ id: item.call_id, name: item.name, args: null, problem: null }] };
    case "function_call_output":
      return { role: "tool", callId: item.call_id, name: "", text: textOf(item.output), isError: false };
    case "reasoning":
      return null;
  }
}

type OutputItem =
  | { type: "reasoning"; id: string; summary: { type: "summary_text"; text: string }[]; encrypted_content?: string }
  | { type: "message"; id: string; role: "assistant"; status: string; content: object[] }
  | { type: "function_call"; id: string; call_id: string; name: string; arguments: string; status: string };

function outputOf(
  answer: WireAnswer,
  { include, model }: ResponsesRequest,
  { signatures: seal, catalog }: WireContext,
): OutputItem[] {
  const { id, thinking, pieces, calls } = answer;
  const items: OutputItem[] = [];
  if (thinking !== null && catalog.find(model)?.thinking !== "none") {
    const reasoning = `rs_${id}`;
    seal.bind(
      calls.map((call) => call.id),
      reasoning,
    );
    items.push({
      type: "reasoning",
      id: reasoning,
      summary: [{ type: "summary_text", text: thinking }],
      ...(include?.includes("reasoning.encrypted_content")
        ? { encrypted_content: seal.of(model, reasoning + thinking) }
        : {}),
    });
  }
  const status = answer.stopReason === "max_tokens" ? "incomplete" : "completed";
  if (pieces.length > 0) {
    items.push({ type: "message", id: `msg_${id}`, role: "assistant", status, content: [textPart(pieces.join(""))] });
  }
  for (const [i, call] of calls.entries()) {
    items.push({
      type: "function_call",
      id: `fc_${id}_${i}`,
      call_id: call.id,
      name: call.name,
      arguments: call.args,
      status,
    });
  }
  return items;
}

function textPart(text: string) {
  return { type: "output_text", text, annotations: [], logprobs: [] };
}

function itemEvents(item: OutputItem, output_index: number, { pieces }: WireAnswer): Event[] {
  const at = { item_id: item.id, output_index };
  const added = (begun: object): Event => ({ type: "response.output_item.added", output_index, item: begun });
  const done: Event = { type: "response.output_item.done", output_index, item };
  switch (item.type) {
    case "reasoning": {
      const text = item.summary[0]?.text ?? "";
      const place = { ...at, summary_index: 0 };
      return [
        added({ ...item, summary: [] }),
        { type: "response.reasoning_summary_part.added", ...place, part: { type: "summary_text", text: "" } },
        { type: "response.reasoning_summary_text.delta", ...place, delta: text, isPiece: true },
        { type: "response.reasoning_summary_text.done", ...place, text },
        { type: "response.reasoning_summary_part.done", ...place, part: { type: "summary_text", text } },
        done,
      ];
    }
    case "message": {
      const place = { ...at, content_index: 0 };
      const text = pieces.join("");
      return [
        added({ ...item, status: "in_progress", content: [] }),
        { type: "response.content_part.added", ...place, part: textPart("") },
        ...pieces.map(
          (delta): Event => ({ type: "response.output_text.delta", ...place, delta, logprobs: [], isPiece: true }),
        ),
        { type: "response.output_text.done", ...place, text, logprobs: [] },
        { type: "response.content_part.done", ...place, part: textPart(text) },
        done,
      ];
    }
    case "function_call":
      return [
        added({ ...item, status: "in_progress", arguments: "" }),
        ...cutArguments(item.arguments).map(
          (delta): Event => ({ type: "response.function_call_arguments.delta", ...at, delta, isPiece: true }),
        ),
        { type: "response.function_call_arguments.done", ...at, name: item.name, arguments: item.arguments },
        done,
      ];
  }
}

function whole(answer: WireAnswer, body: ResponsesRequest, output: readonly OutputItem[]) {
  const isCut = answer.stopReason === "max_tokens";
  return {
    ...envelope(answer, body),
    status: isCut ? "incomplete" : "completed",
    incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
    output,
    usage: usageOf(answer),
  };
}

function envelope({ id, model }: WireAnswer, body: ResponsesRequest) {
  return {
    id: `resp_${id}`,
    object: "response",
    created_at: 1_790_000_000,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    model,
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: null,
    reasoning: { effort: body.reasoning?.effort ?? null, summary: body.reasoning?.summary ?? null },
    store: body.store ?? true,
    temperature: body.temperature ?? 1,
    text: { format: body.text?.format ?? { type: "text" } },
    tool_choice: body.tool_choice ?? "auto",
    tools: body.tools ?? [],
    top_p: body.top_p ?? 1,
    truncation: body.truncation ?? "disabled",
    usage: null,
    user: body.user ?? null,
  };
}

function usageOf({ usage }: WireAnswer) {
  const { inputTokens, outputTokens, cachedTokens, cacheWriteTokens = 0, reasoningTokens = 0 } = usage;
  return {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: cacheWriteTokens },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: inputTokens + outputTokens,
  };
}

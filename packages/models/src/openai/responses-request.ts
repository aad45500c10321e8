import type { Message, ModelRequest, ToolSpec } from "@troupe/core";
import type {
  EasyInputMessage,
  FunctionTool,
  ResponseCreateParamsStreaming,
  ResponseInputItem,
  ResponseReasoningItem,
} from "openai/resources/responses/responses";
import { wireNameOf } from "../wire/tool-calls.ts";
import { isOwnThinking, normalizeMessages, resultText } from "./conversation.ts";
import { effortOf, isReasoningModel, type RequestTarget } from "./dialect.ts";
import { answerFormat, isObjectAtRoot, strictSchema } from "./strict-schema.ts";

/** OpenAI's minimum. */
const outputTokensMin = 16;

/**
 * Converts a call to a request of Responses. The vendor stores nothing: the model's reasoning comes back encrypted, and
 * goes along with the next request.
 */
export function responsesRequest(request: ModelRequest, target: RequestTarget): ResponseCreateParamsStreaming {
  const { system, messages, tools, maxOutputTokens, temperature, effort, outputSchema } = request;
  const isReasoning = isReasoningModel(target);
  return {
    model: target.model,
    ...(system === "" ? {} : { instructions: system.toWellFormed() }),
    input: normalizeMessages(messages).flatMap((message) => inputItems(message, target)),
    stream: true,
    store: false,
    max_output_tokens: Math.max(outputTokensMin, maxOutputTokens),
    ...(isReasoning ? { include: ["reasoning.encrypted_content" as const] } : {}),
    ...(effort && isReasoning ? { reasoning: { effort: effortOf(target.model, effort) } } : {}),
    ...(temperature === null || isReasoning ? {} : { temperature }),
    ...(tools.length > 0 ? { tools: tools.map(functionTool) } : {}),
    ...(outputSchema && isObjectAtRoot(outputSchema)
      ? { text: { format: { type: "json_schema", ...answerFormat(outputSchema) } } }
      : {}),
  };
}

/** Strict only if the schema has a strict form: otherwise the model would have to invent optional arguments. */
function functionTool({ name, description, inputSchema }: ToolSpec): FunctionTool {
  const strict = strictSchema(inputSchema);
  return {
    type: "function",
    name: wireNameOf(name),
    description: description.toWellFormed(),
    parameters: strict ?? inputSchema,
    strict: strict !== null,
  };
}

function inputItems(message: Message, target: RequestTarget): ResponseInputItem[] {
  if (message.role === "user") return [{ role: "user", content: message.text.toWellFormed() }];
  if (message.role === "assistant") return assistantItems(message, target);
  return [{ type: "function_call_output", call_id: message.callId, output: resultText(message) }];
}

/** A reply of the model as items, with its reasoning at its original positions. */
function assistantItems(
  { text, calls, thinking = [] }: Extract<Message, { role: "assistant" }>,
  target: RequestTarget,
): ResponseInputItem[] {
  const items: ResponseInputItem[] = [];
  let textBegin = 0;
  let callBegin = 0;
  let phase: Phase = null;
  const addContentUpTo = (textEnd: number, callEnd: number): void => {
    const content = text.slice(textBegin, textEnd).toWellFormed();
    if (content !== "") items.push({ role: "assistant", content, ...(phase ? { phase } : {}) });
    items.push(...calls.slice(callBegin, callEnd).map(callItem));
    textBegin = Math.max(textBegin, textEnd);
    callBegin = Math.max(callBegin, callEnd);
  };
  for (const { textBefore, callsBefore, block } of thinking.filter((one) => isOwnThinking(one, target))) {
    addContentUpTo(textBefore, callsBefore);
    if (isPhase(block)) phase = block.phase;
    else if (isReasoning(block)) items.push(block);
  }
  addContentUpTo(text.length, calls.length);
  return items;
}

function callItem({ id, name, args }: Extract<Message, { role: "assistant" }>["calls"][number]): ResponseInputItem {
  return { type: "function_call", call_id: id, name: wireNameOf(name), arguments: JSON.stringify(args ?? {}) };
}

type Phase = NonNullable<EasyInputMessage["phase"]> | null;

/** Newer models mark commentary and the final answer, and need the marks back. */
function isPhase(block: object): block is { phase: Phase } {
  return "phase" in block && (block.phase === "commentary" || block.phase === "final_answer");
}

/** Reasoning without content, plain or encrypted, is only an id of an item that the vendor did not store. */
function isReasoning(block: object): block is ResponseReasoningItem {
  const hasContent = "content" in block && Array.isArray(block.content) && block.content.length > 0;
  return (
    "type" in block &&
    block.type === "reasoning" &&
    (hasContent || ("encrypted_content" in block && Boolean(block.encrypted_content)))
  );
}

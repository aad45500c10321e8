import type { Message, ModelRequest, ToolSpec } from "@troupe/core";
import type {
  EasyInputMessage,
  FunctionTool,
  ResponseCreateParamsStreaming,
  ResponseInputItem,
  ResponseReasoningItem,
} from "openai/resources/responses/responses";
import { wireNameOf } from "../wire/wire-names.ts";
import { type Addressee, answerSchema, isObjectAtRoot, isOwn } from "./chat-request.ts";
import { resultText, tidyMessages } from "./conversation.ts";
import { effortOf, thinks } from "./dialect.ts";
import { strictSchema } from "./strict-schema.ts";

/** A smaller limit is refused. */
const outputTokensMin = 16;

/**
 * A request in the words of Responses. Nothing is stored at the vendor: what the model thought comes back encrypted,
 * and goes with the next request.
 */
export function responsesRequest(request: ModelRequest, to: Addressee): ResponseCreateParamsStreaming {
  const { system, messages, tools, maxOutputTokens, temperature, effort, outputSchema } = request;
  return {
    model: to.model,
    ...(system === "" ? {} : { instructions: system.toWellFormed() }),
    input: tidyMessages(messages).flatMap((message) => inputItems(message, to)),
    stream: true,
    store: false,
    max_output_tokens: Math.max(outputTokensMin, maxOutputTokens),
    ...(thinks(to) ? { include: ["reasoning.encrypted_content" as const] } : {}),
    ...(effort && thinks(to) ? { reasoning: { effort: effortOf(to.model, effort) } } : {}),
    ...(temperature === null || thinks(to) ? {} : { temperature }),
    ...(tools.length > 0 ? { tools: tools.map(functionTool) } : {}),
    ...(outputSchema && isObjectAtRoot(outputSchema)
      ? { text: { format: { type: "json_schema", ...answerSchema(outputSchema) } } }
      : {}),
  };
}

/** Strict only where that takes nothing away from the tool: otherwise what may be left out would have to be made up. */
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

function inputItems(message: Message, to: Addressee): ResponseInputItem[] {
  if (message.role === "user") return [{ role: "user", content: message.text.toWellFormed() }];
  if (message.role === "assistant") return spokenItems(message, to);
  return [{ type: "function_call_output", call_id: message.callId, output: resultText(message) }];
}

/** What the model said, with its thoughts where they stood among words and calls. */
function spokenItems(message: Extract<Message, { role: "assistant" }>, to: Addressee): ResponseInputItem[] {
  const { text, calls, thinking = [] } = message;
  const items: ResponseInputItem[] = [];
  let textAt = 0;
  let callsAt = 0;
  let phase: Phase = null;
  const sayUntil = (textEnd: number, callsEnd: number): void => {
    const content = text.slice(textAt, textEnd).toWellFormed();
    if (content !== "") items.push({ role: "assistant", content, ...(phase ? { phase } : {}) });
    items.push(...calls.slice(callsAt, callsEnd).map(callItem));
    textAt = Math.max(textAt, textEnd);
    callsAt = Math.max(callsAt, callsEnd);
  };
  for (const { textBefore, callsBefore, block } of thinking.filter((thought) => isOwn(thought, to))) {
    sayUntil(textBefore, callsBefore);
    if (isPhase(block)) phase = block.phase;
    else if (isReasoning(block)) items.push(block);
  }
  sayUntil(text.length, calls.length);
  return items;
}

function callItem({ id, name, args }: Extract<Message, { role: "assistant" }>["calls"][number]): ResponseInputItem {
  return { type: "function_call", call_id: id, name: wireNameOf(name), arguments: JSON.stringify(args ?? {}) };
}

type Phase = NonNullable<EasyInputMessage["phase"]> | null;

/** Newer models tell remarks on the way from the final answer, and want to see again which was which. */
function isPhase(block: object): block is { phase: Phase } {
  return "phase" in block && (block.phase === "commentary" || block.phase === "final_answer");
}

/** Without what was thought, in whatever form, there is only an id of something that was not stored. */
function isReasoning(block: object): block is ResponseReasoningItem {
  const hasContent = "content" in block && Array.isArray(block.content) && block.content.length > 0;
  return (
    "type" in block &&
    block.type === "reasoning" &&
    (hasContent || ("encrypted_content" in block && Boolean(block.encrypted_content)))
  );
}

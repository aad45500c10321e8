import type { CatalogModel } from "./catalog.ts";
import type { ChatMessage, ChatRequest } from "./chat-request.ts";
import { refusal } from "./openai-errors.ts";
import { functionProblem, strictProblem } from "./strict-schema.ts";
import type { ThinkingSignatures } from "./thinking-signatures.ts";
import type { WireContext } from "./wire.ts";

/** Rules beyond the schema. Throws a `Refusal` for a request that the API refuses. */
export function checkChat(body: ChatRequest, model: CatalogModel, context: WireContext): void {
  if (body.stream_options && !body.stream) {
    throw refusal("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options");
  }
  checkLimits(body, model);
  checkTools(body);
  checkFormat(body);
  checkMessages(body.messages);
  checkReasoning(body.messages, context);
}

function checkLimits(body: ChatRequest, { vendor, thinking, outputTokensMax }: CatalogModel): void {
  const { max_tokens, max_completion_tokens } = body;
  if (max_tokens != null && max_completion_tokens != null) {
    throw refusal(
      "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.",
      "max_tokens",
      "invalid_parameter_combination",
    );
  }
  const most = max_completion_tokens ?? max_tokens ?? 0;
  if (most > outputTokensMax) {
    throw refusal(
      `max_tokens is too large: ${most}. This model supports at most ${outputTokensMax} completion tokens, whereas you provided ${most}.`,
      max_tokens == null ? "max_completion_tokens" : "max_tokens",
      "invalid_value",
    );
  }
  if (vendor !== "openai") return;
  if (thinking === "none") {
    if (body.reasoning_effort != null) {
      const message = "Unrecognized request argument supplied: reasoning_effort";
      throw refusal(message);
    }
    return;
  }
  if (max_tokens != null) {
    throw refusal(
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
      "max_tokens",
      "unsupported_parameter",
    );
  }
  for (const name of ["temperature", "top_p"] as const) {
    if (body[name] == null || body[name] === 1) continue;
    throw refusal(
      `Unsupported value: '${name}' does not support ${body[name]} with this model. Only the default (1) value is supported.`,
      name,
      "unsupported_value",
    );
  }
}

function checkTools({ tools, tool_choice, parallel_tool_calls }: ChatRequest): void {
  if (!tools) {
    for (const [name, value] of Object.entries({ tool_choice, parallel_tool_calls })) {
      if (value === undefined || (name === "tool_choice" && value === "none")) continue;
      throw refusal(`Invalid value for '${name}': '${name}' is only allowed when 'tools' are specified.`, name);
    }
    return;
  }
  for (const [i, { function: tool }] of tools.entries()) {
    const problem = functionProblem(tool.name, tool.parameters, tool.strict ?? false);
    if (problem) throw refusal(problem, `tools[${i}].function.parameters`, "invalid_function_parameters");
  }
  if (typeof tool_choice !== "object") return;
  if (tools.some(({ function: tool }) => tool.name === tool_choice.function.name)) return;
  throw refusal(
    `Invalid value for 'tool_choice': no function named '${tool_choice.function.name}' was specified in the 'tools' parameter.`,
    "tool_choice",
  );
}

function checkFormat({ response_format, messages }: ChatRequest): void {
  if (response_format?.type === "json_object") {
    if (JSON.stringify(messages).toLowerCase().includes("json")) return;
    throw refusal(
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
      "messages",
    );
  }
  if (response_format?.type !== "json_schema") return;
  const { name, schema, strict } = response_format.json_schema;
  if (!schema)
    throw refusal(
      "Missing required parameter: 'response_format.json_schema.schema'.",
      "response_format.json_schema.schema",
      "missing_required_parameter",
    );
  const problem = strict ? (rootProblem(schema) ?? strictProblem(schema)) : null;
  if (problem) throw refusal(`Invalid schema for response_format '${name}': ${problem}`, "response_format");
}

/** Held to a schema, an answer is an object. */
export function rootProblem({ type }: Record<string, unknown>): string | null {
  return type === "object"
    ? null
    : `schema must be a JSON Schema of 'type: "object"', got 'type: ${JSON.stringify(type ?? null)}'.`;
}

/** Calls are answered by the messages right behind them, one each. */
function checkMessages(messages: readonly ChatMessage[]): void {
  let open: string[] = [];
  for (const [i, message] of messages.entries()) {
    if (message.role === "tool") {
      if (!open.includes(message.tool_call_id)) throw unknownResult(messages[i - 1], message.tool_call_id, i);
      open = open.filter((id) => id !== message.tool_call_id);
      continue;
    }
    if (open.length > 0) throw unanswered(open, i);
    if (message.role !== "assistant") continue;
    const { content, tool_calls, refusal: refused } = message;
    if (content == null && !tool_calls && refused == null) {
      throw refusal("Invalid value for 'content': expected a string, got null.", `messages.[${i}].content`);
    }
    open = tool_calls?.map(({ id }) => id) ?? [];
    if (new Set(open).size < open.length) {
      throw refusal(
        "Duplicate value for 'tool_call_id' in one assistant message.",
        `messages.[${i}].tool_calls`,
        "duplicate_value",
      );
    }
  }
  if (open.length > 0) throw unanswered(open, messages.length);
}

function unknownResult(before: ChatMessage | undefined, id: string, i: number) {
  const param = `messages.[${i}].role`;
  if (before?.role === "tool" || (before?.role === "assistant" && before.tool_calls)) {
    return refusal(
      `Invalid parameter: 'tool_call_id' of '${id}' not found in 'tool_calls' of previous message.`,
      `messages.[${i}].tool_call_id`,
    );
  }
  return refusal(
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
    param,
  );
}

function unanswered(ids: readonly string[], i: number) {
  return refusal(
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(", ")}`,
    `messages.[${i}].role`,
  );
}

/** Vendors that show what is thought want it back within a loop of calls; the others do not know the field. */
function checkReasoning(messages: readonly ChatMessage[], { reasoningField, signatures: seal }: WireContext): void {
  for (const [i, message] of messages.entries()) {
    if (message.role !== "assistant") continue;
    for (const field of ["reasoning_content", "reasoning"] as const) {
      if (field !== reasoningField && message[field] !== undefined) {
        throw refusal(`Unknown parameter: 'messages[${i}].${field}'.`, `messages[${i}].${field}`, "unknown_parameter");
      }
      if (field === reasoningField)
        checkThought(message, field, i, seal, i > messages.findLastIndex(({ role }) => role === "user"));
    }
  }
}

function checkThought(
  message: Extract<ChatMessage, { role: "assistant" }>,
  field: "reasoning_content" | "reasoning",
  i: number,
  seal: ThinkingSignatures,
  isInLoop: boolean,
): void {
  const wanted = message.tool_calls?.map(({ id }) => seal.before(id)).find((sealed) => sealed !== undefined);
  const given = message[field];
  if (wanted === undefined || (!isInLoop && given == null)) return;
  if (given == null) {
    throw refusal(
      `Missing \`${field}\` field in the assistant message at message index ${i}.`,
      `messages[${i}].${field}`,
    );
  }
  if (seal.of(field, given) !== wanted)
    throw refusal(`The \`${field}\` at message index ${i} was changed.`, `messages[${i}].${field}`);
}

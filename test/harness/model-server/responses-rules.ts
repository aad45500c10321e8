import type { CatalogModel } from "./catalog.ts";
import { rootProblem } from "./chat-rules.ts";
import { refusal } from "./openai-errors.ts";
import { Refusal } from "./refusal.ts";
import type { ResponsesItem, ResponsesRequest } from "./responses-request.ts";
import { functionProblem, strictProblem } from "./strict-schema.ts";
import type { ThinkingSignatures } from "./thinking-signatures.ts";
import type { WireContext } from "./wire.ts";

/** Rules beyond the schema. Throws a `Refusal` for a request that the API refuses. */
export function checkResponses(body: ResponsesRequest, model: CatalogModel, context: WireContext): void {
  if (body.stream_options && !body.stream) {
    throw refusal("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options");
  }
  if (body.previous_response_id != null) {
    const message = `Previous response with id '${body.previous_response_id}' not found.`;
    throw refusal(message, "previous_response_id", "previous_response_not_found");
  }
  checkLimits(body, model);
  checkTools(body);
  checkFormat(body);
  if (typeof body.input === "string") return;
  checkCalls(body.input);
  checkReasoning(body.input, body, model, context);
}

function checkLimits(body: ResponsesRequest, { thinking, outputTokensMax }: CatalogModel): void {
  if ((body.max_output_tokens ?? 0) > outputTokensMax) {
    throw refusal(
      `Invalid 'max_output_tokens': integer above maximum value. Expected a value <= ${outputTokensMax}, but got ${body.max_output_tokens} instead.`,
      "max_output_tokens",
      "integer_above_max_value",
    );
  }
  if (thinking === "none" && body.include?.includes("reasoning.encrypted_content")) {
    throw refusal("Encrypted content is not supported with this model.", "include");
  }
  const unsupported = Object.entries(
    thinking === "none"
      ? { "reasoning.effort": body.reasoning?.effort, "reasoning.summary": body.reasoning?.summary }
      : { temperature: body.temperature, top_p: body.top_p },
  ).find(([, value]) => value != null);
  if (!unsupported) return;
  const [param] = unsupported;
  const message = `Unsupported parameter: '${param}' is not supported with this model.`;
  throw refusal(message, param, "unsupported_parameter");
}

/** Functions are strict here unless they say that they are not. */
function checkTools({ tools = [], tool_choice }: ResponsesRequest): void {
  for (const [i, { name, parameters, strict }] of tools.entries()) {
    const problem = functionProblem(name, parameters, strict ?? true);
    if (problem) throw refusal(problem, `tools[${i}].parameters`, "invalid_function_parameters");
  }
  if (typeof tool_choice === "object" && !tools.some(({ name }) => name === tool_choice.name)) {
    throw refusal(`Tool choice 'function' not found in 'tools' parameter.`, "tool_choice");
  }
  if (tool_choice === "required" && tools.length === 0) {
    throw refusal("Tool choice 'required' must be specified with 'tools' parameter.", "tool_choice");
  }
}

function checkFormat({ text }: ResponsesRequest): void {
  if (text?.format?.type !== "json_schema") return;
  const { name, schema, strict } = text.format;
  const problem = (strict ?? true) ? (rootProblem(schema) ?? strictProblem(schema)) : null;
  if (problem)
    throw refusal(
      `Invalid schema for response_format '${name}': ${problem}`,
      "text.format.schema",
      "invalid_json_schema",
    );
}

function checkCalls(items: readonly ResponsesItem[]): void {
  const called = new Set<string>();
  const answered = new Set<string>();
  for (const item of items) {
    if (item.type === "function_call") {
      if (called.has(item.call_id))
        throw refusal(
          `Duplicate item found with call_id ${item.call_id}. Remove duplicate items from your input and try again.`,
          "input",
        );
      called.add(item.call_id);
    }
    if (item.type !== "function_call_output") continue;
    if (!called.has(item.call_id)) {
      throw refusal(`No tool call found for function call output with call_id ${item.call_id}.`, "input");
    }
    if (answered.has(item.call_id)) throw refusal(`Duplicate output found for function call ${item.call_id}.`, "input");
    answered.add(item.call_id);
  }
  const missing = [...called].find((id) => !answered.has(id));
  if (missing !== undefined) throw refusal(`No tool output found for function call ${missing}.`, "input");
}

/** Reasoning must come back unchanged and before its results, and none may be missing within a loop of calls. */
function checkReasoning(
  items: readonly ResponsesItem[],
  body: ResponsesRequest,
  { thinking }: CatalogModel,
  { signatures: seal }: WireContext,
): void {
  const loop = items.findLastIndex((item) => "role" in item && item.role === "user");
  for (const [i, item] of items.entries()) {
    if (item.type === "reasoning") {
      checkThought(item, body, seal);
      const next = items[i + 1];
      if (next && isOfTurn(next)) continue;
      const message = `Item '${item.id}' of type 'reasoning' was provided without its required following item.`;
      throw refusal(message, "input");
    }
    // A model without reasoning took over from another one, and cannot miss its reasoning.
    if (item.type !== "function_call" || i < loop || thinking === "none") continue;
    const wanted = seal.before(item.call_id);
    if (wanted === undefined || hasBefore(items, i, wanted)) continue;
    const name = item.id ?? item.call_id;
    throw refusal(
      `Item '${name}' of type 'function_call' was provided without its required 'reasoning' item: '${wanted}'.`,
      "input",
    );
  }
}

type Thought = Extract<ResponsesItem, { type: "reasoning" }>;

function checkThought(
  { id, summary, encrypted_content }: Thought,
  { store, model }: ResponsesRequest,
  seal: ThinkingSignatures,
) {
  if (encrypted_content == null) {
    if (store !== false) return;
    const message = `Item with id '${id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`;
    throw new Refusal(404, message, { param: "input" });
  }
  if (encrypted_content === seal.of(model, id + summary.map(({ text }) => text).join("\n"))) return;
  throw refusal(`The encrypted content for item ${id} could not be verified.`, null, "invalid_encrypted_content");
}

function isOfTurn(item: ResponsesItem): boolean {
  return "role" in item ? item.role === "assistant" : item.type === "function_call";
}

/** Whether the thought with this id stands before a call, with nothing between but words and calls of the same turn. */
function hasBefore(items: readonly ResponsesItem[], i: number, id: string): boolean {
  const before = items.slice(0, i).findLast((item) => !isOfTurn(item));
  return before?.type === "reasoning" && before.id === id;
}

import { transformJSONSchema } from "@anthropic-ai/sdk/lib/transform-json-schema";
import type {
  JSONOutputFormat,
  MessageCreateParamsStreaming,
  OutputConfig,
  TextBlockParam,
  Tool,
} from "@anthropic-ai/sdk/resources/messages";
import type { Json, Message, ModelRequest, ToolSpec } from "@troupe/core";
import { namesByWire, wireNameOf } from "../wire/tool-calls.ts";
import { mayRequestThinking, textBlocks, type WireMessage, wireConversation } from "./conversation.ts";
import { type ModelTraits, traitsOf } from "./model-traits.ts";
import { blockSignatures, conversationSignatures, type ThinkingSignatures, thinkingSettings } from "./thinking.ts";

export interface WireRequest {
  body: MessageCreateParamsStreaming;
  /** The model's name, without the provider's id. */
  model: string;
  /** Our tool names, by the names in the request. */
  toolNames: ReadonlyMap<string, string>;
  /** Has seen everything that is sent, so it can sign the thinking of the reply. */
  signatures: ThinkingSignatures;
}

/** Converts a call to a request of the Messages API. The SDK's version of the API has no temperature. */
export function wireRequest(provider: string, request: ModelRequest): WireRequest {
  const model = request.model.slice(provider.length + 1);
  const traits = traitsOf(model);
  const signatures = traits.bindsThinking ? conversationSignatures() : blockSignatures();
  const { tools, areOffered } = wireTools(request.tools, request.messages);
  const system = textBlocks(request.system);
  signatures.add([system, tools]);
  const conversation = wireConversation(request.messages, { provider, model, signatures });
  const marked = withCacheMarks({ tools, system, messages: conversation.messages });
  const isThinkingAllowed = mayRequestThinking(conversation, traits.thinking);
  const body: MessageCreateParamsStreaming = {
    model,
    max_tokens: Math.max(1, Math.floor(request.maxOutputTokens)),
    stream: true,
    messages: marked.messages,
    ...(system.length > 0 ? { system: marked.system } : {}),
    ...(tools.length > 0 ? { tools: marked.tools } : {}),
    ...(tools.length > 0 && !areOffered ? { tool_choice: { type: "none" } } : {}),
    ...outputSettings(request, isThinkingAllowed, traits),
  };
  return { body, model, toolNames: namesByWire(request.tools), signatures };
}

function outputSettings(
  { effort = null, outputSchema = null, maxOutputTokens }: ModelRequest,
  isAllowed: boolean,
  traits: ModelTraits,
): Pick<MessageCreateParamsStreaming, "thinking" | "output_config"> {
  const settings = thinkingSettings({ effort, maxTokens: maxOutputTokens, isAllowed }, traits);
  const format = outputSchema && traits.holdsSchemas ? outputFormatOf(outputSchema) : null;
  const config: OutputConfig = {
    ...(settings.effort ? { effort: settings.effort } : {}),
    ...(format ? { format } : {}),
  };
  return {
    ...(settings.thinking ? { thinking: settings.thinking } : {}),
    ...(Object.keys(config).length > 0 ? { output_config: config } : {}),
  };
}

/**
 * The tools of a request. The API requires every tool that the conversation has called, even if no tool is offered any
 * more: then `areOffered` is false.
 */
function wireTools(tools: readonly ToolSpec[], messages: readonly Message[]): { tools: Tool[]; areOffered: boolean } {
  if (tools.length > 0) return { tools: tools.map(wireTool), areOffered: true };
  const calls = messages.flatMap((message) => (message.role === "assistant" ? message.calls : []));
  const names = new Set(calls.map(({ name }) => wireNameOf(name)));
  const description = "Not to be called any more.";
  return {
    tools: [...names].map((name) => ({ name, description, input_schema: { type: "object" } })),
    areOffered: false,
  };
}

function wireTool({ name, description, inputSchema }: ToolSpec): Tool {
  const tool: Tool = { name: wireNameOf(name), input_schema: objectSchema(inputSchema) };
  return description.trim() === "" ? tool : { ...tool, description: description.toWellFormed() };
}

/**
 * The API accepts only object schemas without alternatives at the root. A schema with alternatives gets the properties of
 * all branches, all optional: the tool parses its arguments anyway.
 */
function objectSchema({ $schema: _dialect, ...schema }: ToolSpec["inputSchema"]): Tool.InputSchema {
  const { anyOf, oneOf, allOf, ...rest } = schema;
  const branches = [anyOf, oneOf, allOf].flatMap((list) => (Array.isArray(list) ? list : [])).filter(isObject);
  if (branches.length === 0) return { ...rest, type: "object" };
  const properties = [...branches, rest].flatMap((branch) =>
    isObject(branch.properties) ? Object.entries(branch.properties) : [],
  );
  return { ...rest, type: "object", properties: Object.fromEntries(properties) };
}

function isObject(value: Json | undefined): value is Record<string, Json> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** One mark to read the cache of the turn before, one to write it for the next turn. */
const markedTurns = 2;

/**
 * Marks the ends of the cached prefixes: tools, system prompt, and the last two turns of the user. Four marks are the
 * API's maximum. In a long tool loop each turn reads the cache that the turn before wrote.
 */
function withCacheMarks(prompt: { tools: Tool[]; system: TextBlockParam[]; messages: WireMessage[] }): typeof prompt {
  const turns = prompt.messages.flatMap(({ role }, i) => (role === "user" ? [i] : [])).slice(-markedTurns);
  return {
    tools: markLast(prompt.tools),
    system: markLast(prompt.system),
    messages: prompt.messages.map((message, i) =>
      turns.includes(i) ? { ...message, content: markLast(message.content) } : message,
    ),
  };
}

/** Every block that can be last here can be marked. */
function markLast<Item extends object>(items: Item[]): Item[] {
  return items.map((item, i) => (i === items.length - 1 ? { ...item, cache_control: { type: "ephemeral" } } : item));
}

/** The API refuses schemas with more of these as too complex. */
const optionalMax = 24;
const choicesMax = 16;

interface SchemaSize {
  optional: number;
  choices: number;
}

/**
 * The output format for a schema; null when the API cannot enforce it. Then nothing is lost: the caller checks the answer
 * anyway. Limits that the API does not know become part of the descriptions.
 */
function outputFormatOf(schema: Record<string, Json>): JSONOutputFormat | null {
  if (schema.type !== "object") return null;
  const size = { optional: 0, choices: 0 };
  if (!isEnforceable(schema, size) || size.optional > optionalMax || size.choices > choicesMax) return null;
  try {
    return { type: "json_schema", schema: transformJSONSchema(schema) };
  } catch {
    return null;
  }
}

/** The transformation would change the meaning of objects with arbitrary keys, and of references, which may be cyclic. */
function isEnforceable(schema: Json | undefined, size: SchemaSize): boolean {
  if (!isObject(schema)) return false;
  if ("$ref" in schema || "patternProperties" in schema || "not" in schema) return false;
  const choices = [schema.anyOf, schema.oneOf, schema.allOf].flatMap((list) => (Array.isArray(list) ? list : []));
  if (choices.length > 0 || Array.isArray(schema.type)) size.choices += 1;
  if (!choices.every((choice) => isEnforceable(choice, size))) return false;
  if (schema.items !== undefined && !isEnforceable(schema.items, size)) return false;
  return !isObjectSchema(schema) || hasFixedKeys(schema, size);
}

function isObjectSchema({ type }: Record<string, Json>): boolean {
  return type === "object" || (Array.isArray(type) && type.includes("object"));
}

function hasFixedKeys({ properties, additionalProperties, required }: Record<string, Json>, size: SchemaSize): boolean {
  if (additionalProperties !== undefined && additionalProperties !== false) return false;
  if (!isObject(properties)) return false;
  const requiredCount = Array.isArray(required) ? required.length : 0;
  size.optional += Object.keys(properties).length - requiredCount;
  return Object.values(properties).every((property) => isEnforceable(property, size));
}

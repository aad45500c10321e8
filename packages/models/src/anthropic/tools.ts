import type { Tool } from "@anthropic-ai/sdk/resources/messages";
import type { Message, ToolCall, ToolSpec } from "@troupe/core";
import { wireNameOf } from "../wire/wire-names.ts";

type Json = ToolCall["args"];

/**
 * Tools for the wire. A conversation with calls in it must name them even when none is offered any more: then they are
 * named, and `areOffered` is false.
 */
export function wireTools(
  tools: readonly ToolSpec[],
  messages: readonly Message[],
): { tools: Tool[]; areOffered: boolean } {
  if (tools.length > 0) return { tools: tools.map(wireTool), areOffered: true };
  const used = messages.flatMap((message) => (message.role === "assistant" ? message.calls : []));
  const names = new Set(used.map(({ name }) => wireNameOf(name)));
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
 * The API takes objects only, and at the root no choice between several: a choice is offered as all that its branches
 * know, none of it needed. Which branch it is to be is the tool's own affair: it parses its arguments anyway.
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

import { createHash } from "node:crypto";
import type { Tool } from "@anthropic-ai/sdk/resources/messages";
import type { Message, ToolCall, ToolSpec } from "@troupe/core";

type Json = ToolCall["args"];

const namePattern = /^[a-zA-Z0-9_-]{1,64}$/;
const hashCharacters = 8;

/**
 * A tool's name as the API takes it: its own where that will do, else what is left of it and a mark, so that two names
 * do not become one. The same name becomes the same one every time.
 */
export function wireNameOf(name: string): string {
  if (namePattern.test(name)) return name;
  const mark = createHash("sha256").update(name).digest("hex").slice(0, hashCharacters);
  const rest = name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64 - hashCharacters - 1);
  return `${rest}_${mark}`;
}

/** Names of these tools by what the wire calls them. */
export function namesByWire(tools: readonly ToolSpec[]): ReadonlyMap<string, string> {
  return new Map(tools.map(({ name }) => [wireNameOf(name), name]));
}

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

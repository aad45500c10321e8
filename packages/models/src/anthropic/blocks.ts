import type { TextBlockParam, ToolUseBlockParam } from "@anthropic-ai/sdk/resources/messages";
import type { ToolCall } from "@troupe/core";

type Json = ToolCall["args"];

/** The API refuses texts without a word in them. */
export function textBlocks(text: string): TextBlockParam[] {
  return text.trim() === "" ? [] : [{ type: "text", text: text.toWellFormed() }];
}

/** `args` that could not be read (null) are sent back as none: the API takes objects only. */
export function toolUseBlock(id: string, name: string, args: Json): ToolUseBlockParam {
  const input = typeof args === "object" && args !== null && !Array.isArray(args) ? args : {};
  return { type: "tool_use", id, name, input };
}

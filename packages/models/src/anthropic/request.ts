import type { MessageCreateParamsStreaming, OutputConfig } from "@anthropic-ai/sdk/resources/messages";
import type { ModelRequest } from "@troupe/core";
import { namesByWire } from "../wire/wire-names.ts";
import { textBlocks } from "./blocks.ts";
import { withCacheMarks } from "./cache-marks.ts";
import { mayAskForThoughts, wireConversation } from "./conversation.ts";
import { type ModelTraits, traitsOf } from "./model-traits.ts";
import { outputFormatOf } from "./output-format.ts";
import { thinkingOf } from "./thinking.ts";
import { signaturesOfAll, signaturesOfThinking, type ThinkingSignatures } from "./thinking-signatures.ts";
import { wireTools } from "./tools.ts";

export interface WireRequest {
  body: MessageCreateParamsStreaming;
  /** The model, without the provider's id. */
  model: string;
  /** What the reply calls the tools, and what they are called here. */
  toolNames: ReadonlyMap<string, string>;
  /** Told of all that was sent, which is what the thoughts of the reply come after. */
  seals: ThinkingSignatures;
}

/**
 * A call in the words of the Messages API. There is no temperature in them any more: in the version of the API that the
 * SDK speaks, no model takes one.
 */
export function wireRequest(provider: string, request: ModelRequest): WireRequest {
  const model = request.model.slice(provider.length + 1);
  const traits = traitsOf(model);
  const seals = traits.bindsThoughts ? signaturesOfAll() : signaturesOfThinking();
  const { tools, areOffered } = wireTools(request.tools, request.messages);
  const system = textBlocks(request.system);
  seals.add([system, tools]);
  const conversation = wireConversation(request.messages, { provider, model, seals });
  const marked = withCacheMarks({ tools, system, messages: conversation.messages });
  const mayAsk = mayAskForThoughts(conversation, traits.thinking);
  const body: MessageCreateParamsStreaming = {
    model,
    max_tokens: Math.max(1, Math.floor(request.maxOutputTokens)),
    stream: true,
    messages: marked.messages,
    ...(system.length > 0 ? { system: marked.system } : {}),
    ...(tools.length > 0 ? { tools: marked.tools } : {}),
    ...(tools.length > 0 && !areOffered ? { tool_choice: { type: "none" } } : {}),
    ...thoughtAndForm(request, mayAsk, traits),
  };
  return { body, model, toolNames: namesByWire(request.tools), seals };
}

function thoughtAndForm(
  { effort = null, outputSchema = null, maxOutputTokens }: ModelRequest,
  mayAsk: boolean,
  traits: ModelTraits,
): Pick<MessageCreateParamsStreaming, "thinking" | "output_config"> {
  const settings = thinkingOf({ effort, maxTokens: maxOutputTokens, mayAsk }, traits);
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

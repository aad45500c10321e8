import type { Wire } from "@troupe/models";
import type { ModelServer } from "../../harness/model-server/start-model-server.ts";

export interface TestedWire {
  wire: Wire;
  model: string;
  baseUrl(server: ModelServer): string;
}

/** Each vendor's wire, with a model that the model server has. */
export const wires: readonly [TestedWire, TestedWire, TestedWire] = [
  { wire: "anthropic", model: "claude-opus-5", baseUrl: ({ anthropicUrl }) => anthropicUrl },
  { wire: "openai-chat", model: "gpt-4.1", baseUrl: ({ openaiUrl }) => openaiUrl },
  { wire: "openai-responses", model: "gpt-5", baseUrl: ({ openaiUrl }) => openaiUrl },
];

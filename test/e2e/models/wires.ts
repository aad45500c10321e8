import type { Wire } from "@troupe/runtime";
import type { ModelServer } from "../../harness/model-server/start-model-server.ts";

/** Each vendor's wire, as a provider of its own with a model that the model server has. */
export const wires: readonly { wire: Wire; model: string; baseUrl: (server: ModelServer) => string }[] = [
  { wire: "anthropic", model: "claude-opus-5", baseUrl: ({ anthropicUrl }) => anthropicUrl },
  { wire: "openai-chat", model: "gpt-4.1", baseUrl: ({ openaiUrl }) => openaiUrl },
  { wire: "openai-responses", model: "gpt-5", baseUrl: ({ openaiUrl }) => openaiUrl },
];

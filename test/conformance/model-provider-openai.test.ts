/** The adapter for OpenAI's two wires, with the real SDK, against a server that refuses what the vendor refuses. */
import { type ModelRequest, ToolSpec } from "@troupe/core";
import { createProvider, presetSettings, systemClock } from "@troupe/runtime";
import { afterAll, beforeAll, describe } from "vitest";
import { type ModelServer, startModelServer } from "../harness/model-server/start-model-server.ts";
import { modelProviderConformance } from "./model-provider.ts";

const words = Array.from({ length: 60 }, (_, i) => `word${i}`).join(" ");
const scenario = {
  agents: {
    text: [{ steps: [{ latencyMs: 20, text: words, deltas: 4 }] }],
    calls: [
      {
        steps: [
          {
            text: "both",
            calls: [
              { tool: "read", args: { path: "a" } },
              { tool: "read", args: { path: "b" } },
            ],
          },
        ],
      },
    ],
    failing: [{ steps: [{ error: { type: "network" as const, message: "gone", recoverable: true } }] }],
    slow: [{ steps: [{ latencyMs: 3_600_000, text: "at last it is done", deltas: 4 }] }],
  },
};

const read = ToolSpec.parse({
  name: "read",
  description: "Reads a file",
  risk: "low",
  effect: "read",
  inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
});

const prices = {
  priceOf: (model: string) => (model === "gpt-5.5" ? { inputPerMillion: 2, outputPerMillion: 10 } : null),
  costOf: (model: string, usage: { inputTokens: number; outputTokens: number }) =>
    model === "gpt-5.5" ? (usage.inputTokens * 2 + usage.outputTokens * 10) / 1_000_000 : null,
  contextOf: () => null,
};

describe.for([
  { wire: "openai-chat", model: "gpt-5.5", outputTokensMin: 1 },
  { wire: "openai-responses", model: "gpt-5.5", outputTokensMin: 16 },
  { wire: "openai-chat", model: "qwen3-coder:30b", outputTokensMin: 1 },
  { wire: "openai-responses", model: "qwen3-coder:30b", outputTokensMin: 16 },
] as const)("$model over $wire", ({ wire, model, outputTokensMin }) => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer({
      scenario,
      apiKey: "the-key",
      identify: ({ messages }) => ({ agent: messages[0]?.text ?? "" }),
    });
  });
  afterAll(() => server.close());

  const requestTo = (agent: string): ModelRequest => ({
    model: `openai/${model}`,
    system: "You are a test.",
    messages: [{ role: "user", text: agent }],
    tools: [read],
    maxOutputTokens: 1_000,
    temperature: 0.5,
    origin: { session: "s", run: "r", agent, task: "go", attempt: 1, step: 1 },
  });
  const requests = {
    text: requestTo("text"),
    calls: requestTo("calls"),
    failing: requestTo("failing"),
    slow: requestTo("slow"),
  };

  modelProviderConformance(() => ({
    provider: createProvider({
      settings: presetSettings("openai", { baseUrl: server.openaiUrl, key: "the-key", wire }),
      prices,
      clock: systemClock(),
    }),
    requests,
    outputTokensMin,
  }));
});

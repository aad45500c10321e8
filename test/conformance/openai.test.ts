/** Tests the adapter for OpenAI's two APIs with the real SDK against a server with the vendor's rules. */
import { type Message, type ModelReply, type ModelRequest, ToolSpec } from "@troupe/core";
import type { Effort } from "@troupe/core/internal";
import { systemClock } from "@troupe/core/system";
import { createProvider, type PresetOverrides, presetSettings, type Wire } from "@troupe/models";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { saying } from "../harness/model-server/fixture.ts";
import {
  type ModelServer,
  type ModelServerOptions,
  startModelServer,
} from "../harness/model-server/start-model-server.ts";
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

const price = { inputPerMillion: 2, outputPerMillion: 10 };
const priceOf = (model: string) => (model === "gpt-5.5" ? price : null);
const prices = {
  priceOf,
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
    price: priceOf(model),
    requests,
    outputTokensMin,
  }));
});

function providerAt(server: ModelServer, wire: Wire, overrides: PresetOverrides = {}) {
  const settings = presetSettings("openai", { baseUrl: server.openaiUrl, key: "the-key", wire, ...overrides });
  return createProvider({ settings, prices, clock: systemClock() });
}

const open = ToolSpec.parse({
  ...read,
  name: "look.up things",
  inputSchema: { type: "object", properties: { path: { type: "string" }, deep: { type: "boolean" } } },
});

const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: "openai/gpt-5.5",
  system: "You are a test.",
  messages: [{ role: "user", text: "go" }],
  tools: [read, open],
  maxOutputTokens: 4_000,
  temperature: null,
  origin: { session: "s", run: "r", agent: "main", task: "go", attempt: 1, step: 1 },
  ...more,
});

const patient = () => ({ signal: new AbortController().signal, onDelta: () => {} });

/** A turn of a loop: a thought, and two calls at once. */
const looking = (step: number) => ({
  thinking: `thought ${step}`,
  text: `Step ${step}.`,
  calls: [
    { tool: "read", args: { path: `${step}a` } },
    { tool: "read", args: { path: `${step}b` } },
  ],
});

type Turn = (step: number, request: ModelRequest) => ModelRequest;

/** Three such turns, each with the results of its calls, and the answer. */
async function runLoop(
  wire: Wire,
  first: ModelRequest,
  { turn, ...options }: Partial<ModelServerOptions> & { turn?: Turn } = {},
) {
  const scenario = saying(looking(1), looking(2), looking(3), { text: '{"found": "all"}' });
  const server = await startModelServer({ scenario, ...options });
  const provider = providerAt(server, wire);
  const replies: ModelReply[] = [];
  let messages: readonly Message[] = first.messages;
  try {
    for (let step = 1; step <= 4; step += 1) {
      const asked = { ...first, messages };
      const reply = await provider.call(turn?.(step, asked) ?? asked, patient());
      replies.push(reply);
      const { text, calls, thinking } = reply;
      // As it comes back from a journal.
      const message = JSON.parse(JSON.stringify({ role: "assistant", text, calls, thinking })) as Message;
      const results = calls.map(
        ({ id, name }): Message => ({ role: "tool", callId: id, name, text: "found", isError: false }),
      );
      messages = [...messages, message, ...results];
    }
    return replies;
  } finally {
    await server.close();
  }
}

describe("a loop of tool calls is accepted to its end", () => {
  const efforts: (Effort | null)[] = [null, "none", "low", "max"];
  const models = ["gpt-6-sol", "gpt-5.5", "gpt-5.1", "gpt-5", "o4-mini", "gpt-4.1", "gpt-4o-mini", "qwen3-coder:30b"];
  const outputSchema = { type: "object", properties: { found: { type: "string" } }, required: ["found"] };
  const wires = ["openai-responses", "openai-chat"] as const;

  test.each(wires.flatMap((wire) => models.flatMap((model) => efforts.map((effort) => ({ wire, model, effort })))))(
    "by $model over $wire, at effort $effort",
    async ({ wire, model, effort }) => {
      const replies = await runLoop(
        wire,
        request({ model: `openai/${model}`, effort, temperature: 0.3, outputSchema }),
      );
      expect(replies.map(({ calls }) => calls.length)).toEqual([2, 2, 2, 0]);
      expect(replies[3]).toMatchObject({ text: '{"found": "all"}', stopReason: "end" });
    },
  );

  test.each(["reasoning_content", "reasoning"] as const)("with visible reasoning in %s", async (reasoningField) => {
    const replies = await runLoop("openai-chat", request({ model: "openai/deepseek-chat" }), { reasoningField });
    expect(replies[0]?.thinking).toMatchObject([{ model: "deepseek-chat", block: { [reasoningField]: "thought 1" } }]);
    expect(replies[3]?.text).toBe('{"found": "all"}');
    expect(replies.map(({ text }) => text).join("")).not.toContain("thought");
  });

  test.each(wires)("over %s, in chunks of any size", async (wire) => {
    const replies = await runLoop(wire, request(), { chunkBytes: 7 });
    expect(replies[3]?.text).toBe('{"found": "all"}');
  });

  test.each(wires)("over %s, after a change to another model and back", async (wire) => {
    const turn: Turn = (step, asked) => ({ ...asked, model: step % 2 === 0 ? "openai/gpt-4.1" : asked.model });
    expect((await runLoop(wire, request(), { turn }))[3]?.text).toBe('{"found": "all"}');
  });

  test.each(wires)("over %s, without its tools", async (wire) => {
    const turn: Turn = (step, asked) => ({ ...asked, tools: step === 4 ? [] : asked.tools });
    expect((await runLoop(wire, request(), { turn }))[3]?.text).toBe('{"found": "all"}');
  });
});

describe("an error of the server has its own type", () => {
  const faults = [
    {
      what: "a limit",
      fault: { status: 429, retryAfterMs: 1_500 },
      error: { type: "rate_limit", recoverable: true, begun: false, retryAfterMs: 1_500 },
    },
    {
      what: "a spent quota",
      fault: { status: 429, code: "insufficient_quota" },
      error: { type: "budget", recoverable: false },
    },
    { what: "an overload", fault: { status: 503 }, error: { type: "rate_limit", recoverable: true, begun: false } },
    { what: "a failure", fault: { status: 500 }, error: { type: "network", recoverable: true, begun: false } },
    { what: "a cut", fault: { cut: { afterPieces: 1 } }, error: { type: "network", recoverable: true, begun: true } },
    {
      what: "an error within",
      fault: { streamError: { afterPieces: 1, status: 500 } },
      error: { type: "network", recoverable: true, begun: true },
    },
    { what: "a page", fault: { notWhatItSays: "html" as const }, error: { type: "params", recoverable: false } },
    { what: "other JSON", fault: { notWhatItSays: "json" as const }, error: { type: "params", recoverable: false } },
    { what: "nothing", fault: { notWhatItSays: "empty" as const }, error: { recoverable: true } },
  ];
  test.each(
    (["openai-responses", "openai-chat"] as const).flatMap((wire) => faults.map((each) => ({ wire, ...each }))),
  )("$what, over $wire", async ({ wire, fault, error }) => {
    const server = await startModelServer({ scenario: saying({ text: "one two three", deltas: 3, faults: [fault] }) });
    try {
      await expect(providerAt(server, wire).call(request(), patient())).rejects.toMatchObject({ runError: error });
      expect((await providerAt(server, wire).call(request(), patient())).text).toBe("one two three");
    } finally {
      await server.close();
    }
  });

  test.each(["openai-responses", "openai-chat"] as const)("a wrong key and an unknown model, over %s", async (wire) => {
    const server = await startModelServer({ scenario: saying({ text: "no" }), apiKey: "the-key" });
    try {
      const wrong = providerAt(server, wire, { key: "sk-canary-of-the-test" }).call(request(), patient());
      const thrown = await wrong.catch((error: unknown) => JSON.stringify(error));
      expect(thrown).toMatch(/"auth".*export OPENAI_API_KEY/);
      expect(thrown).not.toMatch(/sk-canary|test\b\./);
      await expect(providerAt(server, wire).call(request({ model: "openai/gpt-0" }), patient())).rejects.toMatchObject({
        runError: { type: "params", recoverable: false, message: expect.stringContaining("troupe models ls") },
      });
    } finally {
      await server.close();
    }
  });
});

describe("a local server that truncates conversations silently", () => {
  const words = "and so on and on ".repeat(1_500);
  const asked = request({ model: "ollama/qwen3-coder:30b", messages: [{ role: "user", text: words }] });
  const at = (server: ModelServer) => providerAt(server, "openai-chat", { id: "ollama", isLocal: true });

  test("is detected, and the error has a fix", async () => {
    const server = await startModelServer({ scenario: saying({ text: "nonsense" }), truncateTokens: 4_096 });
    try {
      expect(await at(server).contextOf?.(asked.model)).toBe(4_096);
      await expect(at(server).call(asked, patient())).rejects.toMatchObject({
        runError: {
          type: "params",
          recoverable: false,
          message: expect.stringMatching(
            /^the context was truncated: .*4096 tokens.*OLLAMA_CONTEXT_LENGTH=32768 ollama serve/,
          ),
        },
      });
    } finally {
      await server.close();
    }
  });

  test("is not reported for a large context window", async () => {
    const server = await startModelServer({ scenario: saying({ text: "sense" }), truncateTokens: 32_768 });
    try {
      expect((await at(server).call(asked, patient())).text).toBe("sense");
    } finally {
      await server.close();
    }
  });
});

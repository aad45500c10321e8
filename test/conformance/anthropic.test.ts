/** Tests the adapter for Anthropic's API against a server with Anthropic's rules. */
import type { Message, ModelReply, ModelRequest } from "@troupe/core";
import type { Effort } from "@troupe/core/internal";
import { systemClock } from "@troupe/core/system";
import { createProvider, ProviderLimits, type ProviderSettings } from "@troupe/models";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { saying } from "../harness/model-server/fixture.ts";
import { type ModelServer, startModelServer } from "../harness/model-server/start-model-server.ts";
import { modelProviderConformance } from "./model-provider.ts";

const key = "sk-ant-of-the-test";
const price = { inputPerMillion: 2, outputPerMillion: 10 };

function providerAt(server: ModelServer) {
  const settings: ProviderSettings = {
    id: "anthropic",
    wire: "anthropic",
    baseUrl: server.anthropicUrl,
    key,
    authToken: null,
    keyVariable: "ANTHROPIC_API_KEY",
    headers: {},
    limits: ProviderLimits.parse({}),
    models: {},
    isLocal: false,
  };
  const priceOf = (model: string) => (model.startsWith("claude-") ? price : null);
  const prices = {
    priceOf,
    contextOf: () => null,
    costOf: (model: string, usage: { inputTokens: number; outputTokens: number }) =>
      priceOf(model)
        ? (usage.inputTokens * price.inputPerMillion + usage.outputTokens * price.outputPerMillion) / 1_000_000
        : null,
  };
  return createProvider({ settings, prices, clock: systemClock() });
}

const request = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: "anthropic/claude-sonnet-5-5",
  system: "You are a test.",
  messages: [{ role: "user", text: "go" }],
  tools: [
    {
      name: "read",
      description: "Reads.",
      risk: "low",
      effect: "read",
      groups: [],
      inputSchema: { type: "object", properties: { path: { type: "string" } } },
    },
  ],
  maxOutputTokens: 4_000,
  temperature: null,
  origin: { session: "s", run: "r", agent: "main", task: "go", attempt: 1, step: 1 },
  ...more,
});

const patient = () => ({ signal: new AbortController().signal, onDelta: () => {} });

describe("over a real connection", () => {
  let server: ModelServer;
  beforeAll(async () => {
    server = await startModelServer({
      apiKey: key,
      // Real models are not told who asks: here the prompt says it.
      identify: ({ system }) => ({ agent: system }),
      scenario: {
        agents: {
          text: [{ steps: [{ latencyMs: 20, text: "one two three four", deltas: 4 }] }],
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
          failing: [{ steps: [{ error: { type: "rate_limit", message: "overloaded", recoverable: true } }] }],
          slow: [{ steps: [{ latencyMs: 3_600_000, text: "at last it is done", deltas: 4 }] }],
        },
      },
    });
  });
  afterAll(() => server.close());

  const to = (agent: string) => request({ system: agent });
  modelProviderConformance(() => ({
    provider: providerAt(server),
    price,
    requests: { text: to("text"), calls: to("calls"), failing: to("failing"), slow: to("slow") },
  }));
});

/** Three turns of a loop, each with a thought, two calls, and their results, then the answer. */
const looking = (step: number) => ({
  thinking: `thought ${step}`,
  text: `Step ${step}.`,
  calls: [
    { tool: "read", args: { path: `${step}a` } },
    { tool: "read", args: { path: `${step}b` } },
  ],
});

async function runLoop(request: ModelRequest, turns: (step: number, request: ModelRequest) => ModelRequest) {
  const server = await startModelServer({ scenario: saying(looking(1), looking(2), looking(3), { text: "Done." }) });
  const provider = providerAt(server);
  const replies: ModelReply[] = [];
  let messages: readonly Message[] = request.messages;
  try {
    for (let step = 1; step <= 4; step += 1) {
      const reply = await provider.call(turns(step, { ...request, messages }), patient());
      replies.push(reply);
      const { text, calls, thinking } = reply;
      // As it comes back from a journal.
      const message = JSON.parse(JSON.stringify({ role: "assistant", text, calls, thinking })) as Message;
      const results = calls.map(
        ({ id, name }): Message => ({ role: "tool", callId: id, name, text: "found", isError: false }),
      );
      messages = [...messages, message, ...results];
    }
    return { replies, statuses: server.calls().map(({ status }) => status) };
  } finally {
    await server.close();
  }
}

describe("a loop of tool calls", () => {
  const efforts: (Effort | null)[] = [null, "none", "low", "max"];
  const models = [
    "claude-opus-5-5",
    "claude-sonnet-5-5",
    "claude-haiku-5-5",
    "claude-opus-5",
    "claude-opus-4-5",
    "claude-haiku-4-5",
  ];

  test.each(models.flatMap((model) => efforts.map((effort) => ({ model, effort }))))(
    "is accepted to its end by $model, at effort $effort",
    async ({ model, effort }) => {
      const { replies } = await runLoop(request({ model: `anthropic/${model}`, effort }), (_, turn) => turn);
      expect(replies.map(({ calls }) => calls.length)).toEqual([2, 2, 2, 0]);
      expect(replies[3]).toMatchObject({ text: "Done.", stopReason: "end" });
    },
  );

  test.each(models)("is accepted by %s after a change to another model and back", async (model) => {
    const other = model === "claude-opus-4-5" ? "claude-haiku-4-5" : "claude-opus-4-5";
    const { replies } = await runLoop(request({ effort: "high" }), (step, turn) => ({
      ...turn,
      model: `anthropic/${step % 2 === 0 ? other : model}`,
    }));
    expect(replies[3]?.text).toBe("Done.");
  });

  test.each(models)("is accepted by %s without its tools, and without the results that were read", async (model) => {
    const { replies } = await runLoop(request({ model: `anthropic/${model}`, effort: "high" }), (step, turn) => ({
      ...turn,
      tools: step === 4 ? [] : turn.tools,
      messages: turn.messages.map((message) =>
        step >= 3 && message.role === "tool" ? { ...message, text: "(kept elsewhere)" } : message,
      ),
    }));
    expect(replies[3]?.text).toBe("Done.");
  });
});

test("a wrong key and an unknown model are separate errors, after one request", async () => {
  const server = await startModelServer({ scenario: saying({ text: "no" }), apiKey: "another" });
  try {
    await expect(providerAt(server).call(request(), patient())).rejects.toMatchObject({
      runError: { type: "auth", recoverable: false, message: expect.stringContaining("export ANTHROPIC_API_KEY") },
    });
    expect(server.calls()).toHaveLength(1);
  } finally {
    await server.close();
  }
  const open = await startModelServer({ scenario: saying({ text: "no" }) });
  try {
    const unknown = providerAt(open).call(request({ model: "anthropic/claude-0" }), patient());
    await expect(unknown).rejects.toMatchObject({
      runError: { type: "params", recoverable: false, message: expect.stringContaining("troupe models ls") },
    });
  } finally {
    await open.close();
  }
});

import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type ModelCallOptions, type ModelRequest, RunError, type ToolSpec } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import { expect, onTestFinished } from "vitest";
import type { PriceTable } from "../prices/price-table.ts";
import { ProviderLimits, type ProviderSettings } from "../settings.ts";
import { createAnthropicProvider } from "./provider.ts";

export interface ReceivedRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: {
    messages: { role: string; content: { type: string; [field: string]: unknown }[] }[];
    tools?: { name: string; [field: string]: unknown }[];
    [field: string]: unknown;
  };
}

export type Answer = (response: ServerResponse, asked: ReceivedRequest) => void | Promise<void>;

/** A server on a real socket that answers each request with the next of these answers, and repeats the last. */
export async function startWire(...answers: Answer[]) {
  const asked: ReceivedRequest[] = [];
  let connections = 0;
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const one = { path: request.url ?? "", headers: request.headers, body: JSON.parse(text || "{}") };
    asked.push(one);
    await answers[Math.min(asked.length, answers.length) - 1]?.(response, one);
  });
  server.on("connection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    connections: () => connections,
    close,
  };
}

/** Events as the wire writes them: those without a type are written as they are. */
export function sse(events: readonly (object | string)[]): string {
  return events
    .map((event) =>
      typeof event === "string"
        ? event
        : `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`,
    )
    .join("");
}

export function streaming(...events: (object | string)[]): Answer {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    response.end(sse(events));
  };
}

export function refusing(status: number, error: object | string, headers: Record<string, string> = {}): Answer {
  const body = typeof error === "string" ? error : JSON.stringify({ type: "error", error, request_id: "req_1" });
  const kind = typeof error === "string" ? "text/html" : "application/json";
  return (response) => {
    response.writeHead(status, { "content-type": kind, ...headers });
    response.end(body);
  };
}

const usage = { input_tokens: 10, output_tokens: 1, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };

export const start = (more: object = {}) => ({
  type: "message_start",
  message: { id: "msg_1", type: "message", role: "assistant", model: "claude-sonnet-5-5", content: [], usage, ...more },
});

export const stop = (stop_reason: string | null = "end_turn", more: object = { output_tokens: 7 }) => [
  { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: more },
  { type: "message_stop" },
];

export const block = (index: number, content_block: object, ...deltas: object[]) => [
  { type: "content_block_start", index, content_block },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index },
];

export const text = (index: number, ...pieces: string[]) =>
  block(index, { type: "text", text: "" }, ...pieces.map((piece) => ({ type: "text_delta", text: piece })));

export const use = (index: number, id: string, name: string, ...json: string[]) =>
  block(
    index,
    { type: "tool_use", id, name, input: {} },
    ...json.map((partial_json) => ({ type: "input_json_delta", partial_json })),
  );

export const thought = (index: number, thinking: string, signature: string) =>
  block(
    index,
    { type: "thinking", thinking: "", signature: "" },
    { type: "thinking_delta", thinking },
    { type: "signature_delta", signature },
  );

/** A whole answer of one text. */
export const saying = (...pieces: string[]) => streaming(start(), ...text(0, ...pieces), ...stop());

export const key = "sk-ant-secret-0123456789";

export const settings = (more: Partial<ProviderSettings> = {}): ProviderSettings => ({
  id: "anthropic",
  wire: "anthropic",
  baseUrl: null,
  key,
  authToken: null,
  keyVariable: "ANTHROPIC_API_KEY",
  headers: {},
  limits: ProviderLimits.parse({}),
  models: {},
  isLocal: false,
  ...more,
});

/** A dollar for a million tokens of everything, and nothing is known of other models than Claude. */
export const prices: PriceTable = {
  priceOf: (model) => (model.startsWith("claude") ? { inputPerMillion: 1, outputPerMillion: 1 } : null),
  costOf: (model, { inputTokens, outputTokens }) =>
    model.startsWith("claude") ? (inputTokens + outputTokens) / 1_000_000 : null,
  contextOf: (model) => (model.startsWith("claude") ? 200_000 : null),
};

export const ask = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: "anthropic/claude-sonnet-5-5",
  system: "You help.",
  messages: [{ role: "user", text: "Hello?" }],
  tools: [],
  maxOutputTokens: 4_096,
  temperature: null,
  origin: { session: "s", run: "r", agent: "main", task: "go", attempt: 1, step: 1 },
  ...more,
});

export const options = (more: Partial<ModelCallOptions> = {}): ModelCallOptions => ({
  signal: new AbortController().signal,
  onDelta: () => {},
  ...more,
});

/** It is always the same moment. */
const clock = { ...systemClock(), now: () => Date.parse("Wed, 18 Nov 2026 10:00:00 GMT") };

/** A provider whose server gives these answers. */
export async function provide(answers: Answer | Answer[], more: Partial<ProviderSettings> = {}) {
  const { url, asked, connections } = await startWire(...[answers].flat());
  return {
    url,
    asked,
    connections,
    provider: createAnthropicProvider({ settings: settings({ baseUrl: url, ...more }), prices, clock }),
  };
}

export const tool = (name: string, more: Partial<ToolSpec> = {}): ToolSpec => ({
  name,
  description: `Does ${name}.`,
  risk: "low",
  effect: "read",
  groups: [],
  inputSchema: { type: "object", properties: { path: { type: "string" } } },
  ...more,
});

/** The error of a failed call. Checks that its message does not contain the key. */
export async function failureOf(call: Promise<unknown>): Promise<RunError> {
  const thrown: unknown = await call.then(
    () => new Error("the call did not fail"),
    (error: unknown) => error,
  );
  expect(thrown).toHaveProperty("runError");
  const error = RunError.parse((thrown as { runError: unknown }).runError);
  expect(error.message).not.toContain(key);
  return error;
}

/** The error of a call with this answer. */
export async function failing(answer: Answer, more: Partial<ProviderSettings> = {}): Promise<RunError> {
  const { provider } = await provide(answer, more);
  return failureOf(provider.call(ask(), options()));
}

/** A server on a real socket that sends the bytes of a test and records its requests. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Json, ModelProvider, ModelRequest } from "@troupe/core";
import { afterAll, beforeAll, beforeEach } from "vitest";
import type { PriceTable } from "../prices/price-table.ts";
import { ProviderLimits, type ProviderSettings } from "../settings.ts";
import { createOpenAiProvider } from "./provider.ts";

export interface Played {
  status?: number;
  headers?: Record<string, string>;
  body?: string | readonly string[];
  /** Handling of the connection after the body. @default "end" */
  after?: "end" | "cut" | "hold";
}

export interface ReceivedRequest {
  path: string;
  headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field
  body: any;
}

/** Starts a server for all tests of a file. Each test begins without answers and requests. */
export function usePlayServer() {
  const played: Played[] = [];
  const asked: ReceivedRequest[] = [];
  const waiting: ((asked: ReceivedRequest) => void)[] = [];
  const held = new Set<ServerResponse>();
  let connections = 0;
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const question = { path: request.url ?? "", headers: request.headers, body: text === "" ? null : JSON.parse(text) };
    asked.push(question);
    waiting.splice(0).forEach((resolve) => {
      resolve(question);
    });
    held.add(response);
    response.once("close", () => held.delete(response));
    await answer(response, (played.length > 1 ? played.shift() : played[0]) ?? { status: 500 });
  });
  server.on("connection", () => {
    connections += 1;
  });
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));
  const clear = (): void => {
    played.length = 0;
    asked.length = 0;
  };
  beforeEach(clear);
  afterAll(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return {
    asked,
    clear,
    baseUrl: () => `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    /** Answers in this order; the last repeats. */
    play: (...answers: Played[]) => void played.push(...answers),
    connections: () => connections,
    /** Ends the held connections. */
    release: () => {
      for (const response of held) response.end();
    },
    nextAsked: () => new Promise<ReceivedRequest>((resolve) => waiting.push(resolve)),
  };
}

async function answer(response: ServerResponse, { status = 200, headers, body = [], after = "end" }: Played) {
  response.writeHead(status, { "content-type": "text/event-stream", ...headers });
  response.flushHeaders();
  for (const part of typeof body === "string" ? [body] : body) {
    await new Promise<unknown>((resolve) => response.write(part, resolve));
  }
  if (after === "end") response.end();
  if (after === "cut") response.socket?.destroy();
}

/** Events of chat completions or Responses in the format of their servers. */
export function sse(...events: (Json | "[DONE]")[]): string[] {
  return events.map((event) => {
    if (event === "[DONE]") return "data: [DONE]\n\n";
    const type = typeof event === "object" && event !== null && "type" in event ? `event: ${event.type}\n` : "";
    return `${type}data: ${JSON.stringify(event)}\n\n`;
  });
}

export function chunk(delta: Record<string, Json>, finish: string | null = null): Json {
  return { object: "chat.completion.chunk", model: "m-1", choices: [{ index: 0, delta, finish_reason: finish }] };
}

export const secretKey = "sk-canary-0123456789abcdef";

export function settingsFor(baseUrl: string | null, overrides: Partial<ProviderSettings> = {}): ProviderSettings {
  return {
    id: "acme",
    wire: "openai-chat",
    baseUrl,
    key: secretKey,
    authToken: null,
    keyVariable: "ACME_API_KEY",
    headers: {},
    limits: ProviderLimits.parse({}),
    models: {},
    isLocal: false,
    ...overrides,
  };
}

/** A dollar per thousand tokens of the model `priced`. All other models are unknown. */
export const prices: PriceTable = {
  priceOf: (model) => (model === "priced" ? { inputPerMillion: 1_000, outputPerMillion: 1_000 } : null),
  costOf: (model, usage) => (model === "priced" ? (usage.inputTokens + usage.outputTokens) / 1_000 : null),
  contextOf: (model) => (model === "priced" ? 100_000 : null),
};

export function providerFor(baseUrl: string | null, overrides: Partial<ProviderSettings> = {}): ModelProvider {
  return createOpenAiProvider({ settings: settingsFor(baseUrl, overrides), prices });
}

export function requestFor(overrides: Partial<ModelRequest> = {}): ModelRequest {
  return {
    model: "acme/m-1",
    system: "Be brief.",
    messages: [{ role: "user", text: "Hello" }],
    tools: [],
    maxOutputTokens: 1_000,
    temperature: null,
    origin: { session: "s", run: "r", agent: "main", task: "go", attempt: 1, step: 1 },
    ...overrides,
  };
}

/** A complete call with its deltas. */
export async function callOf(provider: ModelProvider, request = requestFor(), signal?: AbortSignal) {
  const deltas: string[] = [];
  let activity = 0;
  const reply = await provider.call(request, {
    signal: signal ?? new AbortController().signal,
    onDelta: (text) => deltas.push(text),
    onActivity: () => {
      activity += 1;
    },
  });
  return { reply, deltas, activity };
}

/** The error of a failed call. */
export async function failureOf(call: Promise<unknown>) {
  const thrown = await call.then(
    (value) => {
      throw new Error(`the call did not fail: ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
  if (typeof thrown !== "object" || thrown === null || !("runError" in thrown)) throw thrown;
  return thrown.runError as import("@troupe/core").RunError;
}

import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Scenario } from "@troupe/models";
import type { z } from "zod";
import { answerCall } from "./answer.ts";
import { type CallList, createCallList, end, type ServedCall } from "./calls.ts";
import { type CatalogModel, createCatalog } from "./catalog.ts";
import type { Chaos } from "./chaos.ts";
import { createTryCounter } from "./count-tries.ts";
import type { Identity } from "./identify.ts";
import { Refusal } from "./refusal.ts";
import { type Endpoint, endpointOf, wireOfPath } from "./routes.ts";
import { createThinkingSignatures } from "./thinking-signatures.ts";
import type { Wire, WireContext, WireRequest } from "./wire.ts";

export interface ModelServerOptions {
  /** Scripted replies. Name and description are optional. */
  scenario: Omit<z.input<typeof Scenario>, "name" | "description"> & { name?: string; description?: string };
  /** The only key that is let in. @default any, or none */
  apiKey?: string;
  /** @default any free one */
  port?: number;
  /** Name of the root agent, which its prompt does not state. @default "main" */
  rootAgent?: string;
  /** Identifies the agent when the request does not. Missing fields are found as usual. */
  identify?: (request: WireRequest, body: unknown) => Partial<Identity> | null;
  /**
   * Counts steps by the model's turns in the conversation, or by the answers given so far, which also works after
   * compaction. @default "turns"
   */
  steps?: "turns" | "answers";
  /** Models besides the shipped ones. */
  models?: readonly (string | CatalogModel)[];
  /** The longest conversation. @default as the model's own */
  contextTokens?: number;
  /** Longer conversations lose their beginning without a word, as with Ollama's own default. @default no limit */
  truncateTokens?: number;
  /** The largest body. @default 32 MB */
  bodyBytesMax?: number;
  /** Requests that are refused by chance. */
  chaos?: Chaos;
  /** Sent in pieces of so many bytes, wherever that cuts. @default an event at a time */
  chunkBytes?: number;
  /** Field of chat messages that thoughts stand in, for vendors that show them. @default none */
  reasoningField?: "reasoning_content" | "reasoning";
}

export interface ModelServer {
  /** Base address, with Ollama's routes. */
  url: string;
  /** Base URL for an Anthropic client. */
  anthropicUrl: string;
  /** Base URL for an OpenAI client. */
  openaiUrl: string;
  /** Every request, the oldest first. They change as their answers go on. */
  calls(): readonly ServedCall[];
  /** Resolves as soon as so many requests have come. */
  waitForCalls(count: number): Promise<readonly ServedCall[]>;
  /** Resolves as soon as the calls are as they are wanted. */
  waitUntil(isThere: (calls: readonly ServedCall[]) => boolean): Promise<readonly ServedCall[]>;
  close(): Promise<void>;
}

/** State of the server that request handlers use. */
export interface ServerState extends WireContext {
  scenario: Scenario;
  options: ModelServerOptions;
  calls: CallList;
  tries: ReturnType<typeof createTryCounter>;
}

/**
 * Starts a server with the APIs and rules of Anthropic and OpenAI for real SDKs. A scenario scripts the replies.
 *
 * @example
 * const server = await startModelServer({ scenario: { agents: { main: [{ steps: [{ text: "hello" }] }] } } });
 * const client = new Anthropic({ baseURL: server.anthropicUrl, apiKey: "any", maxRetries: 0 });
 */
export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const calls = createCallList();
  const state: ServerState = {
    scenario: Scenario.parse({ name: "served", description: "of a test", ...options.scenario }),
    options,
    calls,
    tries: createTryCounter(),
    catalog: createCatalog(options.models),
    signatures: createThinkingSignatures(),
    contextTokens: options.contextTokens ?? null,
    reasoningField: options.reasoningField ?? null,
  };
  const server = createServer((request, response) => void serve(request, response, state));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port ?? 0, "127.0.0.1", resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    anthropicUrl: url,
    openaiUrl: `${url}/v1`,
    calls: calls.all,
    waitForCalls: (count) => calls.until((all) => all.length >= count),
    waitUntil: calls.until,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function serve(request: IncomingMessage, response: ServerResponse, state: ServerState): Promise<void> {
  const { pathname } = new URL(request.url ?? "/", "http://localhost");
  const call = state.calls.begin(request.method ?? "GET", pathname, request.headers);
  state.calls.changed();
  const wire = wireOfPath(pathname, request.headers);
  response.once("close", () => {
    if (call.outcome === "open") end(call, response.writableFinished ? "answered" : "lost");
    state.calls.changed();
  });
  try {
    const endpoint = endpointOf(call.method, pathname, request.headers);
    checkKey(request, endpoint, state.options.apiKey);
    call.body = await readBody(request, state.options.bodyBytesMax ?? 32 * 1024 * 1024);
    if (endpoint.kind === "page") {
      const page = endpoint.answer(call.body, state);
      call.status = 200;
      return json(response, 200, page);
    }
    await answerCall({ call, response, wire: endpoint.wire, state });
  } catch (error) {
    refuse(error, call, response, wire);
  }
}

/** Anthropic's clients send a key or a bearer token, everybody else's a bearer token. */
function checkKey({ headers }: IncomingMessage, { vendor }: Endpoint, apiKey: string | undefined): void {
  if (vendor === "anthropic" && headers["anthropic-version"] === undefined) {
    throw new Refusal(400, "anthropic-version: header is required");
  }
  if (apiKey === undefined || vendor === "ollama") return;
  const bearer = headers.authorization?.replace(/^Bearer /, "");
  const given = vendor === "anthropic" ? (headers["x-api-key"] ?? bearer) : bearer;
  if (given === apiKey) return;
  if (vendor === "anthropic") {
    throw new Refusal(401, given === undefined ? "x-api-key header is required" : "invalid x-api-key");
  }
  if (!given)
    throw new Refusal(401, "You didn't provide an API key. You need to provide it in an Authorization header.");
  // Shows part of the key, as the vendor does. Code that passes the message on must recognise the secret.
  const shown = `${String(given).slice(0, 3)}${"*".repeat(8)}${String(given).slice(-4)}`;
  throw new Refusal(401, `Incorrect API key provided: ${shown}.`, { code: "invalid_api_key" });
}

async function readBody(request: IncomingMessage, bytesMax: number): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new Refusal(413, "Request exceeds the maximum size");
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString("utf8");
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    throw new Refusal(400, "The request body is not valid JSON");
  }
}

function refuse(error: unknown, call: ServedCall, response: ServerResponse, wire: Wire): void {
  const refusal =
    error instanceof Refusal ? error : new Refusal(500, `the model server itself failed: ${(error as Error).stack}`);
  call.status = refusal.status;
  call.refusal = refusal.message;
  end(call, "refused");
  const requestId = `req_${randomUUID().replaceAll("-", "")}`;
  json(response, refusal.status, wire.error(refusal, requestId), {
    [wire.requestIdHeader]: requestId,
    ...retryAfter(refusal.retryAfterMs),
  });
}

/** Whole seconds, as every vendor sends them, and milliseconds if the value is not a whole number of seconds. */
function retryAfter(retryAfterMs: number | null): Record<string, string> {
  if (retryAfterMs === null) return {};
  const headers = { "retry-after": String(Math.ceil(retryAfterMs / 1_000)) };
  return retryAfterMs % 1_000 === 0 ? headers : { ...headers, "retry-after-ms": String(retryAfterMs) };
}

function json(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

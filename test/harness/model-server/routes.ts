import type { IncomingHttpHeaders } from "node:http";
import { AnthropicCount, parseAnthropic } from "./anthropic-request.ts";
import { checkPrompt } from "./anthropic-rules.ts";
import { anthropicWire, promptTokensOf } from "./anthropic-wire.ts";
import { chatWire } from "./chat-wire.ts";
import {
  anthropicModels,
  lmStudioModels,
  ollamaModel,
  ollamaRunning,
  ollamaTags,
  openAiModels,
} from "./model-lists.ts";
import { Refusal } from "./refusal.ts";
import { responsesWire } from "./responses-wire.ts";
import type { ServerState } from "./start-model-server.ts";
import type { Wire } from "./wire.ts";

/** Whose rules hold for the key and the headers. */
type Vendor = "anthropic" | "openai" | "ollama";

/** A model call, or a page that any server has. */
export type Endpoint =
  | { kind: "call"; vendor: Vendor; wire: Wire }
  | { kind: "page"; vendor: Vendor; answer(body: unknown, stage: ServerState): unknown };

const page = (vendor: Vendor, answer: (body: unknown, stage: ServerState) => unknown): Endpoint => ({
  kind: "page",
  vendor,
  answer,
});

const call = (vendor: Vendor, wire: Wire): Endpoint => ({ kind: "call", vendor, wire });

const endpoints: ReadonlyMap<string, Endpoint> = new Map<string, Endpoint>([
  ["POST /v1/messages", call("anthropic", anthropicWire)],
  ["POST /v1/messages/count_tokens", page("anthropic", countTokens)],
  ["POST /v1/chat/completions", call("openai", chatWire)],
  ["POST /v1/responses", call("openai", responsesWire)],
  [
    "GET /v1/models",
    page("openai", (_body, { catalog, options }) => openAiModels(catalog, options.truncateTokens ?? null)),
  ],
  [
    "GET /api/v0/models",
    page("openai", (_body, { catalog, options }) => lmStudioModels(catalog, options.truncateTokens ?? null)),
  ],
  [
    "GET /api/ps",
    page("ollama", (_body, { catalog, options }) => ollamaRunning(catalog, options.truncateTokens ?? null)),
  ],
  ["GET /anthropic/v1/models", page("anthropic", (_body, { catalog }) => anthropicModels(catalog))],
  ["GET /api/version", page("ollama", () => ({ version: "0.13.5" }))],
  ["GET /api/tags", page("ollama", (_body, { catalog }) => ollamaTags(catalog))],
  ["POST /api/show", page("ollama", (body, { catalog }) => ollamaModel(body, catalog))],
  // Lists the calls for a test in another process.
  ["GET /calls", page("ollama", (_body, { calls }) => calls.all())],
]);

/** By whose rules an error is said; both vendors have `/v1/models`. */
export function wireOfPath(path: string, headers: IncomingHttpHeaders): Wire {
  const isAnthropic = path.startsWith("/v1/messages") || headers["anthropic-version"] !== undefined;
  if (isAnthropic) return anthropicWire;
  return path === "/v1/responses" ? responsesWire : chatWire;
}

/** The endpoint of a request. One path belongs to both vendors; the header that only one of them sends tells them apart. */
export function endpointOf(method: string, path: string, headers: IncomingHttpHeaders): Endpoint {
  const isAnthropic = path === "/v1/models" && headers["anthropic-version"] !== undefined;
  const endpoint = endpoints.get(`${method} ${isAnthropic ? "/anthropic" : ""}${path}`);
  if (!endpoint) throw new Refusal(404, `Unknown request URL: ${method} ${path}`);
  return endpoint;
}

function countTokens(raw: unknown, { catalog }: ServerState) {
  const body = parseAnthropic(AnthropicCount, raw);
  if (!catalog.find(body.model)) throw new Refusal(404, `model: ${body.model}`);
  checkPrompt(body);
  return { input_tokens: promptTokensOf(body) };
}

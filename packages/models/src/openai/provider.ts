import type { Clock, ModelCallOptions, ModelProvider, ModelRequest, RunFailure, Usage } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import OpenAI from "openai";
import { isServerKind } from "../local/local-model.ts";
import { createModelProbe, isPrivateServer } from "../local/probe.ts";
import type { ProviderOptions } from "../provider-options.ts";
import { baseUrlOf, type ProviderSettings } from "../settings.ts";
import { cancelledCall, throwIfAborted } from "../wire/cancellation.ts";
import { createSdkFetch, requestHeaders } from "../wire/http.ts";
import { redactorOf } from "../wire/redaction.ts";
import { createChatReader } from "./chat-reply.ts";
import { chatRequest } from "./chat-request.ts";
import { dialectOf, type RequestTarget } from "./dialect.ts";
import { type FailedCall, toFailure } from "./failures.ts";
import { composeReply, type ReplyReader, type WireReply } from "./reply.ts";
import { createResponsesReader } from "./responses-reply.ts";
import { responsesRequest } from "./responses-request.ts";
import { type EventStream, readStream, type ServerEvent } from "./stream.ts";
import { charactersIn } from "./streamed-characters.ts";
import { looksTruncated, truncationOf } from "./truncation.ts";
import type { Tokens } from "./usage.ts";
import { BrokenAnswer } from "./vendor-error.ts";

/**
 * The adapter for OpenAI and every compatible server: chat completions or Responses, as `settings.wire` says. One streamed
 * request per call, without retries. Environment variables have no effect.
 *
 * @example
 * const provider = createOpenAiProvider({ settings: presetSettings("ollama"), prices });
 * await provider.call({ model: "ollama/qwen3", ...request }, { signal, onDelta });
 */
export function createOpenAiProvider(options: ProviderOptions): ModelProvider {
  const { settings, prices, clock = systemClock(), fetch = globalThis.fetch } = options;
  const client = createClient(settings, fetch);
  const redact = redactorOf(settings);
  const dialect = dialectOf(settings);
  const nameOf = (model: string): string => model.slice(settings.id.length + 1);
  const probeModel = createModelProbe(settings, { clock, fetch });
  return {
    id: settings.id,
    async call(request, callOptions) {
      const target = { provider: settings.id, model: nameOf(request.model), dialect };
      const progress = { hasResponse: false, hasText: false };
      throwIfAborted(callOptions.signal);
      try {
        const answer = await send({ client, settings, clock, request, target, options: callOptions, progress });
        const truncation = isPrivateServer(settings) ? await truncationIn(answer, request, target.model) : null;
        if (truncation) throw truncation;
        return composeReply(answer, request, target, (tokens) => priced(tokens, answer.model, target.model));
      } catch (thrown) {
        const call = { settings, model: target.model, redact, nowMs: clock.now(), ...progress };
        throw callOptions.signal.aborted ? cancelledCall() : toFailure(thrown, call);
      }
    },
    priceOf: async (model) => prices.priceOf(nameOf(model)),
    contextOf: (model) => contextOf(nameOf(model)),
  };

  /** A local server's setting counts, not the model's maximum. Of hosted servers only OpenRouter is asked. */
  async function contextOf(model: string): Promise<number | null> {
    const known = settings.models[model]?.contextTokens ?? (settings.isLocal ? null : prices.contextOf(model));
    if (known !== null || !(settings.isLocal || dialect === "openrouter")) return known;
    return (await probeModel(model))?.model.contextTokens ?? null;
  }

  async function truncationIn(answer: WireReply, request: ModelRequest, model: string): Promise<RunFailure | null> {
    if (!looksTruncated(answer, request)) return null;
    const served = await probeModel(model);
    const contextTokens = settings.models[model]?.contextTokens ?? served?.model.contextTokens ?? null;
    // A server in a private network that is not marked as local may be a gateway to any model.
    if (contextTokens === null && !settings.isLocal) return null;
    const kind = served?.kind ?? (isServerKind(settings.id) ? settings.id : "unknown");
    return truncationOf(answer, request, { kind, model, contextTokens });
  }

  /** Only one of the two names may have a price: the requested model's, or the model's that answered. */
  function priced(tokens: Tokens, answered: string | null, requested: string): Usage {
    return { ...tokens, costUsd: prices.costOf(requested, tokens) ?? prices.costOf(answered ?? requested, tokens) };
  }
}

interface OutgoingCall {
  client: OpenAI;
  settings: ProviderSettings;
  clock: Clock;
  request: ModelRequest;
  target: RequestTarget;
  options: ModelCallOptions;
  /** Updated during the call: a failure depends on it. */
  progress: Pick<FailedCall, "hasResponse" | "hasText">;
}

/** Makes one request and reads its answer to the end. */
async function send({ client, settings, clock, request, target, options, progress }: OutgoingCall): Promise<WireReply> {
  // A controller per call: the SDK would leave its listener on a signal that lives longer.
  const abort = new AbortController();
  const stop = (): void => abort.abort(options.signal.reason);
  options.signal.addEventListener("abort", stop, { once: true });
  try {
    const isChat = settings.wire !== "openai-responses";
    const sent = isChat
      ? client.chat.completions.create(chatRequest(request, target), { signal: abort.signal })
      : client.responses.create(responsesRequest(request, target), { signal: abort.signal });
    const response = await sent.asResponse();
    progress.hasResponse = true;
    options.onActivity?.();
    const onActivity = (): void => options.onActivity?.();
    const stream = await readStream(client, response, { signal: abort.signal, clock, onActivity });
    const onText = (text: string): void => {
      if (options.signal.aborted) return;
      progress.hasText = true;
      options.onDelta(text);
    };
    let outputCharacters = 0;
    const onEvent = ({ data }: ServerEvent): void => {
      outputCharacters += charactersIn(data);
      // This API reports the usage at the end only.
      if (!options.signal.aborted) options.onProgress?.({ usage: null, outputCharacters });
    };
    const reader = isChat ? createChatReader(onText) : createResponsesReader(onText);
    const answer = await readAnswer(reader, stream, onEvent);
    // The SDK ends an aborted stream as if it were complete.
    throwIfAborted(options.signal);
    return answer;
  } finally {
    options.signal.removeEventListener("abort", stop);
  }
}

async function readAnswer(
  reader: ReplyReader,
  stream: EventStream,
  onEvent: (event: ServerEvent) => void,
): Promise<WireReply> {
  let count = 0;
  for await (const event of stream.events) {
    count += 1;
    onEvent(event);
    if (reader.take(event)) break;
  }
  if (count === 0 && !stream.wasClosed()) {
    throw new BrokenAnswer({ status: null, code: null, message: "the answer is empty" });
  }
  const answer = reader.end(stream.wasClosed());
  if (answer) return answer;
  throw new BrokenAnswer({ status: null, code: null, message: "the answer ended before it was complete" });
}

/** Out of the way: the idle timeout of the reliability layer is the only one. */
const timeoutMs = 24 * 60 * 60 * 1000;

/**
 * Creates the SDK's client from the settings alone: every option is set that the SDK would otherwise read from the
 * environment. `createSdkFetch` replaces its headers.
 */
function createClient(settings: ProviderSettings, fetch: typeof globalThis.fetch): OpenAI {
  return new OpenAI({
    // Never sent. The SDK requires a key.
    apiKey: "none",
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    baseURL: baseUrlOf(settings),
    maxRetries: 0,
    timeout: timeoutMs,
    logLevel: "off",
    fetch: createSdkFetch(fetch, () => headersOf(settings)),
  });
}

function headersOf(settings: ProviderSettings): Headers {
  const bearer = settings.key ?? settings.authToken;
  return requestHeaders(settings, bearer === null ? {} : { authorization: `Bearer ${bearer}` });
}

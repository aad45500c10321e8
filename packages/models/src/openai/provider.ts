import type { Clock, ModelCallOptions, ModelProvider, ModelReply, ModelRequest, RunFailure, Usage } from "@troupe/core";
import { systemClock } from "@troupe/core/system";
import type OpenAI from "openai";
import { isServerKind } from "../local/local-model.ts";
import { isNearby } from "../local/probe.ts";
import { createWindows } from "../local/windows.ts";
import type { PriceTable } from "../prices.ts";
import type { ProviderSettings } from "../settings.ts";
import { redactorOf } from "../wire/redaction.ts";
import { createChatReader } from "./chat-reply.ts";
import { type Addressee, chatRequest } from "./chat-request.ts";
import { dialectOf } from "./dialect.ts";
import { cancelled, type FailedCall, toFailure } from "./failures.ts";
import { collectCalls } from "./reply.ts";
import { createResponsesReader } from "./responses-reply.ts";
import { responsesRequest } from "./responses-request.ts";
import type { AnswerReader, Said } from "./said.ts";
import { createClient, type OpenAnswer, openAnswer } from "./stream.ts";
import { looksTruncated, truncationOf } from "./truncation.ts";
import { estimatedTokens, type Tokens } from "./usage.ts";
import { BrokenAnswer } from "./vendor-error.ts";

export interface OpenAiProviderOptions {
  settings: ProviderSettings;
  prices: PriceTable;
  /** @default the machine's own */
  clock?: Clock;
  /** @default the machine's own */
  fetch?: typeof globalThis.fetch;
}

/**
 * OpenAI's models, and those of every server that speaks like it: chat completions or Responses, as `settings.wire` says,
 * always streamed. One request for one call: whoever retries does it around this. Nothing of the process's environment
 * changes what it does.
 *
 * @example
 * const provider = createOpenAiProvider({ settings: presetSettings("ollama"), prices });
 * await provider.call({ model: "ollama/qwen3", ...request }, { signal, onDelta });
 */
export function createOpenAiProvider(options: OpenAiProviderOptions): ModelProvider {
  const { settings, prices, clock = systemClock(), fetch = globalThis.fetch } = options;
  const client = createClient(settings, fetch);
  const redact = redactorOf(settings);
  const dialect = dialectOf(settings);
  const nameOf = (model: string): string => model.slice(settings.id.length + 1);
  const windows = createWindows(settings, { clock, fetch });
  return {
    id: settings.id,
    async call(request, callOptions) {
      const to = { provider: settings.id, model: nameOf(request.model), dialect };
      const call = { settings, model: to.model, redact, answering: false, saidSomething: false, nowMs: clock.now() };
      if (callOptions.signal.aborted) throw cancelled();
      try {
        const said = await ask({ client, clock, request, to, options: callOptions, call });
        const truncation = isNearby(settings) ? await truncationIn(said, request, to.model) : null;
        if (truncation) throw truncation;
        return toReply(said, request, to, (tokens) => priced(tokens, said.model ?? to.model, to.model));
      } catch (thrown) {
        throw callOptions.signal.aborted ? cancelled() : toFailure(thrown, { ...call, nowMs: clock.now() });
      }
    },
    priceOf: async (model) => prices.priceOf(nameOf(model)),
    contextOf: (model) => contextOf(nameOf(model)),
  };

  /** What a local server is set to counts, not what its model could; of the others only OpenRouter tells. */
  async function contextOf(model: string): Promise<number | null> {
    const said = settings.models[model]?.contextTokens ?? (settings.isLocal ? null : prices.contextOf(model));
    if (said !== null || !(settings.isLocal || dialect === "openrouter")) return said;
    return (await windows.of(model))?.model.contextTokens ?? null;
  }

  async function truncationIn(said: Said, request: ModelRequest, model: string): Promise<RunFailure | null> {
    if (!looksTruncated(said, request)) return null;
    const window = await windows.of(model);
    const contextTokens = settings.models[model]?.contextTokens ?? window?.model.contextTokens ?? null;
    // Whoever is nearby, and is not said to be a local server, may be a gateway to anything.
    if (contextTokens === null && !settings.isLocal) return null;
    const kind = window?.kind ?? (isServerKind(settings.id) ? settings.id : "unknown");
    return truncationOf(said, request, { kind, model, contextTokens });
  }

  /** Whoever answered is sometimes known by a name that has no price, and sometimes by the only one that has. */
  function priced(tokens: Tokens, answered: string, asked: string): Usage {
    return { ...tokens, costUsd: prices.costOf(asked, tokens) ?? prices.costOf(answered, tokens) };
  }
}

interface Question {
  client: OpenAI;
  clock: Clock;
  request: ModelRequest;
  to: Addressee;
  options: ModelCallOptions;
  /** Told how far it has come, for whoever has to judge a failure. */
  call: FailedCall;
}

/** One request, and its answer to the end. */
async function ask({ client, clock, request, to, options, call }: Question): Promise<Said> {
  // One for each call: the SDK would leave its ear at a signal that lives longer.
  const abort = new AbortController();
  const stop = (): void => abort.abort(options.signal.reason);
  options.signal.addEventListener("abort", stop, { once: true });
  try {
    const isChat = call.settings.wire !== "openai-responses";
    const sent = isChat
      ? client.chat.completions.create(chatRequest(request, to), { signal: abort.signal })
      : client.responses.create(responsesRequest(request, to), { signal: abort.signal });
    const response = await sent.asResponse();
    call.answering = true;
    options.onActivity?.();
    const onActivity = (): void => options.onActivity?.();
    const answer = await openAnswer(client, response, { signal: abort.signal, clock, onActivity });
    const onText = (text: string): void => {
      if (options.signal.aborted) return;
      call.saidSomething = true;
      options.onDelta(text);
    };
    const said = await readAnswer(isChat ? createChatReader(onText) : createResponsesReader(onText), answer);
    // The SDK ends a stream that was given up as if it had come to its end.
    if (options.signal.aborted) throw cancelled();
    return said;
  } finally {
    options.signal.removeEventListener("abort", stop);
  }
}

async function readAnswer(reader: AnswerReader, answer: OpenAnswer): Promise<Said> {
  let count = 0;
  for await (const event of answer.events) {
    count += 1;
    if (reader.take(event)) break;
  }
  if (count === 0 && !answer.wasClosed())
    throw new BrokenAnswer({ status: null, code: null, message: "an empty answer" });
  const said = reader.end(answer.wasClosed());
  if (said) return said;
  throw new BrokenAnswer({ status: null, code: null, message: "the answer ended before it was whole" });
}

function toReply(said: Said, request: ModelRequest, to: Addressee, usageOf: (tokens: Tokens) => Usage): ModelReply {
  const calls = collectCalls(said.calls, request);
  const thinking = said.thoughts.map((thought) => ({ provider: to.provider, model: to.model, ...thought }));
  return {
    text: said.text,
    calls,
    usage: usageOf(said.tokens ?? estimatedTokens(request, wordsOf(said))),
    stopReason: said.stopReason,
    model: `${to.provider}/${said.model ?? to.model}`,
    ...(thinking.length > 0 ? { thinking } : {}),
  };
}

/** All that was put out, for an estimate of what it used. */
function wordsOf({ text, calls, thoughts }: Said): string {
  const args = calls.map((call) => call.name + call.arguments);
  return [text, ...args, ...thoughts.map(({ block }) => JSON.stringify(block))].join("");
}

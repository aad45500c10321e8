import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { RunError } from "@troupe/core";
import type { RunErrorType } from "@troupe/core/internal";
import { type Fault, type ScenarioAnswer, selectReply } from "@troupe/models";
import { end, type ServedCall } from "./calls.ts";
import { chanceFault } from "./chaos.ts";
import { conversationOf, questionOf } from "./count-tries.ts";
import { type Identity, identify } from "./identify.ts";
import { Refusal } from "./refusal.ts";
import type { ServerState } from "./start-model-server.ts";
import { type AnswerStream, streamAnswer, wait } from "./stream-answer.ts";
import { truncated } from "./truncate.ts";
import type { Wire, WireAnswer, WireRequest } from "./wire.ts";

interface Call {
  call: ServedCall;
  response: ServerResponse;
  wire: Wire;
  state: ServerState;
}

/** The scenario's answer to one model call, or the fault that stands in its place. */
export async function answerCall({ call, response, wire, state }: Call): Promise<void> {
  const { scenario, options, tries } = state;
  const open = wire.open(call.body, state);
  const { request } = open;
  const identity = identityOf(request, call.body, state);
  const question = questionOf(request, identity);
  const triesBefore = tries.count(question);
  const scenarioAnswer = selectReply(scenario, {
    ...identity,
    messages: request.messages,
    triesBefore,
    maxOutputTokens: request.maxOutputTokens ?? Number.POSITIVE_INFINITY,
  });
  const fault = scenarioAnswer.fault ?? (options.chaos ? chanceFault(options.chaos, question, triesBefore) : null);
  Object.assign(call, { identity, question, triesBefore, fault });
  state.calls.changed();
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  await wait(fault?.delayMs ?? 0, gone.signal);
  refuseByScript(fault, scenarioAnswer);
  const on = {
    head(): void {
      call.status = 200;
    },
    end: () => end(call, "answered"),
  };
  if (fault?.notWhatItSays) return otherBody(response, fault.notWhatItSays, on);

  const { outcome } = scenarioAnswer;
  const broken = outcome.kind === "error" ? errorFault(outcome.error, scenarioAnswer.deltas.length) : fault;
  const answer = answerOf(scenarioAnswer, request, idOf(question, triesBefore), state);
  const performance: AnswerStream = {
    frames: open.frames(answer),
    latencyMs: scenarioAnswer.latencyMs,
    fault: broken,
    chunkBytes: options.chunkBytes ?? null,
    headers: { [wire.requestIdHeader]: `req_${answer.id}` },
    signal: gone.signal,
    on,
  };
  if (request.stream) await streamAnswer(response, wire, performance);
  else await whole(response, open.whole(answer), performance);
  if (call.outcome === "answered" && !broken?.streamError) tries.answer(conversationOf(request, identity));
}

function identityOf(request: WireRequest, body: unknown, { scenario, options, tries }: ServerState): Identity {
  const found = identify(request, scenario, options.rootAgent ?? "main");
  const identity = { ...found, ...options.identify?.(request, body) };
  if (options.steps !== "answers" || identity.purpose !== "turn") return identity;
  return { ...identity, step: tries.answers(conversationOf(request, identity)) + 1 };
}

const statuses: Partial<Record<RunErrorType, number>> = {
  auth: 401,
  params: 400,
  network: 500,
  rate_limit: 429,
  permission: 403,
  budget: 402,
  timeout: 504,
};

/** Refused before anything of the answer was said. */
function refuseByScript(fault: Fault | null, { outcome, deltas }: ScenarioAnswer): void {
  if (fault?.status !== undefined) {
    const { status, code = null, retryAfterMs = null, message = "the scenario refuses this request" } = fault;
    throw new Refusal(status, message, { code, retryAfterMs });
  }
  if (outcome.kind === "error" && deltas.length === 0) {
    const { type, message, retryAfterMs } = outcome.error;
    throw new Refusal(statuses[type] ?? 500, message, { retryAfterMs });
  }
}

/** A scripted error after a text comes within the stream. */
function errorFault({ type, message }: RunError, afterPieces: number): Fault {
  return { streamError: { afterPieces, status: statuses[type] ?? 500, message } };
}

/** Equal in every test run, whatever the order of requests. */
function idOf(question: string, triesBefore: number): string {
  return createHash("sha256").update(`${question}\0${triesBefore}`).digest("hex").slice(0, 24);
}

function answerOf(scenarioAnswer: ScenarioAnswer, request: WireRequest, id: string, state: ServerState): WireAnswer {
  const { outcome, deltas } = scenarioAnswer;
  if (outcome.kind === "error") {
    const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: null };
    return { id, model: request.model, thinking: null, pieces: deltas, calls: [], usage, stopReason: "end" };
  }
  const { reply } = outcome;
  const thought = request.thinks ? reply.thinking?.[0]?.block.thinking : undefined;
  const answer: WireAnswer = {
    id,
    model: request.model,
    thinking: typeof thought === "string" ? thought : null,
    pieces: deltas,
    calls: reply.calls.map(({ id: callId, name, args }, i) => ({
      id: `call_${id}_${i}`,
      name,
      args: scenarioAnswer.rawArgs.get(callId) ?? JSON.stringify(args),
    })),
    usage: reply.usage,
    stopReason: reply.stopReason,
  };
  return truncated(answer, request, state.options.truncateTokens ?? null);
}

async function whole(response: ServerResponse, body: unknown, { latencyMs, fault, headers, signal, on }: AnswerStream) {
  await wait(latencyMs, signal);
  if (fault?.stall || fault?.halfOpen) return;
  if (fault?.streamError) throw new Refusal(fault.streamError.status, fault.streamError.message ?? "broken off");
  const text = JSON.stringify(body);
  on.head();
  if (!fault?.cut && !response.destroyed) on.end();
  response.writeHead(200, {
    ...headers,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(text),
  });
  if (!fault?.cut) return void response.end(text);
  await new Promise((resolve) => response.write(text.slice(0, text.length / 2), resolve));
  response.destroy();
}

function otherBody(response: ServerResponse, what: NonNullable<Fault["notWhatItSays"]>, on: AnswerStream["on"]): void {
  on.head();
  on.end();
  const bodies = {
    html: { type: "text/html", text: "<!doctype html><html><body><h1>It works!</h1></body></html>" },
    json: { type: "application/json", text: '{"hello":"world"}' },
    empty: { type: "text/event-stream", text: "" },
  };
  const { type, text } = bodies[what];
  response.writeHead(200, { "content-type": type });
  response.end(text);
}

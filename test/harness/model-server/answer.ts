import { createHash } from "node:crypto";
import type { ServerResponse } from "node:http";
import type { RunError } from "@troupe/core";
import type { RunErrorType } from "@troupe/core/internal";
import { type Fault, type ScenarioAnswer, selectReply } from "@troupe/models";
import { end, type ServedCall } from "./calls.ts";
import { chanceFault } from "./chaos.ts";
import { type Identity, identify } from "./identify.ts";
import { type Performance, stream, wait } from "./perform.ts";
import { Refusal } from "./refusal.ts";
import type { Stage } from "./start-model-server.ts";
import { conversationOf, questionOf } from "./tries.ts";
import { truncated } from "./truncate.ts";
import type { Wire, WireAnswer, WireRequest } from "./wire.ts";

interface Call {
  call: ServedCall;
  response: ServerResponse;
  wire: Wire;
  stage: Stage;
}

/** The scenario's answer to one model call, or the fault that stands in its place. */
export async function answerCall({ call, response, wire, stage }: Call): Promise<void> {
  const { scenario, options, tries } = stage;
  const open = wire.open(call.body, stage);
  const { request } = open;
  const asks = identityOf(request, call.body, stage);
  const question = questionOf(request, asks);
  const triesBefore = tries.count(question);
  const said = selectReply(scenario, {
    ...asks,
    messages: request.messages,
    triesBefore,
    maxOutputTokens: request.maxOutputTokens ?? Number.POSITIVE_INFINITY,
  });
  const fault = said.fault ?? (options.chaos ? chanceFault(options.chaos, question, triesBefore) : null);
  Object.assign(call, { asks, question, triesBefore, fault });
  stage.calls.changed();
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  await wait(fault?.delayMs ?? 0, gone.signal);
  refuseByScript(fault, said);
  const on = {
    head(): void {
      call.status = 200;
    },
    end: () => end(call, "answered"),
  };
  if (fault?.notWhatItSays) return somethingElse(response, fault.notWhatItSays, on);

  const { outcome } = said;
  const broken = outcome.kind === "error" ? errorFault(outcome.error, said.deltas.length) : fault;
  const answer = answerOf(said, request, idOf(question, triesBefore), stage);
  const performance: Performance = {
    frames: open.frames(answer),
    latencyMs: said.latencyMs,
    fault: broken,
    chunkBytes: options.chunkBytes ?? null,
    headers: { [wire.requestIdHeader]: `req_${answer.id}` },
    signal: gone.signal,
    on,
  };
  if (request.stream) await stream(response, wire, performance);
  else await whole(response, open.whole(answer), performance);
  if (call.outcome === "answered" && !broken?.streamError) tries.answer(conversationOf(request, asks));
}

function identityOf(request: WireRequest, body: unknown, { scenario, options, tries }: Stage): Identity {
  const found = identify(request, scenario, options.rootAgent ?? "main");
  const asks = { ...found, ...options.identify?.(request, body) };
  if (options.steps !== "answers" || asks.purpose !== "turn") return asks;
  return { ...asks, step: tries.answers(conversationOf(request, asks)) + 1 };
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

/** The same in every run, so that what follows from it is: in which order requests came does not count. */
function idOf(question: string, triesBefore: number): string {
  return createHash("sha256").update(`${question}\0${triesBefore}`).digest("hex").slice(0, 24);
}

function answerOf(said: ScenarioAnswer, request: WireRequest, id: string, stage: Stage): WireAnswer {
  const { outcome, deltas } = said;
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
      args: said.rawArgs.get(callId) ?? JSON.stringify(args),
    })),
    usage: reply.usage,
    stopReason: reply.stopReason,
  };
  return truncated(answer, request, stage.options.truncateTokens ?? null);
}

async function whole(response: ServerResponse, body: unknown, { latencyMs, fault, headers, signal, on }: Performance) {
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

function somethingElse(
  response: ServerResponse,
  what: NonNullable<Fault["notWhatItSays"]>,
  on: Performance["on"],
): void {
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

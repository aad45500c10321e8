import { hash } from "node:crypto";
import { providerOf } from "@troupe/core/internal";
import type { Transcript, TranscriptCall, TranscriptEvent, TranscriptRun } from "./transcript.ts";

type Value =
  | { stringValue: string }
  | { intValue: string }
  | { doubleValue: number }
  | { arrayValue: { values: Value[] } };
type Attributes = Record<string, string | number | string[] | null | undefined>;

interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Value }[];
  status: { code: number; message?: string };
}

const internal = 1;
const client = 3;
const failed = 2;

/**
 * The spans of a session as OTLP/JSON, with the GenAI semantic conventions: `invoke_workflow`, `invoke_agent`, `chat` and
 * `execute_tool`. A delegation is a call of the tool `delegate` above the child's `invoke_agent`. Spans have no contents.
 */
export function toOtlp(transcript: Transcript, troupe: string): string {
  const scopeSpans = [{ scope: { name: "troupe", version: troupe }, spans: spansOf(transcript) }];
  const resource = { attributes: attributes({ "service.name": "troupe", "service.version": troupe }) };
  return JSON.stringify({ resourceSpans: [{ resource, scopeSpans }] }, null, 2);
}

function spansOf({ session, runs }: Transcript): OtlpSpan[] {
  const traceId = session.replaceAll("-", "").padEnd(32, "0").slice(0, 32);
  const [first] = runs;
  if (!first) return [];
  const span = createSpans(traceId);
  const startMs = Math.min(...runs.map(({ startedAtMs }) => startedAtMs));
  const endMs = Math.max(...runs.map((run) => run.endedAtMs ?? lastAt(run)));
  const workflow = span({
    key: "workflow",
    parent: null,
    name: "invoke_workflow",
    kind: internal,
    times: [startMs, endMs],
    attributes: {
      "gen_ai.operation.name": "invoke_workflow",
      "gen_ai.conversation.id": session,
      "gen_ai.workflow.name": first.request.agent,
    },
    error: null,
  });
  return [workflow, ...runs.flatMap((run) => runSpans(run, { session, runs, span }))];
}

type MakeSpan = ReturnType<typeof createSpans>;

function createSpans(traceId: string) {
  return (given: {
    key: string;
    parent: string | null;
    name: string;
    kind: number;
    times: [startMs: number, endMs: number];
    attributes: Attributes;
    error: string | null;
  }): OtlpSpan => {
    const [startMs, endMs] = given.times;
    return {
      traceId,
      spanId: spanId(given.key),
      ...(given.parent === null ? {} : { parentSpanId: spanId(given.parent) }),
      name: given.name,
      kind: given.kind,
      startTimeUnixNano: nano(Math.min(startMs, endMs)),
      endTimeUnixNano: nano(endMs),
      attributes: attributes({ ...given.attributes, "error.type": given.error }),
      status: given.error === null ? { code: 0 } : { code: failed, message: given.error },
    };
  };
}

function runSpans(
  run: TranscriptRun,
  { session, runs, span }: { session: string; runs: readonly TranscriptRun[]; span: MakeSpan },
): OtlpSpan[] {
  const { request, response, model, startedAtMs, endedAtMs } = run;
  const endMs = endedAtMs ?? lastAt(run);
  const own = span({
    key: request.run,
    parent: callAbove(run, runs) ?? request.parent?.run ?? "workflow",
    name: `invoke_agent ${request.agent}`,
    kind: internal,
    times: [startedAtMs, endMs],
    attributes: {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.id": request.run,
      "gen_ai.agent.name": request.agent,
      "gen_ai.conversation.id": session,
      "gen_ai.request.model": model,
      "gen_ai.provider.name": providerOf(model),
    },
    error: response && !response.success ? (response.error?.type ?? response.status) : null,
  });
  return [own, ...run.events.flatMap((event) => eventSpans(event, run, span))];
}

/** The call of the parent that started the run. */
function callAbove({ request }: TranscriptRun, runs: readonly TranscriptRun[]): string | null {
  const { parent } = request;
  if (!parent || !runs.some((run) => run.request.run === parent.run)) return null;
  return callKey(parent.run, parent.step, parent.call);
}

function callKey(run: string, step: number, call: number): string {
  return `${run}/${step}/${call}`;
}

function eventSpans(event: TranscriptEvent, { request, model }: TranscriptRun, span: MakeSpan): OtlpSpan[] {
  if (event.kind !== "reply") return [];
  const { step, reply, durationMs } = event.entry;
  const { usage } = reply;
  const chat = span({
    key: `${request.run}/${step}`,
    parent: request.run,
    name: `chat ${model}`,
    kind: client,
    times: [event.atMs - durationMs, event.atMs],
    attributes: {
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": providerOf(model),
      "gen_ai.request.model": model,
      "gen_ai.response.model": reply.model,
      "gen_ai.response.finish_reasons": [reply.stopReason],
      "gen_ai.usage.input_tokens": usage.inputTokens,
      "gen_ai.usage.output_tokens": usage.outputTokens,
      "gen_ai.usage.cache_read.input_tokens": usage.cachedTokens,
      "gen_ai.usage.cache_creation.input_tokens": usage.cacheWriteTokens,
      "gen_ai.usage.reasoning.output_tokens": usage.reasoningTokens,
    },
    error: null,
  });
  return [chat, ...event.calls.map((call, i) => toolSpan(call, { run: request.run, step, i, atMs: event.atMs, span }))];
}

function toolSpan(
  { name, result, children }: TranscriptCall,
  { run, step, i, atMs, span }: { run: string; step: number; i: number; atMs: number; span: MakeSpan },
): OtlpSpan {
  const endMs = result?.atMs ?? atMs;
  return span({
    key: callKey(run, step, i),
    parent: run,
    name: `execute_tool ${name}`,
    kind: internal,
    times: [children.length > 0 ? atMs : endMs - (result?.durationMs ?? 0), endMs],
    attributes: {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": name,
      "gen_ai.tool.type": "function",
      "gen_ai.tool.call.id": callKey(run, step, i),
    },
    error: result?.isError ? "tool_error" : null,
  });
}

function lastAt({ events, startedAtMs }: TranscriptRun): number {
  return events.at(-1)?.atMs ?? startedAtMs;
}

function spanId(key: string): string {
  return hash("sha256", key).slice(0, 16);
}

function nano(atMs: number): string {
  return `${BigInt(Math.round(atMs * 1_000)) * 1_000n}`;
}

function attributes(given: Attributes): OtlpSpan["attributes"] {
  return Object.entries(given).flatMap(([key, value]) =>
    value === null || value === undefined ? [] : [{ key, value: toValue(value) }],
  );
}

function toValue(value: string | number | string[]): Value {
  if (typeof value === "string") return { stringValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(toValue) } };
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

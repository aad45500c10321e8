import type { Message, ModelReply, ModelRequest, RunError, ToolCall, Usage } from "@troupe/core";
import type { ModelPrice, Thinking } from "@troupe/core/internal";
import { readArguments } from "../wire/tool-calls.ts";
import { type Fault, type Scenario, type Script, type ScriptedStep, taskMatches } from "./scenario.ts";
import { fillJson, fillText, type TemplateValues } from "./templates.ts";

/** Everything that an answer can depend on. */
export interface ScenarioQuestion {
  agent: string;
  task: string;
  attempt: number;
  /** Null when unknown: then no script with a `depth` matches. */
  depth: number | null;
  /** Whether the run is a further turn of a session. @default unknown: then no script with `continued` matches */
  continued?: boolean;
  /** Turn of the run, from 1, even when its conversation was shortened. */
  step: number;
  messages: readonly Message[];
  /** Purpose of the call. @default "turn" */
  purpose?: NonNullable<ModelRequest["origin"]["purpose"]>;
  /** @default no limit */
  maxOutputTokens?: number;
  /** Failed requests for this answer so far. Each has used up one fault. @default 0 */
  triesBefore?: number;
}

/**
 * An answer and its timing: `deltas` are streamed over `latencyMs`, then the reply or the error follows. A `fault`
 * breaks this answer.
 */
export interface ScenarioAnswer {
  latencyMs: number;
  deltas: string[];
  fault: Fault | null;
  /** Scripted raw arguments, by the id of their call. */
  rawArgs: ReadonlyMap<string, string>;
  outcome: { kind: "reply"; reply: ModelReply } | { kind: "error"; error: RunError };
}

/**
 * Selects the answer of a scenario. Pure and total: the same question always gets the same answer, and a question
 * without a scripted answer gets an error.
 *
 * @example
 * const answer = selectReply(scenario, { agent: "main", task: "hello", attempt: 1, depth: 0, step: 1, messages: [] });
 */
export function selectReply(scenario: Scenario, question: ScenarioQuestion): ScenarioAnswer {
  const { agent, step, purpose = "turn" } = question;
  const scripts = Object.hasOwn(scenario.agents, agent) ? scenario.agents[agent] : undefined;
  if (!scripts) {
    return noAnswer(scenario, `it has no agent ${agent}, only ${Object.keys(scenario.agents).join(", ")}`);
  }
  const script = scripts.find((candidate) => isFor(candidate, question));
  if (!script) return noAnswer(scenario, `no script of ${agent} is for attempt ${question.attempt} at this task`);
  if (purpose !== "turn") {
    const aside = script[purpose];
    return aside ? answerOf(scenario, aside, question) : noAnswer(scenario, `the script of ${agent} has no ${purpose}`);
  }
  const scripted = stepOf(script, step);
  if (!scripted) return noAnswer(scenario, `the script of ${agent} ends after step ${script.steps.length}`);
  return answerOf(scenario, scripted, question);
}

function isFor({ when }: Script, { task, attempt, depth, continued }: ScenarioQuestion): boolean {
  return (
    (when.task === undefined || taskMatches(when.task, task)) &&
    (when.attempt === undefined || when.attempt === attempt) &&
    (when.depth === undefined || when.depth === depth) &&
    (when.continued === undefined || when.continued === continued)
  );
}

function stepOf({ steps }: Script, step: number): ScriptedStep | undefined {
  const last = steps.at(-1);
  return steps[step - 1] ?? (last?.repeat && step > steps.length ? last : undefined);
}

function answerOf(scenario: Scenario, scripted: ScriptedStep, question: ScenarioQuestion): ScenarioAnswer {
  const { latencyMs, error } = scripted;
  const { task, attempt, messages, step, maxOutputTokens = Number.POSITIVE_INFINITY } = question;
  const values = { task, attempt, results: lastResults(messages) };
  const output = { text: fillText(scripted.text, values), calls: callsOf(scripted, step, values) };
  const { text, calls, stopReason, outputTokens } = truncate(output, scripted.usage?.outputTokens, maxOutputTokens);
  const fault = scripted.faults?.[question.triesBefore ?? 0] ?? null;
  const given = { latencyMs, deltas: splitText(text, piecesOf(scripted)), fault, rawArgs: rawArgsOf(scripted, step) };
  if (error) return { ...given, outcome: { kind: "error", error: { ...error, tool: null } } };
  const inputTokens = tokensOf(messages.reduce((sum, message) => sum + message.text.length + callsLength(message), 0));
  const usage = usageOf({ inputTokens, cachedTokens: 0, ...scripted.usage, outputTokens }, scenario.price);
  const reply: ModelReply = { text, calls, usage, stopReason, model: `scripted/${scenario.name}` };
  if (scripted.thinking) reply.thinking = [thinkingOf(fillText(scripted.thinking, values), scenario)];
  return { ...given, outcome: { kind: "reply", reply } };
}

function thinkingOf(thinking: string, { name }: Scenario): Thinking {
  const block = { type: "thinking", thinking };
  return { provider: "scripted", model: name, textBefore: 0, callsBefore: 0, block };
}

function callsOf(scripted: ScriptedStep, step: number, values: TemplateValues): ToolCall[] {
  return scripted.calls.map(({ tool, args, rawArgs }, i) => ({
    id: callId(step, i),
    name: tool,
    ...(rawArgs === undefined ? { args: fillJson(args, values), problem: null } : readArguments(rawArgs)),
  }));
}

function rawArgsOf({ calls }: ScriptedStep, step: number): ReadonlyMap<string, string> {
  return new Map(calls.flatMap(({ rawArgs }, i) => (rawArgs === undefined ? [] : [[callId(step, i), rawArgs]])));
}

function callId(step: number, call: number): string {
  return `call_${step}_${call}`;
}

function piecesOf({ deltas, latencyMs }: ScriptedStep): number {
  if (typeof deltas === "number") return deltas;
  return "pieces" in deltas ? deltas.pieces : Math.max(1, Math.floor(latencyMs / deltas.everyMs));
}

/** Results of the last turn, in the order of its calls. */
function lastResults(messages: readonly Message[]): string[] {
  const last = messages.findLastIndex((message) => message.role === "assistant");
  const turn = messages[last];
  if (turn?.role !== "assistant") return [];
  const byCall = new Map<string, string>();
  for (const message of messages.slice(last + 1)) {
    if (message.role === "tool") byCall.set(message.callId, message.text);
  }
  return turn.calls.map(({ id }) => byCall.get(id) ?? "");
}

/** An error of type `params`, since a retry cannot help. */
function noAnswer({ name }: Scenario, reason: string): ScenarioAnswer {
  const message = `the scenario ${name} has no answer: ${reason}`;
  return {
    latencyMs: 0,
    deltas: [],
    fault: null,
    rawArgs: new Map(),
    outcome: {
      kind: "error",
      error: { type: "params", message, tool: null, recoverable: false, retryAfterMs: null },
    },
  };
}

const charactersPerToken = 4;

/** Estimated tokens of a text. */
function tokensOf(characters: number): number {
  return Math.ceil(characters / charactersPerToken);
}

function callsLength(message: Message): number {
  return message.role === "assistant" ? lengthOf(message.calls) : 0;
}

function lengthOf(calls: readonly ToolCall[]): number {
  return calls.length > 0 ? JSON.stringify(calls).length : 0;
}

interface ScriptedOutput {
  text: string;
  calls: ToolCall[];
}

/** Cutting a text inside a surrogate pair leaves this at its end. */
const halfCharacter = /[\uD800-\uDBFF]$/;

/**
 * Cuts an output at the token limit, as a real model's output is. An incomplete call is dropped.
 *
 * @param scriptedTokens the size that the script gives for the output, in place of the estimate
 */
function truncate(
  { text, calls }: ScriptedOutput,
  scriptedTokens: number | undefined,
  maxOutputTokens: number,
): ScriptedOutput & { stopReason: ModelReply["stopReason"]; outputTokens: number } {
  const outputTokens = scriptedTokens ?? tokensOf(text.length + lengthOf(calls));
  if (outputTokens <= maxOutputTokens) {
    return { text, calls, outputTokens, stopReason: calls.length > 0 ? "tool_calls" : "end" };
  }
  const cut = text.slice(0, maxOutputTokens * charactersPerToken).replace(halfCharacter, "");
  return { text: cut, calls: [], outputTokens: maxOutputTokens, stopReason: "max_tokens" };
}

/** A scripted cost wins over the price; without either the cost is null. */
function usageOf(
  used: Omit<Usage, "costUsd"> & { costUsd?: number | null | undefined },
  price: ModelPrice | null,
): Usage {
  const { inputTokens, outputTokens } = used;
  const costUsd = price && (inputTokens * price.inputPerMillion + outputTokens * price.outputPerMillion) / 1_000_000;
  return { ...used, costUsd: used.costUsd === undefined ? costUsd : used.costUsd };
}

/** Cuts a text into at most this many pieces, at word boundaries. Joined, they are the text again. */
function splitText(text: string, pieces: number): string[] {
  const words = text.match(/\s*\S+\s*|\s+/g) ?? [];
  const count = Math.min(pieces, words.length);
  const boundary = (piece: number): number => Math.ceil((piece * words.length) / count);
  return Array.from({ length: count }, (_, i) => words.slice(boundary(i), boundary(i + 1)).join(""));
}

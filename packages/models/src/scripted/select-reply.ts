import type { Message, ModelReply, ModelRequest, RunError, ToolCall } from "@troupe/core";
import type { Thinking } from "@troupe/core/internal";
import { readArguments } from "../wire/tool-calls.ts";
import type { Fault } from "./fault.ts";
import { boundReply, callsLength, tokensOf, usageOf } from "./reply-usage.ts";
import type { Scenario, Script, ScriptedStep } from "./scenario.ts";
import { splitText } from "./split-text.ts";
import { taskMatches } from "./task-matcher.ts";
import { fillJson, fillText, type TemplateValues } from "./templates.ts";

/** All that an answer can depend on. */
export interface ScenarioQuestion {
  agent: string;
  task: string;
  attempt: number;
  /** Null where it is not known: scripts that ask for a depth are then passed over. */
  depth: number | null;
  /** Whether it is another turn of a session. @default not known: scripts that ask for it are then passed over */
  continued?: boolean;
  /** Counted from 1, by the turns of the run, however much of its conversation is left. */
  step: number;
  messages: readonly Message[];
  /** What the call is for. @default "turn" */
  purpose?: NonNullable<ModelRequest["origin"]["purpose"]>;
  /** The most that may be said. @default as much as is scripted */
  maxOutputTokens?: number;
  /** Requests for this very answer that failed already: each has used up one of its faults. @default 0 */
  triesBefore?: number;
}

/**
 * An answer, and how it is to be given: `deltas` are streamed over `latencyMs`, then comes the reply or the error. Where
 * there is a fault, this is the answer that it spoils.
 */
export interface ScenarioAnswer {
  latencyMs: number;
  deltas: string[];
  fault: Fault | null;
  /** Arguments as they come over the wire, where the script says so; by the call's id. */
  rawArgs: ReadonlyMap<string, string>;
  outcome: { kind: "reply"; reply: ModelReply } | { kind: "error"; error: RunError };
}

/**
 * What a scenario answers to a question. Pure and total: the same question gets the same answer, for ever, and what
 * the scenario has no answer to gets an error as its answer.
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
  const said = { text: fillText(scripted.text, values), calls: callsOf(scripted, step, values) };
  const { text, calls, stopReason, outputTokens } = boundReply(said, scripted.usage?.outputTokens, maxOutputTokens);
  const fault = scripted.faults?.[question.triesBefore ?? 0] ?? null;
  const given = { latencyMs, deltas: splitText(text, piecesOf(scripted)), fault, rawArgs: rawArgsOf(scripted, step) };
  if (error) return { ...given, outcome: { kind: "error", error: { ...error, tool: null } } };
  const inputTokens = tokensOf(messages.reduce((sum, message) => sum + message.text.length + callsLength(message), 0));
  const usage = usageOf({ inputTokens, cachedTokens: 0, ...scripted.usage, outputTokens }, scenario.price);
  const reply: ModelReply = { text, calls, usage, stopReason, model: `scripted/${scenario.name}` };
  if (scripted.thinking) reply.thinking = [thoughtOf(fillText(scripted.thinking, values), scenario)];
  return { ...given, outcome: { kind: "reply", reply } };
}

function thoughtOf(thinking: string, { name }: Scenario): Thinking {
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

/** Results of the last turn in the order of its calls, however they came in. */
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

/** Of type `params`: asking again cannot help. */
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

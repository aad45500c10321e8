import type { Message, ModelReply, ModelRequest, RunError, ToolCall } from "@troupe/core";
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
  /** Counted from 1. The conversation tells it no longer: it may hold the turns before, or have been shortened. */
  step: number;
  messages: readonly Message[];
  /** What the call is for. @default "turn" */
  purpose?: NonNullable<ModelRequest["origin"]["purpose"]>;
  /** The most that may be said. @default as much as is scripted */
  maxOutputTokens?: number;
}

/** An answer, and how it is to be given: `deltas` are streamed over `latencyMs`, then comes the reply or the error. */
export interface ScenarioAnswer {
  latencyMs: number;
  deltas: string[];
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

function isFor({ when }: Script, { task, attempt, depth }: ScenarioQuestion): boolean {
  return (
    (when.task === undefined || taskMatches(when.task, task)) &&
    (when.attempt === undefined || when.attempt === attempt) &&
    (when.depth === undefined || when.depth === depth)
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
  const deltas = splitText(text, piecesOf(scripted));
  if (error) return { latencyMs, deltas, outcome: { kind: "error", error: { ...error, tool: null } } };
  const inputTokens = tokensOf(messages.reduce((sum, message) => sum + message.text.length + callsLength(message), 0));
  const usage = usageOf({ inputTokens, cachedTokens: 0, ...scripted.usage, outputTokens }, scenario.price);
  const reply: ModelReply = { text, calls, usage, stopReason, model: `scripted/${scenario.name}` };
  return { latencyMs, deltas, outcome: { kind: "reply", reply } };
}

function callsOf(scripted: ScriptedStep, step: number, values: TemplateValues): ToolCall[] {
  return scripted.calls.map(({ tool, args }, i) => ({
    id: `call_${step}_${i}`,
    name: tool,
    args: fillJson(args, values),
    problem: null,
  }));
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
    outcome: {
      kind: "error",
      error: { type: "params", message, tool: null, recoverable: false, retryAfterMs: null },
    },
  };
}

import { approvalId } from "../../protocol/approval.ts";
import type { ModelReply } from "../../protocol/model.ts";
import { notStartedResponse } from "../../protocol/response.ts";
import { permanentError, type RunError, RunErrorType } from "../../protocol/run-error.ts";
import { ToolOutcome } from "../../protocol/tool.ts";
import { wasNotCharged } from "../agent/model-retry.ts";
import type { Effect, EffectOf } from "../effects.ts";
import { compacted, trimmed } from "../fixtures.test-helper.ts";
import type { FactBody } from "../machine-driver.test-helper.ts";
import { describeReply, randomReply } from "./model-replies.test-helper.ts";
import type { Random } from "./random.test-helper.ts";
import type { SimulatedRun } from "./run.test-helper.ts";
import type { Faults } from "./scenario.test-helper.ts";
import { type ModelEffect, usageOf } from "./spending.test-helper.ts";

/** The outcome of an effect and its real usage. */
export interface Outcome {
  body: FactBody;
  /** Null if nothing was used. */
  usage: ModelReply["usage"] | null;
  /** Whether the run cannot know the real usage. */
  isUnknown: boolean;
  words: string;
}

interface OutcomeOptions {
  run: SimulatedRun;
  random: Random;
  faults: Faults;
  mayDelegate: boolean;
  mayStream: boolean;
}

function outcome(body: FactBody, words = "", usage: Outcome["usage"] = null, isUnknown = false): Outcome {
  return { body, usage, isUnknown, words };
}

/** A random outcome; null for effects without their own outcome (a running child, a cancel). */
export function outcomeOf(effect: Effect, options: OutcomeOptions): Outcome | null {
  switch (effect.kind) {
    case "assessIntent":
      return assessed(effect, options);
    case "callModel":
      return replied(effect, options);
    case "summarise":
      return summarised(effect, options);
    case "trim":
      return outcome(trimmed(effect), effect.results.join(" "));
    case "compact":
      return compactionEnded(effect, options);
    case "callTool":
      return toolEnded(effect, options);
    case "askApproval":
      return outcome(approvalRequested(effect.run, 0, 0, null));
    case "planCalls": {
      const { step, children, refused } = effect;
      return outcome({ kind: "calls.planned", step, children: [...children], refused: [...refused] });
    }
    case "dropChild": {
      const { step, call, item, attempt, response } = effect;
      return outcome({ kind: "child.settled", step, call, item, attempt, response }, response.error?.message);
    }
    case "startTimer":
      return outcome({ kind: "timer.fired", timer: effect.timer });
    case "checkChildren": {
      const results = effect.checks.map(({ child, agent, verifier }) => ({
        ...{ child, agent, verifier: verifier.name },
        failures: options.random.chance(40) ? ["it is not there"] : [],
      }));
      return outcome({ kind: "children.checked", round: effect.round, results }, `${results.length} results`);
    }
    case "verify": {
      const failures = options.random.chance(40) ? ["it is not there"] : [];
      return outcome({ kind: "verify.finished", round: effect.round, failures }, `${failures.length} failures`);
    }
    case "settle":
      return outcome({ kind: "run.settled", response: effect.response }, inFigures(effect));
    case "runChild":
    case "cancelChild":
      return null;
  }
}

/** The response of a child that its host could not offer. */
export function notAsked({ step, call, item, request }: EffectOf<"runChild">): FactBody {
  const response = notStartedResponse(
    request,
    "rejected",
    permanentError("params", "a file that was to come along is not there"),
  );
  return { kind: "child.settled", step, call, item, attempt: request.attempt, response };
}

function replied(effect: EffectOf<"callModel">, options: OutcomeOptions): Outcome {
  const { run, random, faults, mayDelegate, mayStream } = options;
  const { step } = effect;
  const error = faults.failures && random.chance(10) ? randomError(random) : null;
  if (error) return failedCall({ kind: "model.failed", step, error, durationMs: 1 }, error, effect, options);
  const isDone = faults.none || (effect.lastTurn && random.chance(80));
  const content = randomReply(run, { isDone, mayDelegate, mayStream, mayMisbehave: faults.failures }, random);
  const usage = usageOf(effect, run, random);
  const body = { kind: "model.replied" as const, step, reply: { ...content, usage, model: "any" }, durationMs: 1 };
  return outcome(body, describeReply(content), usage);
}

function assessed(effect: EffectOf<"assessIntent">, options: OutcomeOptions): Outcome {
  const { run, random, faults } = options;
  const isCalled = effect.maxOutputTokens > 0 && run.pin.definition.intent === "model";
  const risk = faults.people && random.chance(30) ? ("high" as const) : ("low" as const);
  const assessment = { kind: "intent.assessed" as const, intent: { ...run.context.intent, risk }, usage: null };
  if (!isCalled) return outcome(assessment, "without a call");
  if (faults.failures && random.chance(30)) return failedCall(assessment, randomError(random), effect, options);
  const usage = usageOf(effect, run, random);
  return outcome({ ...assessment, usage }, risk, usage);
}

function summarised(effect: EffectOf<"summarise">, options: OutcomeOptions): Outcome {
  const { run, random, faults } = options;
  const nothing = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0 };
  const summary = { kind: "context.summarised" as const, step: effect.step, text: "in short", durationMs: 1 };
  if (effect.maxOutputTokens === 0) {
    return outcome({ ...summary, usage: nothing, error: permanentError("budget", "no room") }, "without a call");
  }
  const error = faults.failures && random.chance(30) ? randomError(random) : null;
  if (error) return failedCall({ ...summary, usage: nothing, error }, error, effect, options);
  const usage = usageOf(effect, run, random);
  return outcome({ ...summary, usage, error: null }, "", usage);
}

function compactionEnded(effect: EffectOf<"compact">, options: OutcomeOptions): Outcome {
  const { run, random, faults } = options;
  const text = "so far ".repeat(random.below(effect.textTokensMax / 3));
  const nothing = { inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: 0 };
  if (effect.maxOutputTokens === 0) {
    const error = permanentError("budget", "no room");
    return outcome(compacted(effect, { text, usage: nothing, error }), "without a call");
  }
  const error = faults.failures && random.chance(30) ? randomError(random) : null;
  if (error) return failedCall(compacted(effect, { text, usage: nothing, error }), error, effect, options);
  const usage = usageOf(effect, run, random);
  return outcome({ ...compacted(effect, { text }), usage }, "", usage);
}

/** A failed call may have been charged, unless it was refused before the model began. */
function failedCall(body: FactBody, error: RunError, effect: ModelEffect, { run, random }: OutcomeOptions): Outcome {
  const words = `fails: ${error.type}${error.recoverable ? ", recoverable" : ""}`;
  if (wasNotCharged(error)) return outcome(body, words, null, effect.kind === "assessIntent");
  return outcome(body, words, usageOf(effect, run, random), true);
}

function toolEnded(
  { run, step, call, toolCall, approved }: EffectOf<"callTool">,
  { random, faults }: OutcomeOptions,
): Outcome {
  if (!approved && faults.people && random.chance(25)) {
    return outcome(approvalRequested(run, step, call, toolCall.name), "has to be allowed");
  }
  const error = random.chance(20) ? permanentError("tool_error", "it broke") : null;
  const output = "line\n".repeat(random.below(random.chance(35) ? 600 : 20));
  const result = ToolOutcome.parse({ output, error, inDoubt: faults.crashes && random.chance(5) });
  return outcome({ kind: "tool.finished", step, call, tool: toolCall.name, outcome: result }, error ? "fails" : "");
}

function approvalRequested(run: string, step: number, call: number, tool: string | null): FactBody {
  const id = approvalId({ run, step, call, argsHash: "" });
  const approval = { id, tool, args: {}, risk: "high" as const, reason: "high risk", path: ["main"] };
  return { kind: "approval.requested", step, call, approval };
}

/** Half of the errors are temporary ones, which are retried. */
function randomError(random: Random): RunError {
  const type = random.chance(50)
    ? random.of(["network", "timeout", "rate_limit"] as const)
    : random.of(RunErrorType.options);
  const begun = random.of([{}, { begun: true }, { begun: false }]);
  const tries = random.of([{}, { tries: 1 + random.below(5) }]);
  const retryAfterMs = random.of([null, 800]);
  return { type, message: "it broke", tool: null, recoverable: random.chance(70), retryAfterMs, ...begun, ...tries };
}

function inFigures({ response }: EffectOf<"settle">): string {
  const { tokens, costUsd, toolCalls, spawns } = response.metrics.charged;
  const charged = `charged ${tokens} tokens, ${costUsd} USD, ${toolCalls} tool calls, ${spawns} runs`;
  return `${response.status}${response.error ? ` (${response.error.type}: ${response.error.message})` : ""}; ${charged}`;
}

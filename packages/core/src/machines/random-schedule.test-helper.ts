import fc from "fast-check";
import { spawnReply } from "../delegation/spawn-command.ts";
import type { Limits } from "../protocol/limits.ts";
import type { RunRequest } from "../protocol/request.ts";
import type { ToolCall } from "../protocol/tool.ts";
import { runningTasks } from "./agent/task-ids.ts";
import { type Effect, type EffectOf, effectKey } from "./effects.ts";
import {
  aBatch,
  anError,
  answered,
  approvalRequested,
  aToolCall,
  cancelled,
  checkedChildren,
  childSettled,
  childWaiting,
  claimed,
  commanded,
  compacted,
  delegateTo,
  intentAssessed,
  modelFailed,
  reply,
  type SpecChanges,
  settledWith,
  timerFired,
  toolFinished,
  trimmed,
  verified,
} from "./fixtures.test-helper.ts";
import type { FactBody, MachineDriver } from "./machine-driver.test-helper.ts";

/** One step of a random schedule: the kind of event, the effect, and its outcome. */
export interface Choice {
  kind: "outcome" | "command" | "noise" | "hint";
  which: number;
  how: number;
  elapsedMs: number;
}

const outcomes = Array<Choice["kind"]>(8).fill("outcome");
const choice: fc.Arbitrary<Choice> = fc.record({
  kind: fc.constantFrom<Choice["kind"]>(...outcomes, "command", "command", "noise", "hint"),
  which: fc.nat(1_000),
  how: fc.nat(1_000),
  elapsedMs: fc.constantFrom(0, 1, 500, 20_000),
});

export const schedule = fc.array(choice, { minLength: 1, maxLength: 80, size: "max" });

const price = { inputPerMillion: 3, outputPerMillion: 15 };

export const setting: fc.Arbitrary<SpecChanges> = fc.record({
  limits: fc.record<Partial<Limits>>({
    maxIterations: fc.integer({ min: 1, max: 15 }),
    maxToolCalls: fc.integer({ min: 1, max: 40 }),
    maxParallelTools: fc.integer({ min: 1, max: 3 }),
    maxConcurrent: fc.integer({ min: 1, max: 3 }),
    maxOutputTokens: fc.constantFrom(300, 8_192),
    maxTokens: fc.constantFrom(null, null, 20_000),
    maxCostUsd: fc.constantFrom(null, null, 0.2),
    maxDurationMs: fc.constantFrom(60_000, 300_000),
    maxContextTokens: fc.constantFrom(null, null, 1_500, 3_000),
  }),
  budget: fc.record({
    tokens: fc.constantFrom(null, null, null, 4_000, 60_000),
    costUsd: fc.constantFrom(null, null, 0.2),
    toolCalls: fc.constantFrom(null, null, null, 8),
    spawns: fc.constantFrom(null, null, 3),
  }),
  definition: fc.record({
    intent: fc.constantFrom("direct" as const, "direct" as const, "model" as const),
    verifiers: fc.constantFrom([], [{ name: "exists", params: {} }]),
    childVerifiers: fc.constantFrom([], [{ name: "exists", params: {}, agent: null, words: [] }]),
    triggers: fc.constantFrom([], [{ words: ["task", "everything"], agent: "writer", after: ["read"] }]),
  }),
  price: fc.constant(price),
});

/** Some requests begin with `/spawn`. */
export const requested: fc.Arbitrary<Partial<RunRequest>> = fc.constantFrom(
  {},
  {},
  { task: "/spawn helper help", spawn: { agent: "helper", task: "help" } },
  { task: "/spawn missing help", spawn: { agent: "missing", task: "help" } },
);

function pick<T>(how: number, ...options: T[]): T {
  return options[how % options.length] as T;
}

/** Calls that the model may make next. Some repeat. */
function callsFor(d: MachineDriver, how: number): ToolCall[] {
  const running = Object.values(d.context().batches).flatMap(runningTasks);
  const other = { path: `${how}.txt` };
  const tasks = [
    { name: "a" },
    { name: "b", after: ["a"] },
    { name: "c" },
    { name: "d", after: ["b", "c"], task: `${how}` },
  ];
  const mode = pick(how >> 3, "parallel", "parallel_streaming", "parallel_streaming", "sequential");
  const policy = pick(how >> 4, "continue", "all", "any", "quorum 2");
  return pick<ToolCall[]>(
    how,
    [],
    [aToolCall("read")],
    [aToolCall("read"), aToolCall("shell"), aToolCall("read", other), aToolCall("write", other)],
    [delegateTo("helper", `${how}`), delegateTo("writer"), aToolCall("shell", other)],
    [delegateTo("missing"), aToolCall("read", other), delegateTo("helper"), aToolCall("delegate", { agent: "helper" })],
    [aBatch(tasks, { mode, policy })],
    [aBatch(tasks, { mode, policy }), aToolCall("shell", other)],
    [aBatch([{ context: "summary", task: `${how}`, retry: { alternative: "writer" } }, { context: "full" }], { mode })],
    [aToolCall("delegate", { cancel: running.length > 0 ? [pick(how >> 2, ...running).handle] : ["1.0.0"] })],
  );
}

function replyTo(d: MachineDriver, { step }: EffectOf<"callModel">, how: number): FactBody {
  const { request } = d.context();
  if (request.spawn && step === 1) {
    return { kind: "model.replied", step, reply: spawnReply(request.spawn, request), durationMs: 0 };
  }
  if (how % 97 === 0) return modelFailed(step);
  if (how % 11 === 0) return modelFailed(step, { type: "rate_limit", retryAfterMs: pick(how, null, 30_000) });
  const text = pick(how, `words ${how}`, `words ${how}`, "");
  const usage = { inputTokens: 60, costUsd: pick(how >> 1, 0.000_2, 0.000_2, 0) };
  return reply(step, text, callsFor(d, how), { usage });
}

/** A child's outcome within its budget. */
function childOutcome({ step, call, item, request }: EffectOf<"runChild">, how: number): FactBody {
  const error = pick(how, null, null, anError(), anError({ recoverable: false }), anError({ retryAfterMs: 40_000 }));
  const { tokens, costUsd, toolCalls, spawns } = request.budget;
  const most = (limit: number | null, wanted: number): number => Math.min(limit ?? wanted, wanted);
  const charged = {
    tokens: most(tokens, how * 3),
    costUsd: most(costUsd, 0.01),
    toolCalls: most(toolCalls, how % 3),
    spawns: most(spawns, how % 2),
  };
  return childSettled(step, call, { error, charged }, request.attempt, item);
}

/** A random outcome of an effect; null if it has none. */
export function outcomeOf(d: MachineDriver, effect: Effect, how: number): FactBody | null {
  switch (effect.kind) {
    case "assessIntent":
      return intentAssessed(pick(how, "low", "medium", "high"));
    case "askApproval":
      return approvalRequested(0, 0, null);
    case "callModel":
      return replyTo(d, effect, how);
    case "planCalls":
      return { kind: "calls.planned", step: effect.step, children: [...effect.children], refused: [...effect.refused] };
    case "summarise": {
      const usage = { inputTokens: effect.maxOutputTokens > 0 ? 50 : 0, outputTokens: 0, cachedTokens: 0, costUsd: 0 };
      return {
        kind: "context.summarised",
        step: effect.step,
        text: `in short ${how}`,
        usage,
        error: null,
        durationMs: 1,
      };
    }
    case "trim":
      return trimmed(effect);
    case "compact": {
      const text = "so far ".repeat(how % (effect.textTokensMax / 3));
      const isCalled = effect.maxOutputTokens > 0;
      const usage = { inputTokens: isCalled ? 50 : 0, outputTokens: 0, costUsd: 0 };
      return compacted(effect, { text, usage, error: isCalled ? null : anError({ type: "budget" }) });
    }
    case "callTool": {
      const { step, call, toolCall, approved } = effect;
      if (!approved && toolCall.name === "shell") return approvalRequested(step, call);
      const error = pick(how, null, null, anError({ type: "tool_error" }));
      const output = `out ${how} `.repeat(pick(how >> 2, 1, 1, 100));
      return toolFinished(step, call, output, { tool: toolCall.name, error, inDoubt: how % 7 === 0 });
    }
    case "runChild":
      return childOutcome(effect, how);
    case "dropChild": {
      const { step, call, item, attempt, response } = effect;
      return { kind: "child.settled", step, call, item, attempt, response };
    }
    case "cancelChild":
      return null;
    case "startTimer":
      return timerFired(effect.timer);
    case "checkChildren":
      return checkedChildren(effect, pick(how, [], ["no"]));
    case "verify":
      return verified(effect.round, pick(how, [], ["no"]));
    case "settle":
      return settledWith(effect.response);
  }
}

/** Answers to all open approvals. */
export function answersTo(d: MachineDriver, how: number): FactBody[] {
  const { pendingApproval, calls } = d.context();
  const asked = calls.flatMap(({ phase, approval }) => (phase === "waiting" && approval ? [approval] : []));
  const scope = pick(how >> 1, "once" as const, "once" as const, "run" as const);
  return [...(pendingApproval ? [pendingApproval] : []), ...asked].map((id) => answered(id, how % 3 !== 0, { scope }));
}

/** Commands of people, and reports of waiting children. */
function command(d: MachineDriver, how: number): FactBody {
  const { step, children } = d.context();
  const child = pick(how, ...Object.values(children));
  const place = child ?? { step: Math.max(1, step), call: 0, item: 0, attempt: 1 };
  const facts: FactBody[] = [
    ...answersTo(d, how),
    ...answersTo(d, how + 1),
    commanded({ kind: "run.paused" }),
    commanded({ kind: "run.resumed" }),
    commanded({ kind: "run.resumed" }),
    commanded({ kind: "run.steered", text: `do ${how}` }),
    { ...childWaiting(place.step, place.call, how % 2 === 0, place.item), attempt: place.attempt } as FactBody,
    claimed(),
    { kind: "run.parked", reason: pick(how, "drain" as const, "approval" as const, "pause" as const) },
  ];
  if (how % 17 === 0) facts.push(cancelled(), commanded({ kind: "run.cancelled", reason: "this one" }));
  return pick(how, ...facts);
}

/** Late, early and foreign facts. */
function noise(d: MachineDriver, how: number): FactBody {
  const { step } = d.context();
  return pick<FactBody>(
    how,
    { kind: "tool.started", step: Math.max(1, step), call: 0, tool: "read", argsHash: "", plan: null },
    toolFinished(Math.max(1, step - 1), how % 3, "late"),
    toolFinished(Math.max(1, step), 7, "ghost", { inDoubt: true }),
    childSettled(Math.max(1, step), how % 6, { error: anError() }, 7, how % 4),
    childSettled(step + 1, 0),
    childWaiting(Math.max(1, step), how % 3, true, 9),
    timerFired(`retry/${step}/${how % 4}/0/7`),
    timerFired("retry/0/0/0/1"),
    timerFired(`rate/${step}/9`),
    reply(step + 1, "early"),
    modelFailed(step + 1),
    verified(9, ["late"]),
    answered("00000000-0000-8000-8000-00000000cccc", true),
    approvalRequested(step + 1, 0),
  );
}

/** Whether an effect may get its outcome now. Timers that end a run are rare. */
function isLikely(effect: Effect, how: number): boolean {
  const key = effectKey(effect);
  return effect.kind !== "cancelChild" && ((key !== "timer/deadline" && key !== "timer/grace") || how % 29 === 0);
}

/** Applies a choice. */
export function act(d: MachineDriver, { kind, which, how, elapsedMs }: Choice): void {
  const at = d.context().lastAt + elapsedMs;
  const wanted = d.pending().filter((effect) => isLikely(effect, how));
  const effect = wanted[which % Math.max(1, wanted.length)];
  const outcome = kind === "outcome" && effect ? outcomeOf(d, effect, how) : null;
  if (outcome) d.feed(outcome, at);
  else if (kind === "hint") d.hint({ type: "child.claimed", step: d.context().step, call: which % 5, item: which % 3 });
  else d.feed(kind === "noise" ? noise(d, how) : command(d, how), at);
}

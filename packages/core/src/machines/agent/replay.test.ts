/**
 * The laws that durability rests on, over random schedules of outcomes, wishes, restarts and noise:
 * a journal fed in order through a fresh actor gives the same run, wanting the same effects, at every point.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Limits } from "../../protocol/limits.ts";
import type { ToolCall } from "../../protocol/tool.ts";
import { type Drive, drive, type FactBody } from "../drive.test-helper.ts";
import { type Effect, effectKey } from "../effects.ts";
import {
  anError,
  answered,
  aResponse,
  aToolCall,
  cancelled,
  childSettled,
  claimed,
  delegateTo,
  intentAssessed,
  modelFailed,
  type PinChanges,
  reply,
  settledWith,
  timerFired,
  toolFinished,
  verified,
} from "../samples.test-helper.ts";

/** One choice of a schedule: what happens, to which effect, and how it turns out. */
interface Choice {
  kind: "outcome" | "noise" | "hint";
  which: number;
  how: number;
  elapsedMs: number;
}

const choice: fc.Arbitrary<Choice> = fc.record({
  kind: fc.constantFrom("outcome", "outcome", "outcome", "outcome", "outcome", "noise", "hint"),
  which: fc.nat(1_000),
  how: fc.nat(1_000),
  elapsedMs: fc.constantFrom(0, 1, 500, 20_000),
});

const setting: fc.Arbitrary<PinChanges> = fc.record({
  limits: fc.record<Partial<Limits>>({
    maxIterations: fc.integer({ min: 1, max: 6 }),
    maxToolCalls: fc.integer({ min: 1, max: 20 }),
    maxParallelTools: fc.integer({ min: 1, max: 3 }),
    maxConcurrent: fc.integer({ min: 1, max: 3 }),
    maxTokens: fc.constantFrom(null, null, 350),
    maxCostUsd: fc.constantFrom(null, null, 0.02),
    maxDurationMs: fc.constantFrom(60_000, 300_000),
  }),
  definition: fc.record({
    intent: fc.constantFrom("direct" as const, "model" as const),
    verifiers: fc.constantFrom([], [{ name: "exists", params: {} }]),
  }),
});

const callLists: ToolCall[][] = [
  [],
  [aToolCall("read")],
  [aToolCall("read"), aToolCall("shell"), aToolCall("read"), aToolCall("read")],
  [delegateTo("helper"), delegateTo("writer"), delegateTo("helper"), delegateTo("writer")],
  [delegateTo("nobody"), aToolCall("read"), delegateTo("helper"), aToolCall("delegate", { agent: "helper" })],
];

/** What may come of an effect. */
function outcomeOf(effect: Effect, how: number): FactBody {
  const pick = <T>(...options: T[]): T => options[how % options.length] as T;
  switch (effect.kind) {
    case "assessIntent":
      return intentAssessed(pick("low", "medium", "high"));
    case "awaitApproval":
      return answered(pick(true, true, false));
    case "callModel":
      if (how % 23 === 0) return modelFailed(effect.step);
      return reply(effect.step, `words ${how}`, pick(...callLists), { usage: { costUsd: pick(0.01, 0.01, null) } });
    case "callTool": {
      const { step, call, toolCall } = effect;
      const error = pick(null, null, anError({ type: "tool_error" }));
      return toolFinished(step, call, `out ${how}`, { tool: toolCall.name, error, inDoubt: how % 7 === 0 });
    }
    case "runChild": {
      const { step, call, request } = effect;
      const error = pick(null, anError(), anError({ recoverable: false }), anError({ retryAfterMs: 40_000 }));
      return childSettled(step, call, { error }, request.attempt);
    }
    case "startTimer":
      return timerFired(effect.timer);
    case "verify":
      return verified(effect.round, pick([], ["no"]));
    case "settle":
      return settledWith(effect.response);
  }
}

/** What may reach a run at any time, whether it fits or not. */
function noise(d: Drive, how: number): FactBody {
  const { step } = d.context();
  const facts: FactBody[] = [
    claimed(),
    { kind: "run.parked", reason: "drain" },
    { kind: "tool.started", step: Math.max(1, step), call: 0, tool: "read", argsHash: "" },
    toolFinished(Math.max(1, step - 1), how % 3, "late"),
    toolFinished(Math.max(1, step), how % 6, "twice", { inDoubt: true }),
    childSettled(Math.max(1, step), how % 6, { error: anError() }, 1 + (how % 2)),
    childSettled(Math.max(1, step - 1), 0),
    timerFired(`retry/${step}/${how % 4}/1`),
    timerFired("retry/0/0/1"),
    reply(Math.max(1, step - 1), "late"),
    modelFailed(step + 1),
    verified(1, ["late"]),
    answered(true),
    answered(false, "another run"),
    intentAssessed("high"),
  ];
  if (how % 17 === 0) facts.push(cancelled(), cancelled("again"));
  return facts[how % facts.length] as FactBody;
}

/** Does what a choice says; an outcome comes of any effect but the deadline, which is rare. */
function act(d: Drive, { kind, which, how, elapsedMs }: Choice): void {
  const at = d.context().lastAt + elapsedMs;
  const wanted = d.pending().filter((effect) => effectKey(effect) !== "timer/deadline" || how % 29 === 0);
  const effect = wanted[which % Math.max(1, wanted.length)];
  if (kind === "hint") d.hint({ type: "child.claimed", step: d.context().step, call: which % 5 });
  else if (kind === "noise" || !effect) d.feed(noise(d, how), at);
  else d.feed(outcomeOf(effect, how), at);
}

interface Picture {
  state: string;
  context: unknown;
  pending: Effect[];
}

function pictureOf(d: Drive): Picture {
  const pending = d.pending().sort((a, b) => (effectKey(a) < effectKey(b) ? -1 : 1));
  return { state: d.state(), context: d.context(), pending };
}

const schedule = fc.array(choice, { minLength: 1, maxLength: 60 });

test("replaying a journal gives the same run at every point of it", () => {
  fc.assert(
    fc.property(setting, schedule, (changes, choices) => {
      const live = drive(changes);
      const again = drive(changes);
      for (const next of choices) {
        if (live.isDone()) break;
        const known = live.facts.length;
        act(live, next);
        again.replay(live.facts.slice(known));
        expect(pictureOf(again)).toEqual(pictureOf(live));
      }
      const fresh = drive(changes);
      fresh.replay(live.facts);
      expect(pictureOf(fresh)).toEqual(pictureOf(live));
    }),
    { numRuns: 300 },
  );
});

test("an effect is started once in a run's life, and never wanted again once it is answered", () => {
  fc.assert(
    fc.property(setting, schedule, (changes, choices) => {
      const d = drive(changes);
      const started = [...d.look().started];
      const answeredKeys = new Set<string>();
      for (const next of choices) {
        if (d.isDone()) break;
        const wanted = d.pending().map(effectKey);
        act(d, next);
        const seen = d.look();
        started.push(...seen.started);
        for (const key of wanted) if (!d.pendingKeys().includes(key)) answeredKeys.add(key);
        expect(d.pendingKeys().filter((key) => answeredKeys.has(key))).toEqual([]);
      }
      expect(started).toEqual([...new Set(started)]);
    }),
    { numRuns: 300 },
  );
});

test("never more at once than the caps allow, never more turns or calls, and no child without its turn", () => {
  fc.assert(
    fc.property(setting, schedule, (changes, choices) => {
      const d = drive(changes);
      for (const next of choices) {
        if (d.isDone()) break;
        act(d, next);
        const { pin, step, tally } = d.context();
        const count = (kind: Effect["kind"]): number => d.pending().filter((effect) => effect.kind === kind).length;
        expect(count("callTool")).toBeLessThanOrEqual(pin.limits.maxParallelTools);
        expect(count("runChild")).toBeLessThanOrEqual(pin.limits.maxConcurrent);
        expect(count("callModel")).toBeLessThanOrEqual(1);
        expect(step).toBeLessThanOrEqual(pin.limits.maxIterations);
        expect(tally.toolCalls).toBeLessThanOrEqual(pin.limits.maxToolCalls);
        if (d.state() !== "execute.act") expect(d.children().filter((id) => /^(child|tool)\//.test(id))).toEqual([]);
      }
    }),
    { numRuns: 300 },
  );
});

test("wherever a run is, answering what it wants brings it to its end, and there it stays", () => {
  fc.assert(
    fc.property(setting, schedule, fc.nat(1_000), (changes, choices, how) => {
      const d = drive(changes);
      for (const next of choices) if (!d.isDone()) act(d, next);
      for (let i = 0; i < 300 && !d.isDone(); i += 1) {
        const effect = d.pending().find((wanted) => effectKey(wanted) !== "timer/deadline");
        if (!effect) throw new Error(`nothing is wanted in ${d.state()}`);
        d.feed(outcomeOf(effect, how + i));
      }
      expect([d.isDone(), d.pending(), d.children()]).toEqual([true, [], []]);
      expect(d.output()).toEqual(d.response());
      expect(d.response().success).toBe(d.response().status === "completed");
    }),
    { numRuns: 300 },
  );
});

test("a settled run is the same whatever comes after", () => {
  const d = drive();
  const again = drive();
  d.feed(settledWith(aResponse()));
  again.replay(d.facts);
  expect(pictureOf(again)).toEqual(pictureOf(d));
});

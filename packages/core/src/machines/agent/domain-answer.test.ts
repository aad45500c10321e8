/** Runs whose calls a handler decides, and the answers of domain agents. */
import { describe, expect, test } from "vitest";
import { DomainResponse } from "../../protocol/domain-response.ts";
import { permanentError } from "../../protocol/run-error.ts";
import {
  aToolCall,
  claimed,
  intentAssessed,
  modelFailed,
  type ReplyChanges,
  reply,
  type SpecChanges,
  settledWith,
  toolFinished,
} from "../fixtures.test-helper.ts";
import { drive, type FactBody, type MachineDriver } from "../machine-driver.test-helper.ts";
import { answerText } from "./domain-answer.ts";
import { runContextOf } from "./run-context.ts";

const free = { usage: { inputTokens: 0, outputTokens: 0, costUsd: 0 } } satisfies ReplyChanges;
const check = aToolCall("calendar_check_availability", { from: "14:00" });
const create = aToolCall("calendar_create_event", { title: "Team" });
const answer = answerText({
  summary: "Booked “Team” for Tuesday.",
  details: "- 14:00",
  assumptions: ["It lasts one hour."],
  missing: ["The room is unknown."],
  confidence: 0.9,
});

function calendarRun(changes: SpecChanges = {}, intent: object = {}): MachineDriver {
  const definition = { intent: "patterns" as const, handler: "calendar", domain: "calendar", ...changes.definition };
  const grantedTools = [check.name, create.name];
  const limits = { maxIterations: 3, ...changes.limits };
  const d = drive({ answersByDomain: true, grantedTools, ...changes, definition, limits });
  d.feed(assessed(intent));
  return d;
}

function assessed(changes: object = {}): FactBody {
  const fact = intentAssessed("medium");
  const tools = [check.name, create.name];
  const context = { ...fact.intent.context, tools, notes: ["the account is valid"] };
  return { ...fact, usage: null, intent: { ...fact.intent, context, by: "patterns", handler: "calendar", ...changes } };
}

/** One turn of a handler: a call, and its result. */
function turn(d: MachineDriver, step: number, call: typeof check, output: unknown, isOk = true): void {
  d.feed(reply(step, `step ${step}`, [call], free));
  const error = isOk ? null : { ...permanentError("tool_error", "no"), tool: call.name };
  d.feed(toolFinished(step, 0, JSON.stringify(output), { tool: call.name, error }));
}

function domainResponse(d: MachineDriver): DomainResponse {
  return DomainResponse.parse(d.response().domainResponse);
}

describe("a run with a handler", () => {
  test("gives the handler its intent, the results so far, and the turns that are left", () => {
    const d = calendarRun();
    expect(d.effect("callModel").handled).toMatchObject({ intent: { handler: "calendar" }, results: [], turnsLeft: 3 });
    turn(d, 1, check, { free: true });
    expect(d.effect("callModel").handled).toMatchObject({
      results: [{ tool: check.name, args: { from: "14:00" }, ok: true, output: { free: true } }],
      turnsLeft: 2,
    });
  });

  test("has three turns with calls, and its answer is no fourth one", () => {
    const d = calendarRun();
    for (const step of [1, 2, 3]) turn(d, step, aToolCall(check.name, { step }), { step });
    expect(d.effect("callModel")).toMatchObject({ lastTurn: true, handled: { turnsLeft: 0 } });
    d.feed(reply(4, answer, [], free));
    expect(d.response()).toMatchObject({ status: "completed", metrics: { iterations: 3, totalTokens: 0 } });
  });

  test("never gets a fourth turn with calls", () => {
    const d = calendarRun();
    for (const step of [1, 2, 3]) turn(d, step, aToolCall(check.name, { step }), { step });
    d.feed(reply(4, "", [create], free));
    expect(d.response()).toMatchObject({ status: "bailed_out", bailoutReason: "max_iterations" });
  });

  test("of a high risk begins without a question about the whole run: each call is asked about", () => {
    expect(calendarRun({}, { risk: "high" }).state()).toBe("execute.think");
    expect(calendarRun({}, { risk: "high", handler: undefined }).state()).toBe("awaitingApproval.asking");
  });

  test("is held up by no limit of tokens, because no model reads its conversation", () => {
    const d = calendarRun({ limits: { maxTokens: 5_000, maxContextTokens: 3_000 }, budget: { tokens: 5_000 } });
    turn(d, 1, check, { text: "x".repeat(40_000) });
    expect(d.effect("callModel").lastTurn).toBe(false);
    d.feed(reply(2, answer, [], free));
    expect(d.response()).toMatchObject({ status: "completed", metrics: { charged: { tokens: 0, costUsd: 0 } } });
  });

  test("does not repeat a turn that failed: its tools have tried again themselves", () => {
    const d = calendarRun();
    d.feed(modelFailed(1, { type: "rate_limit", message: "slow down", recoverable: true, retryAfterMs: 30_000 }));
    expect(d.response()).toMatchObject({ status: "failed", error: { type: "rate_limit" } });
    expect(domainResponse(d).error).toEqual({
      type: "rate_limit",
      message: "slow down",
      tool: check.name,
      recoverable: true,
      retryAfter: 30,
    });
  });

  test("is booked without cost when its host dies in a turn", () => {
    const d = calendarRun();
    d.feed(claimed());
    turn(d, 1, check, { free: true });
    d.feed(reply(2, answer, [], free));
    expect(d.response()).toMatchObject({ status: "completed", warnings: [], metrics: { totalTokens: 0 } });
  });
});

describe("the response of a domain agent", () => {
  test("has one shape, with the results of its tools joined", () => {
    const d = calendarRun();
    turn(d, 1, check, { free: true, conflicts: [] });
    turn(d, 2, create, { event_id: "e1", title: "Team" });
    d.feed(reply(3, answer, [], free));
    expect(domainResponse(d)).toEqual({
      success: true,
      domain: "calendar",
      request: "count the files",
      result: {
        data: { free: true, conflicts: [], event_id: "e1", title: "Team" },
        summary: "Booked “Team” for Tuesday.",
        tools_used: [check.name, create.name],
        execution_time: expect.closeTo(d.response().metrics.durationMs / 1_000),
      },
      confidence: 0.9,
      assumptions: ["It lasts one hour."],
      missing: ["The room is unknown."],
    });
  });

  test("of a model that answers in prose has the same shape", () => {
    const d = calendarRun({}, { handler: undefined, by: "model" });
    turn(d, 1, check, { free: true });
    d.feed(reply(2, "You are free.\n\n## Confidence\n80 %"));
    expect(domainResponse(d)).toMatchObject({
      success: true,
      result: { data: { free: true }, summary: "You are free." },
      confidence: 0.8,
      assumptions: [],
    });
  });

  test.each<[string, unknown, object]>([
    [
      "an object of JSON",
      { error: { type: "rate_limit", message: "slow down", retry_after: 12 } },
      { type: "rate_limit", message: "slow down", recoverable: true, retryAfter: 12 },
    ],
    [
      "an object of an unknown type",
      { error: { type: "odd", message: "broken" } },
      { type: "tool_error", message: "broken", recoverable: false },
    ],
  ])("names the error of a run whose calls all failed, from %s", (_, output, error) => {
    const d = calendarRun({}, { handler: undefined });
    turn(d, 1, check, output, false);
    d.feed(reply(2, "All is well."));
    expect(d.response().status).toBe("completed");
    expect(domainResponse(d)).toMatchObject({
      success: false,
      result: { data: null },
      confidence: null,
      error: { ...error, tool: check.name },
    });
  });

  test("names the error of a refused call from its text", () => {
    const d = calendarRun({}, { handler: undefined });
    d.feed(reply(1, "", [check]));
    const error = { ...permanentError("permission", "not granted"), tool: check.name };
    d.feed(toolFinished(1, 0, "permission: not granted", { tool: check.name, error }));
    d.feed(reply(2, "I may not."));
    expect(domainResponse(d).error).toEqual({
      type: "permission",
      message: "not granted",
      tool: check.name,
      recoverable: false,
    });
  });

  test("is a success if a later call worked", () => {
    const d = calendarRun({}, { handler: undefined });
    turn(d, 1, check, { error: { type: "network", message: "lost" } }, false);
    turn(d, 2, check, { free: true });
    d.feed(reply(3, "You are free."));
    expect(domainResponse(d)).toMatchObject({ success: true, result: { data: { free: true } } });
    expect(domainResponse(d).error).toBeUndefined();
  });

  test("of another end of the run has one of the six types", () => {
    const d = calendarRun();
    d.feed(modelFailed(1, { type: "crashed", message: "the handler is gone", recoverable: false }));
    expect(domainResponse(d).error).toEqual({
      type: "tool_error",
      message: "the handler is gone",
      tool: check.name,
      recoverable: false,
    });
  });

  test("does not exist for an agent without a domain, and for runs of earlier versions", () => {
    for (const d of [
      calendarRun({ definition: { domain: null }, answersByDomain: false }),
      calendarRun({ answersByDomain: false }),
    ]) {
      turn(d, 1, check, { free: true });
      d.feed(reply(2, answer, [], free));
      expect(d.response().domainResponse).toBeUndefined();
    }
  });
});

test("the context of a handled run collects its results and says what its calls are for", () => {
  const d = calendarRun({}, { errorPlan: ["a network error: try again"] });
  const contextOf = () => runContextOf(d.context());
  expect(contextOf()).toMatchObject({
    status: "executing",
    result: null,
    by: "patterns",
    errorPlan: ["a network error: try again"],
  });
  turn(d, 1, check, { free: true });
  expect(contextOf()).toMatchObject({ result: { free: true }, notes: ["the account is valid", "step 1"] });
  turn(d, 2, create, { event_id: "e1" });
  d.feed(reply(3, answer, [], free));
  d.feed(settledWith(d.effect("settle").response));
  expect(contextOf()).toMatchObject({
    status: "complete",
    result: { free: true, event_id: "e1" },
    notes: ["the account is valid", "step 1", "step 2"],
    summary: "Booked “Team” for Tuesday.",
  });
});

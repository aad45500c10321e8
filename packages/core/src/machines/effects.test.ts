/** Every effect has a name that its outcome finds again, also after a restart. */
import { expect, test } from "vitest";
import { createActor } from "xstate";
import { wholeRunStep } from "../protocol/approval.ts";
import type { EntryBody } from "../protocol/entry.ts";
import { Usage } from "../protocol/model.ts";
import { agentMachine } from "./agent/machine.ts";
import { answeredEffect, type Effect, type EffectOf, effectKey } from "./effects.ts";
import {
  answered,
  approvalRequested,
  aRequest,
  aResponse,
  aSpec,
  aToolCall,
  cancelled,
  childSettled,
  childWaiting,
  claimed,
  commanded,
  compacted,
  intentAssessed,
  modelFailed,
  reply,
  run,
  settledWith,
  timerFired,
  toolFinished,
  trimmed,
  verified,
} from "./fixtures.test-helper.ts";

const child = { run, step: 2, call: 1, item: 4 };
const request = aRequest({ attempt: 3 });
const plan = { kind: "calls.planned" as const, step: 2, children: [], refused: [] };
const summary = { kind: "context.summarised" as const, step: 2, text: "", usage: Usage.parse({}), error: null };
const trim = { kind: "trim" as const, run, step: 2, results: ["1/0"], tokensBefore: 2, tokensAfter: 1 };
const compact: EffectOf<"compact"> = {
  kind: "compact",
  run,
  step: 2,
  maxOutputTokens: 1,
  transcript: "",
  textTokensMax: 1,
  kept: 0,
  tokensBefore: 2,
  tokensLeft: 1,
};

const effects: [Effect, string, EntryBody[]][] = [
  [{ kind: "assessIntent", run, maxOutputTokens: 1 }, "intent", [intentAssessed("low")]],
  [{ kind: "askApproval", run, reason: "" }, "approval", [approvalRequested(wholeRunStep, 0, null)]],
  [
    { kind: "callModel", run, step: 2, messages: [], lastTurn: false, maxOutputTokens: 1, triesBefore: 0 },
    "model/2",
    [reply(2, ""), modelFailed(2)],
  ],
  [{ kind: "planCalls", run, step: 2, children: [], refused: [] }, "plan/2", [plan]],
  [{ kind: "summarise", run, step: 2, messages: [], maxOutputTokens: 1 }, "summary/2", [{ ...summary, durationMs: 1 }]],
  [trim, "trim/2", [trimmed(trim)]],
  [compact, "compact/2", [compacted(compact)]],
  [
    { kind: "callTool", run, step: 2, call: 1, toolCall: aToolCall("x"), approved: false },
    "tool/2/1",
    [toolFinished(2, 1, ""), approvalRequested(2, 1)],
  ],
  [{ kind: "runChild", ...child, request }, "child/2/1/4/3", [childSettled(2, 1, {}, 3, 4)]],
  [{ kind: "dropChild", ...child, attempt: 3, response: aResponse() }, "child/2/1/4/3", [childSettled(2, 1, {}, 3, 4)]],
  // Telling a child to stop is answered by nothing: its response comes by the effect that runs it.
  [{ kind: "cancelChild", ...child, request, reason: "" }, "cancel-child/2/1/4/3", []],
  [{ kind: "startTimer", run, timer: "deadline", delayMs: 1, since: 0 }, "timer/deadline", [timerFired("deadline")]],
  [{ kind: "verify", run, round: 2, verifiers: [], response: aResponse() }, "verify/2", [verified(2)]],
  [{ kind: "settle", run, response: aResponse() }, "settle", [settledWith(aResponse())]],
];

test.each(effects)("$kind is found again", (effect, key, outcomes) => {
  expect(effectKey(effect)).toBe(key);
  expect(outcomes.map(answeredEffect)).toEqual(outcomes.map(() => key));
});

test.each<EntryBody>([
  { kind: "run.opened", request: aRequest(), pin: aSpec() },
  claimed(),
  { kind: "run.parked", reason: "drain" },
  { kind: "tool.started", step: 1, call: 0, tool: "x", argsHash: "", plan: null },
  cancelled(),
  answered("any", true),
  commanded({ kind: "run.paused" }),
  childWaiting(1, 0, true),
])("$kind has no outcome", (body) => {
  expect(answeredEffect(body)).toBeNull();
});

test("a machine without a host throws, and the message has the fix", async () => {
  const actor = createActor(agentMachine, { input: { request: aRequest(), pin: aSpec(), openedAt: 0 } });
  const failure = new Promise((resolve) => actor.subscribe({ error: resolve }));
  actor.start();
  expect(String(await failure)).toMatch(/effect "\w+" was not provided: run this machine through an actor host/);
});

/** Every effect has a name that its outcome finds again, also after a restart. */
import { expect, test } from "vitest";
import { createActor } from "xstate";
import type { EntryBody } from "../protocol/entry.ts";
import { agentMachine } from "./agent/machine.ts";
import { answeredEffect, type Effect, effectKey } from "./effects.ts";
import {
  answered,
  aPin,
  aRequest,
  aResponse,
  aToolCall,
  cancelled,
  childSettled,
  claimed,
  intentAssessed,
  modelFailed,
  reply,
  run,
  settledWith,
  timerFired,
  toolFinished,
  verified,
} from "./samples.test-helper.ts";

const effects: [Effect, string, EntryBody[]][] = [
  [{ kind: "assessIntent", run }, "intent", [intentAssessed("low")]],
  [{ kind: "awaitApproval", run, risk: "high" }, "approval", [answered(true), answered(false)]],
  [{ kind: "callModel", run, step: 2, messages: [], lastTurn: false }, "model/2", [reply(2, ""), modelFailed(2)]],
  [{ kind: "callTool", run, step: 2, call: 1, toolCall: aToolCall("x") }, "tool/2/1", [toolFinished(2, 1, "")]],
  [
    { kind: "runChild", run, step: 2, call: 1, request: aRequest({ attempt: 3 }) },
    "child/2/1/3",
    [childSettled(2, 1, {}, 3)],
  ],
  [{ kind: "startTimer", run, timer: "deadline", delayMs: 1 }, "timer/deadline", [timerFired("deadline")]],
  [{ kind: "verify", run, round: 2, verifiers: [], response: aResponse() }, "verify/2", [verified(2)]],
  [{ kind: "settle", run, response: aResponse() }, "settle", [settledWith(aResponse())]],
];

test.each(effects)("$kind is found again", (effect, key, outcomes) => {
  expect(effectKey(effect)).toBe(key);
  expect(outcomes.map(answeredEffect)).toEqual(outcomes.map(() => key));
});

test.each<EntryBody>([
  { kind: "run.opened", request: aRequest(), pin: aPin() },
  claimed(),
  { kind: "run.parked", reason: "drain" },
  { kind: "tool.started", step: 1, call: 0, tool: "x", argsHash: "" },
  cancelled(),
])("$kind answers nothing", (body) => {
  expect(answeredEffect(body)).toBeNull();
});

test("an approval of another run answers nothing here", () => {
  expect(answeredEffect({ ...answered(true), run })).toBe("approval");
  expect(answeredEffect({ ...answered(true, "another run"), run })).toBeNull();
});

test("a machine without a host fails loudly, and says what to do", async () => {
  const actor = createActor(agentMachine, { input: { request: aRequest(), pin: aPin(), openedAt: 0 } });
  const failure = new Promise((resolve) => actor.subscribe({ error: resolve }));
  actor.start();
  expect(String(await failure)).toMatch(/effect "\w+" was not provided: run this machine through an actor host/);
});

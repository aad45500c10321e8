/** A run can be cancelled wherever it is; after that nothing moves it but its children's responses and its settling. */
import { describe, expect, test } from "vitest";
import { wholeRunStep } from "../../protocol/approval.ts";
import {
  anError,
  approvalRequested,
  aToolCall,
  cancelled,
  childSettled,
  commanded,
  delegateTo,
  intentAssessed,
  modelFailed,
  reads,
  reply,
  timerFired,
  toolFinished,
  verified,
} from "../fixtures.test-helper.ts";
import { drive, type FactBody, type MachineDriver } from "../machine-driver.test-helper.ts";

const read = aToolCall("read");
const network = { error: anError({ type: "network" }) };

const question = approvalRequested(wholeRunStep, 0, null);

/** [state, driver in that state, effects to stop] */
const places: [string, () => MachineDriver, string[]][] = [
  ["assessing the intent", () => drive({ definition: { intent: "model" } }), ["intent"]],
  ["asking for approval", () => at(drive({ definition: { intent: "model" } }), intentAssessed("high")), ["approval"]],
  ["waiting for approval", () => at(drive({ definition: { intent: "model" } }), intentAssessed("high"), question), []],
  ["waiting for the approval of a call", () => at(drive(), reply(1, "", [read]), approvalRequested(1, 0, "read")), []],
  ["paused", () => at(drive(), commanded({ kind: "run.paused" }), reply(1, "", [read])), []],
  ["waiting out a rate limit", () => at(drive(), modelFailed(1, { type: "rate_limit" })), ["timer/rate/1/1"]],
  ["thinking", () => drive(), ["model/1"]],
  ["thinking again", () => at(drive(), reply(1, "", [read]), toolFinished(1, 0, "x")), ["model/2"]],
  ["running tools", () => at(drive(), reply(1, "", reads(2)), toolFinished(1, 0, "x")), ["tool/1/1"]],
  [
    "running tools, with others in the queue",
    () => at(drive({ limits: { maxParallelTools: 1 } }), reply(1, "", reads(2))),
    ["tool/1/0"],
  ],
  [
    "backing off before a retry",
    () => at(drive(), reply(1, "", [delegateTo("helper")]), childSettled(1, 0, network)),
    ["timer/grace", "timer/retry/1/0/0/1"],
  ],
  [
    "verifying",
    () => at(drive({ definition: { verifiers: [{ name: "exists", params: {} }] } }), reply(1, "done")),
    ["verify/1"],
  ],
];

function at(d: MachineDriver, ...facts: FactBody[]): MachineDriver {
  for (const fact of facts) d.feed(fact);
  return d;
}

const late: FactBody[] = [
  cancelled("again"),
  timerFired("deadline"),
  timerFired("retry/1/0/0/1"),
  intentAssessed("high"),
  reply(1, "late", [read]),
  reply(2, "late"),
  modelFailed(1),
  toolFinished(1, 0, "late"),
  toolFinished(1, 1, "late"),
  childSettled(1, 0),
  childSettled(1, 0, network, 2),
  verified(1),
  verified(1, ["wrong"]),
];

describe.each(places)("cancelled while %s", (_, place, running) => {
  test("all running effects stop, and the run settles as cancelled", () => {
    const d = place();
    const { state, started, stopped } = d.on(cancelled("not needed"));
    expect([state, stopped.sort()]).toEqual(["respond.settling", running]);
    expect(started).toContain("settle");
    expect(d.pendingKeys().filter((key) => key !== "timer/deadline")).toEqual(["settle"]);
    expect(d.response()).toMatchObject({
      status: "cancelled",
      success: false,
      summary: "not needed",
      error: { type: "cancelled", message: "not needed", recoverable: false },
    });
  });

  test("no actor of a call remains", () => {
    const d = place();
    d.feed(cancelled());
    expect(d.children().filter((id) => /^(batch|tool)\//.test(id))).toEqual([]);
    expect(d.context().calls).toEqual([]);
  });

  test("a second cancel and late outcomes change nothing", () => {
    const d = place();
    d.feed(cancelled());
    const before = d.context();
    d.look();
    for (const fact of late) d.feed(fact);
    expect(d.context()).toEqual(before);
    expect([d.state(), d.look()]).toEqual(["respond.settling", { started: [], stopped: [] }]);
  });
});

test("a cancel without a reason gets a default reason", () => {
  const d = drive();
  d.feed(cancelled(""));
  expect(d.response().summary).toBe("cancelled");
});

test("a cancel of one run has the same effect as a cancel of its session", () => {
  const d = drive();
  d.feed(commanded({ kind: "run.cancelled", reason: "not this one" }));
  expect(d.response()).toMatchObject({ status: "cancelled", summary: "not this one" });
});

test("the response has the usage and the files from before the cancel", () => {
  const d = drive();
  d.feed(reply(1, "writing", [aToolCall("write"), read]));
  d.feed(toolFinished(1, 0, "ok", { tool: "write", filesCreated: ["a.txt"] }));
  d.feed(cancelled());
  expect(d.response()).toMatchObject({
    details: "writing",
    filesCreated: ["a.txt"],
    toolsUsed: ["write"],
    metrics: { iterations: 1, toolCalls: 2, inputTokens: 100 },
  });
});

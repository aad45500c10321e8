/** A run can be cancelled wherever it is; after that nothing moves it but its settling. */
import { describe, expect, test } from "vitest";
import { type Drive, drive, type FactBody } from "../drive.test-helper.ts";
import {
  anError,
  aToolCall,
  cancelled,
  childSettled,
  delegateTo,
  intentAssessed,
  modelFailed,
  reply,
  timerFired,
  toolFinished,
  verified,
} from "../samples.test-helper.ts";

const read = aToolCall("read");
const network = { error: anError({ type: "network" }) };

/** [where, how to get there, what must be stopped] */
const places: [string, () => Drive, string[]][] = [
  ["assessing the intent", () => drive({ definition: { intent: "model" } }), ["intent"]],
  ["awaiting approval", () => at(drive({ definition: { intent: "model" } }), intentAssessed("high")), ["approval"]],
  ["thinking", () => drive(), ["model/1"]],
  ["thinking again", () => at(drive(), reply(1, "", [read]), toolFinished(1, 0, "x")), ["model/2"]],
  ["running tools", () => at(drive(), reply(1, "", [read, read]), toolFinished(1, 0, "x")), ["tool/1/1"]],
  [
    "running tools, others queueing",
    () => at(drive({ limits: { maxParallelTools: 1 } }), reply(1, "", [read, read])),
    ["tool/1/0"],
  ],
  ["waiting for children", () => at(drive(), reply(1, "", [delegateTo("helper"), read])), ["child/1/0/1", "tool/1/1"]],
  [
    "waiting for a child, others queueing",
    () => at(drive({ limits: { maxConcurrent: 1 } }), reply(1, "", [delegateTo("helper"), delegateTo("writer")])),
    ["child/1/0/1"],
  ],
  [
    "backing off before a retry",
    () => at(drive(), reply(1, "", [delegateTo("helper")]), childSettled(1, 0, network)),
    ["timer/retry/1/0/1"],
  ],
  [
    "verifying",
    () => at(drive({ definition: { verifiers: [{ name: "exists", params: {} }] } }), reply(1, "done")),
    ["verify/1"],
  ],
];

function at(d: Drive, ...facts: FactBody[]): Drive {
  for (const fact of facts) d.feed(fact);
  return d;
}

const late: FactBody[] = [
  cancelled("again"),
  timerFired("deadline"),
  timerFired("retry/1/0/1"),
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
  test("all that runs is stopped, and the run settles as cancelled", () => {
    const d = place();
    const { state, started, stopped } = d.on(cancelled("not needed"));
    expect([state, started, stopped.sort()]).toEqual(["respond.settling", ["settle"], running]);
    expect(d.pendingKeys()).toEqual(["settle", "timer/deadline"]);
    expect(d.response()).toMatchObject({
      status: "cancelled",
      success: false,
      summary: "not needed",
      error: { type: "cancelled", message: "not needed", recoverable: false },
    });
  });

  test("no actor of a call is left", () => {
    const d = place();
    d.feed(cancelled());
    expect(d.children().filter((id) => /^(child|tool)\//.test(id))).toEqual([]);
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

test("a cancel without a reason has one", () => {
  const d = drive();
  d.feed(cancelled(""));
  expect(d.response().summary).toBe("cancelled");
});

test("what was used and touched before the cancel is in the response", () => {
  const d = drive();
  d.feed(reply(1, "writing", [aToolCall("write"), delegateTo("helper")]));
  d.feed(toolFinished(1, 0, "ok", { tool: "write", filesCreated: ["a.txt"] }));
  d.feed(cancelled());
  expect(d.response()).toMatchObject({
    details: "writing",
    filesCreated: ["a.txt"],
    toolsUsed: ["write"],
    metrics: { iterations: 1, toolCalls: 2, inputTokens: 100 },
  });
});

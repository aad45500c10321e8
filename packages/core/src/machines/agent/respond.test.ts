/** The one response: its contents, their sources, and that it is final. */
import { afterEach, describe, expect, test, vi } from "vitest";
import { RunResponse } from "../../protocol/response.ts";
import {
  anError,
  aResponse,
  aToolCall,
  cancelled,
  childSettled,
  claimed,
  delegateTo,
  reads,
  reply,
  run,
  type SpecChanges,
  session,
  settledWith,
  timerFired,
  toolFinished,
  verified,
} from "../fixtures.test-helper.ts";
import { drive, type MachineDriver, openedAt } from "../machine-driver.test-helper.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

const checked = { definition: { verifiers: [{ name: "exists", params: { path: "a.txt" } }] } };

function verifying(changes: SpecChanges = {}): MachineDriver {
  const d = drive({ ...checked, ...changes });
  d.look();
  d.feed(reply(1, "done"));
  return d;
}

describe("verifiers", () => {
  test("run on the answer", () => {
    const d = verifying();
    expect([d.state(), d.look()]).toEqual(["respond.verifying", { started: ["verify/1"], stopped: [] }]);
    expect(d.effect("verify")).toMatchObject({
      round: 1,
      verifiers: [{ name: "exists", params: { path: "a.txt" } }],
      response: { status: "completed", details: "done" },
    });
  });

  test("pass: the run settles", () => {
    const d = verifying();
    expect(d.on(verified(1))).toEqual({ state: "respond.settling", started: ["settle"], stopped: [] });
    expect(d.response()).toMatchObject({ status: "completed", success: true });
  });

  test("fail: the model gets the failure, corrects the answer, and the check runs again", () => {
    const d = verifying();
    expect(d.on(verified(1, ["a.txt is missing", "b.txt too"]))).toEqual({
      state: "execute.think",
      started: ["model/2"],
      stopped: [],
    });
    expect(d.effect("callModel").messages.at(-1)).toEqual({
      role: "user",
      text: "Your result was checked and does not hold:\n- a.txt is missing\n- b.txt too\nMend it.",
    });
    expect(d.on(reply(2, "mended"))).toMatchObject({ state: "respond.verifying", started: ["verify/2"] });
    d.feed(verified(2));
    expect(d.response()).toMatchObject({ status: "completed", details: "mended", metrics: { iterations: 2 } });
  });

  test("fail repeatedly: the answer is returned twice, and then the run fails", () => {
    const d = verifying();
    for (const round of [1, 2]) {
      d.feed(verified(round, ["no"]));
      expect(d.state()).toBe("execute.think");
      d.feed(reply(round + 1, "done, really"));
    }
    expect(d.on(verified(3, ["no", "still no"])).state).toBe("respond.settling");
    expect(d.response()).toMatchObject({
      status: "failed",
      success: false,
      details: "done, really",
      error: { type: "verification", message: "no; still no", recoverable: false },
    });
  });

  test.each([
    ["no turn", { limits: { maxIterations: 1 } }],
    ["no tokens", { limits: { maxTokens: 500 } }],
    ["no money", { limits: { maxCostUsd: 0.0005 }, price: { inputPerMillion: 1, outputPerMillion: 1 } }],
  ])("with %s left, a failure is final", (_, changes) => {
    const d = verifying(changes);
    expect(d.on(verified(1, ["no"])).state).toBe("respond.settling");
    expect(d.response()).toMatchObject({ status: "failed", error: { type: "verification" } });
  });

  test("ignore an outcome of another round", () => {
    const d = verifying();
    d.feed(verified(1, ["no"]));
    d.feed(reply(2, "mended"));
    expect(d.on(verified(1))).toEqual({ state: "respond.verifying", started: [], stopped: [] });
    expect(d.on(verified(1, ["no"]))).toEqual({ state: "respond.verifying", started: [], stopped: [] });
  });

  test("end at the deadline", () => {
    const d = verifying();
    expect(d.on(timerFired("deadline"))).toEqual({
      state: "respond.settling",
      started: ["settle"],
      stopped: ["verify/1"],
    });
    expect(d.response()).toMatchObject({ status: "timeout", bailoutReason: "timeout" });
  });

  test("check only answers that claim to be complete", () => {
    const d = drive({ ...checked, limits: { maxIterations: 1 } });
    d.feed(reply(1, "half", [aToolCall("read")]));
    expect(d.state()).toBe("respond.settling");
  });
});

describe("the metrics of a response", () => {
  test("count the run's tool calls, its time and the size of its conversation", () => {
    const d = drive();
    d.feed(reply(1, "", reads(2)), openedAt + 100);
    d.feed(toolFinished(1, 0, "x".repeat(3_000)));
    d.feed(toolFinished(1, 1, "y".repeat(6_000)));
    d.feed(reply(2, "done"), openedAt + 2_500);
    const { metrics, toolsUsed } = d.response();
    expect(metrics).toMatchObject({ toolCalls: 2, iterations: 2, durationMs: 2_500 });
    expect(toolsUsed).toEqual(["read"]);
    expect(metrics.contextSize).toBe(d.context().contextTokens);
    // Both results are in the conversation, and little else: an English token is about four characters.
    expect(metrics.contextSize).toBeGreaterThan(9_000 / 4);
    expect(metrics.contextSize).toBeLessThan(9_000 / 2);
  });
});

describe("settling", () => {
  test("ends the run once it is journaled, with no actor left", () => {
    const d = drive();
    d.feed(reply(1, "42"));
    expect(d.effect("settle").response).toEqual(d.response());
    expect(d.on(settledWith(d.response()))).toEqual({ state: "settled", started: [], stopped: ["timer/deadline"] });
    expect(d.isDone()).toBe(true);
    expect(d.output()).toEqual(d.response());
    expect(d.children()).toEqual([]);
    expect(d.pending()).toEqual([]);
  });

  test("that is interrupted by a restart has the same response", () => {
    const d = drive();
    d.feed(reply(1, "42"), openedAt + 10);
    const before = d.response();
    d.feed(claimed(), openedAt + 99_000);
    expect(d.response()).toEqual(before);
    expect(d.pendingKeys()).toEqual(["settle", "timer/deadline"]);
  });

  test("is final: later events are ignored", () => {
    const d = drive();
    d.feed(reply(1, "42"));
    d.feed(settledWith(d.response()));
    const before = d.context();
    d.look();
    vi.spyOn(console, "warn").mockImplementation(() => {}); // xstate says that the actor is done
    for (const fact of [cancelled(), reply(2, "more"), claimed(), settledWith(aResponse()), timerFired("deadline")]) {
      d.feed(fact);
    }
    expect([d.state(), d.context(), d.look()]).toEqual(["settled", before, { started: [], stopped: [] }]);
  });

  test.each([
    ["while the intent is assessed", () => drive({ definition: { intent: "model" } })],
    ["while it thinks", () => drive()],
    ["while children work", () => acting()],
    ["while it is verified", () => verifying()],
  ])("by another host, %s: the journal wins, and all effects stop", (_, place) => {
    const d = place();
    const response = aResponse({ status: "failed", error: anError({ type: "crashed" }) });
    d.feed(settledWith(response));
    expect([d.state(), d.isDone(), d.output()]).toEqual(["settled", true, response]);
    expect([d.pending(), d.children()]).toEqual([[], []]);
  });

  function acting(): MachineDriver {
    const d = drive();
    d.feed(reply(1, "", [delegateTo("helper"), aToolCall("read")]));
    return d;
  }
});

describe("the response", () => {
  test("has its evidence from outcomes and children, and only its prose from the model", () => {
    const d = drive();
    const calls = [aToolCall("write"), aToolCall("shell"), aToolCall("write"), delegateTo("helper")];
    d.feed(reply(1, "working", calls), openedAt + 100);
    d.feed(toolFinished(1, 0, "ok", { tool: "write", filesCreated: ["a"] }));
    d.feed(toolFinished(1, 1, "ok", { tool: "shell", filesModified: ["b"] }));
    d.feed(toolFinished(1, 2, "ok", { tool: "write", filesCreated: ["a"], filesModified: ["c"] }));
    d.feed(
      childSettled(1, 3, { filesCreated: ["a", "d"], warnings: ["careful"], toolsUsed: ["edit"] }),
      openedAt + 900,
    );
    d.feed(reply(2, "I also made z.txt and ran rm"), openedAt + 1_000);
    const response = d.response();
    expect(RunResponse.parse(response)).toEqual(response);
    expect(response).toMatchObject({
      runId: run,
      sessionId: session,
      agent: "main",
      request: "count the files",
      status: "completed",
      success: true,
      details: "I also made z.txt and ran rm",
      filesCreated: ["a", "d"],
      filesModified: ["b", "c"],
      toolsUsed: ["write", "shell", "delegate"],
      warnings: ["careful"],
    });
    expect(response.metrics).toEqual({
      iterations: 2,
      toolCalls: 4,
      inputTokens: 200,
      outputTokens: 20,
      totalTokens: 220,
      costUsd: 0.02,
      contextSize: expect.any(Number),
      durationMs: 1_000,
      subtree: {
        runs: 2,
        iterations: 3,
        toolCalls: 4,
        inputTokens: 220,
        outputTokens: 22,
        totalTokens: 242,
        costUsd: 0.021,
      },
      charged: { tokens: 242, costUsd: expect.closeTo(0.021), toolCalls: 4, spawns: 1 },
      waitedMs: 0,
    });
  });

  test("ignores a status in the model's JSON", () => {
    const d = drive();
    d.feed(reply(1, '{"status":"failed","success":false,"files_created":["x"]}'));
    expect(d.response()).toMatchObject({ status: "completed", success: true, filesCreated: [] });
  });

  test.each([
    ["its own", { costUsd: null }, {}, null, null],
    ["a child's", {}, { costUsd: null }, 0.02, null],
    ["none", {}, {}, 0.02, 0.021],
  ])("has an unknown sum if one cost is unknown: %s", (_, usage, subtree, own, all) => {
    const d = drive();
    d.feed(reply(1, "", [delegateTo("helper")], { usage }));
    d.feed(childSettled(1, 0, { subtree }));
    d.feed(reply(2, "done"));
    expect([d.response().metrics.costUsd, d.response().metrics.subtree.costUsd]).toEqual([own, all]);
  });

  test.each([
    ["a short one is kept", "short", "short"],
    ["its first paragraph", "first\nline\n \n second", "first\nline"],
    ["leading blank lines do not count", "\n\nfirst\n\nsecond", "first"],
    ["exactly 500", "x".repeat(500), "x".repeat(500)],
    ["cut at 500", "x".repeat(501), `${"x".repeat(499)}…`],
    ["cut at a word", `${"word ".repeat(120)}`, `${"word ".repeat(99).trim()}…`],
    ["not inside a character", `${"x".repeat(498)}😀😀`, `${"x".repeat(498)}…`],
  ])("summary: %s", (_, text, summary) => {
    const d = drive();
    d.feed(reply(1, text));
    expect(d.response().summary).toBe(summary);
    expect(d.response().summary.length).toBeLessThanOrEqual(500);
    expect(() => encodeURIComponent(d.response().summary)).not.toThrow();
  });

  test("has a truncated message for a long failure", () => {
    const d = drive();
    d.feed(cancelled("because ".repeat(200)));
    expect(RunResponse.safeParse(d.response()).success).toBe(true);
  });
});

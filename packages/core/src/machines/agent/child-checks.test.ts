/** A parent checks the results of its children before its model relies on them. */
import { describe, expect, test } from "vitest";
import type { ChildVerifier } from "../../protocol/agent.ts";
import {
  aBatch,
  checkedChildren,
  childSettled,
  delegateTo,
  reply,
  type SpecChanges,
  timerFired,
  verified,
} from "../fixtures.test-helper.ts";
import { drive, type MachineDriver } from "../machine-driver.test-helper.ts";

const corpus: ChildVerifier = { name: "report-corpus", params: {}, agent: "writer", words: ["report", "html"] };

function delegated(changes: SpecChanges = {}, task = "write the report"): MachineDriver {
  const d = drive({ definition: { childVerifiers: [corpus] }, ...changes });
  d.feed(reply(1, "", [delegateTo("writer", task)]));
  d.look();
  return d;
}

/** The check of the newest result has this outcome. */
function check(d: MachineDriver, failures: string[] = []): void {
  d.feed(checkedChildren(d.effect("checkChildren"), failures));
}

const lastMessage = (d: MachineDriver) => d.effect("callModel").messages.at(-1);
const result = { agent: "writer", details: "<html>" };

describe("the result of a child", () => {
  test("is checked before the next turn", () => {
    const d = delegated();
    expect(d.on(childSettled(1, 0, result))).toEqual({
      state: "execute.checkingChildren",
      started: ["check/1"],
      stopped: [],
    });
    expect(d.effect("checkChildren")).toMatchObject({
      round: 1,
      checks: [{ agent: "writer", task: "write the report", response: { details: "<html>" }, verifier: corpus }],
    });
  });

  test("that holds adds nothing to the conversation", () => {
    const d = delegated();
    d.feed(childSettled(1, 0, result));
    check(d);
    expect([d.state(), lastMessage(d)?.role]).toEqual(["execute.think", "tool"]);
    d.feed(reply(2, "here it is"));
    expect(d.response()).toMatchObject({ status: "completed" });
  });

  test("that does not hold puts a COMPLIANCE ERROR behind the result", () => {
    const d = delegated();
    d.feed(childSettled(1, 0, result));
    check(d, ["expanded_corpus.json is missing"]);
    const [before, last] = d.effect("callModel").messages.slice(-2);
    expect(before?.role).toBe("tool");
    expect(last).toEqual({
      role: "user",
      text: expect.stringMatching(/^COMPLIANCE ERROR: [\s\S]*- writer: expanded_corpus\.json is missing\n/),
    });
  });

  test("has the prefix once, also if the check has written it", () => {
    const d = delegated();
    d.feed(childSettled(1, 0, result));
    check(d, ["COMPLIANCE ERROR: a report was returned, but there is no corpus"]);
    const text = lastMessage(d)?.text ?? "";
    expect(text.split("COMPLIANCE ERROR")).toHaveLength(2);
    expect(text).toContain("- writer: a report was returned, but there is no corpus\n");
  });

  test.each([
    ["of a hanging child", { agent: "writer", status: "timeout" as const }, "write the report"],
    ["of a failed child", { agent: "writer", status: "failed" as const }, "write the report"],
    ["that only says the word in its answer", { agent: "writer", details: "an HTML page" }, "write it"],
  ])("%s is checked too", (_, changes, task) => {
    const d = delegated({}, task);
    d.feed(childSettled(1, 0, changes));
    expect(d.state()).toBe("execute.checkingChildren");
  });

  test.each([
    ["without the words", { agent: "writer" }, "count the words"],
    ["of another agent", { agent: "helper" }, "write the report"],
    ["of a child that never worked", { agent: "writer", status: "rejected" as const }, "write the report"],
    ["of a cancelled child", { agent: "writer", status: "cancelled" as const }, "write the report"],
  ])("%s is not checked", (_, changes, task) => {
    const d = delegated({}, task);
    d.feed(childSettled(1, 0, changes));
    expect(d.state()).toBe("execute.think");
  });

  test("that arrives during a check is checked next", () => {
    const d = drive({ definition: { childVerifiers: [{ ...corpus, agent: null, words: [] }] } });
    d.feed(reply(1, "", [aBatch([{ name: "a" }, { name: "b" }], { mode: "parallel_streaming" })]));
    d.feed(childSettled(1, 0));
    const first = d.effect("checkChildren");
    d.feed(childSettled(1, 0, {}, 1, 1));
    d.feed(checkedChildren(first));
    expect([d.state(), d.effect("checkChildren")]).toMatchObject([
      "execute.checkingChildren",
      { round: 2, checks: [{ verifier: { name: "report-corpus" } }] },
    ]);
  });

  test("is not waited for beyond the deadline", () => {
    const d = delegated();
    d.feed(childSettled(1, 0, result));
    d.feed(timerFired("deadline"));
    expect(d.response()).toMatchObject({ status: "timeout" });
  });
});

describe("a check that did not hold", () => {
  function failed(changes: SpecChanges = {}): MachineDriver {
    const d = delegated(changes);
    d.feed(childSettled(1, 0, result));
    check(d, ["it is missing"]);
    return d;
  }

  test("is repeated with the answer, which holds if the parent has mended it", () => {
    const d = failed();
    d.feed(reply(2, "I saved it myself"));
    expect(d.effect("verify")).toMatchObject({ childChecks: [{ agent: "writer", verifier: corpus }] });
    d.feed(verified(1));
    expect(d.response()).toMatchObject({
      status: "completed",
      warnings: ["a result did not hold: writer: it is missing; it was mended"],
    });
  });

  test("sends the run back to work, and then fails it", () => {
    const d = failed();
    for (const round of [1, 2]) {
      d.feed(reply(round + 1, "all is well"));
      d.feed(verified(round, ["writer: it is missing"]));
      expect(d.state()).toBe("execute.think");
    }
    d.feed(reply(4, "all is well"));
    d.feed(verified(3, ["writer: it is missing"]));
    expect(d.response()).toMatchObject({
      status: "failed",
      error: { type: "verification" },
      warnings: ["a result did not hold: writer: it is missing"],
    });
  });

  test("is over when a later result of the same agent passes it", () => {
    const d = failed();
    d.feed(reply(2, "", [delegateTo("writer", "the report again")]));
    d.feed(childSettled(2, 0, result));
    check(d);
    d.feed(reply(3, "here it is"));
    expect(d.state()).toBe("respond.settling");
  });

  test("stays open when another agent passes it", () => {
    const d = failed({ definition: { childVerifiers: [{ ...corpus, agent: null }] } });
    d.feed(reply(2, "", [delegateTo("helper", "the report again")]));
    d.feed(childSettled(2, 0, { agent: "helper" }));
    check(d);
    d.feed(reply(3, "here it is"));
    expect(d.state()).toBe("respond.verifying");
  });

  test("is the reason of the end if no turn is left to mend it", () => {
    const d = failed({ limits: { maxIterations: 2 } });
    d.feed(reply(2, "I cannot"));
    d.feed(verified(1, ["writer: it is missing"]));
    expect(d.response()).toMatchObject({ status: "failed", error: { type: "verification" } });
  });

  test("is the reason of the end if a cap is met in the middle of the work", () => {
    const d = failed({ limits: { maxIterations: 2 } });
    d.feed(reply(2, "again", [delegateTo("writer", "once more")]));
    expect(d.response()).toMatchObject({
      status: "failed",
      bailoutReason: "max_iterations",
      error: { type: "verification", message: "writer: it is missing" },
    });
  });
});

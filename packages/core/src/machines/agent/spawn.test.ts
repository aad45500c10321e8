/** Requests that begin with `/spawn`: the first turn delegates without a model, and the second answers with the result. */
import { describe, expect, test } from "vitest";
import { spawnReply } from "../../delegation/spawn-command.ts";
import type { RunRequest } from "../../protocol/request.ts";
import { childSettled, claimed, delegateTo, reply, type SpecChanges } from "../fixtures.test-helper.ts";
import { drive, type MachineDriver } from "../machine-driver.test-helper.ts";

const spawn = { agent: "helper", task: "help" };
const price = { inputPerMillion: 1_000, outputPerMillion: 1_000 };

function spawning(changes: SpecChanges = {}, request: Partial<RunRequest> = {}): MachineDriver {
  return drive(changes, { task: "/spawn helper help", spawn, ...request });
}

/** The first reply, as the host gives it. */
function spawned(d: MachineDriver): MachineDriver {
  d.feed({ kind: "model.replied", step: 1, reply: spawnReply(spawn, { context: null }), durationMs: 0 });
  return d;
}

describe("a /spawn", () => {
  test("starts its agent with the task, and the model answers with the result in its conversation", () => {
    const d = spawned(spawning());
    expect(d.effect("runChild").request).toMatchObject({ agent: "helper", task: "help", depth: 1, chain: ["main"] });
    d.feed(childSettled(1, 0, { agent: "helper" }));
    expect(d.effect("callModel").messages.slice(0, 2)).toMatchObject([
      { role: "user", text: "/spawn helper help" },
      { role: "assistant", calls: [{ name: "delegate", args: { agent: "helper" } }] },
    ]);
    expect(d.effect("callModel").messages.at(-1)).toMatchObject({ role: "tool", name: "delegate", isError: false });
    d.feed(reply(2, "it helped"));
    expect(d.response()).toMatchObject({ status: "completed", details: "it helped" });
  });

  test("reserves nothing for its first turn, and loses nothing if the host dies in it", () => {
    const d = spawning({ price, limits: { maxCostUsd: 50 } });
    expect(d.context().callReserve).toBeNull();
    d.feed(claimed());
    expect(d.effect("callModel").step).toBe(1);
    expect(d.context().usage).toMatchObject({ estimated: null, lost: { tokens: 0, costUsd: 0 } });
    spawned(d).feed(childSettled(1, 0, { agent: "helper" }));
    expect(d.context().callReserve).not.toBeNull();
  });

  test.each([
    ["a depth limit", { limits: { maxDepth: 0 } }, "depth"],
    ["a grant without the agent", { targets: ["writer"] }, "permission"],
    ["a budget without children", { budget: { spawns: 0 } }, "budget"],
  ])("that %s forbids fails with the reason, and asks no model", (_, changes, type) => {
    const d = spawned(spawning(changes));
    expect(d.state()).toBe("respond.settling");
    expect(d.response()).toMatchObject({ status: "failed", error: { type, tool: "delegate" } });
    expect(d.pendingKeys().filter((key) => key.startsWith("model/"))).toEqual([]);
  });

  test("with no other turn left starts nothing", () => {
    const d = spawned(spawning({ limits: { maxIterations: 1 } }));
    expect(d.response()).toMatchObject({ status: "bailed_out", bailoutReason: "max_iterations" });
  });

  test("comes before the conversation is shortened", () => {
    const long = "word ".repeat(4_000);
    const history = [1, 2, 3].flatMap((i) => [
      { role: "user" as const, text: `${i} ${long}` },
      { role: "assistant" as const, text: long, calls: [] },
    ]);
    const d = spawning({ history, contextTokens: 24_000 });
    expect(d.state()).toBe("execute.think");
    expect(d.effect("callModel")).toMatchObject({ step: 1, lastTurn: false });
    spawned(d).feed(childSettled(1, 0, { agent: "helper" }));
    expect(d.state()).not.toBe("execute.think");
  });

  test("replaces a delegation that the words of the task require", () => {
    const triggers = [{ words: ["report"], agent: "writer", after: [] }];
    const d = spawned(spawning({ definition: { triggers } }, { task: "/spawn helper write a report" }));
    d.feed(childSettled(1, 0, { agent: "helper" }));
    d.feed(reply(2, "it helped"));
    expect(d.response()).toMatchObject({ status: "completed" });
  });

  test("needs no search before it, although a trigger for its agent does", () => {
    const triggers = [{ words: ["report"], agent: "helper", after: ["web_search"] }];
    const grantedTools = ["web_search", "read"];
    const d = spawned(spawning({ definition: { triggers }, grantedTools }, { task: "/spawn helper write a report" }));
    expect(d.effect("runChild").request.agent).toBe("helper");
  });

  test("whose child failed lets the model say so, or delegate to another agent", () => {
    const d = spawned(spawning());
    d.feed(childSettled(1, 0, { agent: "helper", status: "failed" }));
    d.feed(reply(2, "", [delegateTo("writer")]));
    expect(d.effect("runChild").request.agent).toBe("writer");
    d.feed(childSettled(2, 0, { agent: "writer" }));
    d.feed(reply(3, "the writer did it"));
    expect(d.response()).toMatchObject({ status: "completed" });
  });
});

test("a task with the same words and no command in its request is one for the model", () => {
  const d = drive({ price, limits: { maxCostUsd: 50 } }, { task: "/spawn helper help" });
  expect(d.context().callReserve).not.toBeNull();
  d.feed(reply(1, "I will"));
  expect(d.response()).toMatchObject({ status: "completed" });
});

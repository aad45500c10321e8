/** A command reaches the runs that it concerns, and no other run. */
import { afterEach, describe, expect, it } from "vitest";
import {
  ask,
  createTestDeps,
  delegate,
  endsWith,
  entriesOf,
  entriesOnce,
  type Script,
  toolCall,
} from "../host-deps.test-helper.ts";
import {
  agents,
  by,
  childOf,
  delegating,
  deploying,
  head,
  request,
  session,
  startHost,
  stopHosts,
} from "./commands.test-helper.ts";
import { sendCommand } from "./send-command.ts";

afterEach(stopHosts);

describe("a run that is cancelled", () => {
  it("ends with all its descendants, woken if they were parked, and its parent continues", async () => {
    const script: Script = (question, signal) => {
      const { agent, step } = question.origin;
      if (agent === "tester") return deploying(question, signal);
      const target = agent === "main" ? "helper" : "tester";
      return step === 1 ? { calls: [delegate(target, "go")] } : { text: "went on without" };
    };
    const deps = createTestDeps({ agents, script });
    const host = await startHost(deps);
    const response = ask(deps, request);
    const child = await childOf(deps);
    const grandchild = await childOf(deps, child);
    await entriesOnce(deps, grandchild, endsWith("run.parked"));
    await sendCommand(deps, { ...head, kind: "run.cancelled", run: child.run, reason: "wrong way" });
    expect(await response).toMatchObject({ status: "completed", details: "went on without" });
    for (const ended of [child, grandchild]) {
      expect((await entriesOf(deps, ended)).at(-1)).toMatchObject({
        kind: "run.settled",
        response: { status: "cancelled", error: { message: "wrong way" } },
      });
    }
    expect(host.activeRuns()).toBe(0);
    expect(await deps.journal.openRuns()).toEqual([]);
  });

  it("is told by a parent that no longer needs it, even if it is parked", async () => {
    const tasks = [
      { agent: "other", task: "quick" },
      { agent: "helper", task: "waits for a person" },
    ];
    const gate = Promise.withResolvers<void>();
    const script: Script = async (question, signal) => {
      const { agent, step } = question.origin;
      if (agent === "helper") return await deploying(question, signal);
      if (agent === "other") {
        await gate.promise;
        return { text: "enough" };
      }
      return step === 1 ? { calls: [toolCall("delegate", { tasks, policy: "any" })] } : { text: "all done" };
    };
    const deps = createTestDeps({ agents, script });
    await startHost(deps);
    const response = ask(deps, request);
    const parked = await childOf(deps, request, 1);
    await entriesOnce(deps, parked, endsWith("run.parked"));
    gate.resolve();
    expect(await response).toMatchObject({ status: "completed", details: "all done" });
    expect((await entriesOf(deps, parked)).at(-1)).toMatchObject({
      kind: "run.settled",
      response: { status: "cancelled" },
    });
    const told = (await deps.journal.readInbox(session)).filter(({ item }) => item.kind === "run.cancelled");
    expect(told).toMatchObject([{ item: { run: parked.run } }]);
  });
});

describe("a command in the inbox", () => {
  it.for(["echo", "danger"])(
    "keeps all calls of the tool %s from starting, even without its announcement",
    async (tool) => {
      const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const script: Script = async () => {
        reached.resolve();
        await gate.promise;
        // The first call finds the command; the others must not start while it is being recorded.
        return { calls: ["a", "b", "c"].map((id) => toolCall(tool, { id }, id)) };
      };
      const deps = createTestDeps({ agents, script });
      await startHost(deps);
      const response = ask(deps, request);
      await reached.promise;
      await deps.journal.appendInbox({ ...head, kind: "session.cancelled", reason: "enough" });
      gate.resolve();
      expect(await response).toMatchObject({ status: "cancelled" });
      expect(deps.toolCalls).toEqual([]);
    },
  );
});

describe("a message of a person", () => {
  it("reaches the model of its run at the next step, and no other run", async () => {
    const [reached, gate] = [Promise.withResolvers<string>(), Promise.withResolvers<void>()];
    const received: string[] = [];
    const script: Script = async (question, signal) => {
      const { agent, step, run: id } = question.origin;
      const words = question.messages.map(({ text }) => text).join("\n");
      if (words.includes("mind the gap")) received.push(`${agent}/${step}`);
      if (agent === "main") return await delegating(question, signal);
      if (step > 1) return { text: "minded" };
      reached.resolve(id);
      await gate.promise;
      return { calls: [toolCall("echo")] };
    };
    const deps = createTestDeps({ agents, script });
    await startHost(deps);
    const response = ask(deps, request);
    const child = { session, run: await reached.promise };
    await sendCommand(deps, { ...head, kind: "run.steered", run: child.run, text: "mind the gap", by });
    await entriesOnce(deps, child, endsWith("inbox.received"));
    gate.resolve();
    expect(await response).toMatchObject({ status: "completed" });
    expect(received).toEqual(["helper/2"]);
  });
});

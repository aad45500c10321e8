/** A paused run starts no effects on any host, and continues where it was. */
import { childRunId, type InboxItem } from "@troupe/core";
import { afterEach, describe, expect, it } from "vitest";
import { createActorHost } from "../actor-host.ts";
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
import { recoverOpenRuns } from "../recovery/resume-open-runs.ts";
import {
  afterRestart,
  agents,
  answered,
  by,
  childOf,
  delegating,
  head,
  kinds,
  request,
  run,
  session,
  startHost,
  stopHosts,
} from "./commands.test-helper.ts";
import { sendCommand } from "./send-command.ts";

afterEach(stopHosts);

describe("a run that is paused", () => {
  /** Every step of main calls a tool, the third answers. */
  const stepping: Script = ({ origin }) => (origin.step < 3 ? { calls: [toolCall("echo")] } : { text: "done" });
  const pause = (id = run): InboxItem => ({ ...head, kind: "run.paused", run: id, by });
  const resume = (id = run): InboxItem => ({ ...head, kind: "run.resumed", run: id, by });

  it("finishes its running effects, starts no more, leaves memory, and continues after its resume", async () => {
    const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const script: Script = async (question, signal) => {
      reached.resolve();
      await gate.promise;
      return await stepping(question, signal);
    };
    const before = createTestDeps({ agents, script });
    const lost = await startHost(before);
    void ask(before, request);
    await reached.promise;
    await sendCommand(before, pause());
    await entriesOnce(before, request, endsWith("inbox.received"));
    gate.resolve();
    const parked = await entriesOnce(before, request, endsWith("run.parked"));
    expect(kinds(parked)).toEqual(["run.opened", "inbox.received", "model.replied", "run.parked"]);
    expect(parked.at(-1)).toMatchObject({ reason: "pause" });
    expect(before.toolCalls).toEqual([]);
    expect(lost.activeRuns()).toBe(0);

    const after = afterRestart(before, stepping);
    await startHost(after);
    expect(await recoverOpenRuns(after.journal, after.queue)).toEqual([]);
    const answer = answered(after);
    await sendCommand(after, resume());
    expect(await answer).toMatchObject({ status: "completed", details: "done" });
    expect(after.toolCalls).toEqual([`${run}/1/0`, `${run}/2/0`]);
  });

  it("pauses with all its descendants, and each continues from its own state", async () => {
    const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const script: Script = async (question, signal) => {
      if (question.origin.agent === "main") return await delegating(question, signal);
      reached.resolve();
      await gate.promise;
      return await stepping(question, signal);
    };
    const deps = createTestDeps({ agents, script });
    const host = await startHost(deps);
    const response = ask(deps, request);
    const child = await childOf(deps);
    await reached.promise;
    await sendCommand(deps, pause());
    await entriesOnce(deps, child, endsWith("inbox.received"));
    gate.resolve();
    await entriesOnce(deps, child, endsWith("run.parked"));
    // Its parent waits for the child's response: that alone keeps it.
    expect(host.activeRuns()).toBe(1);
    await sendCommand(deps, resume());
    expect(await response).toMatchObject({ status: "completed", details: "all done" });
    expect(deps.toolCalls).toEqual([`${child.run}/1/0`, `${child.run}/2/0`]);
  });

  it("does not pause its siblings or ancestors", async () => {
    const deps = createTestDeps({
      agents,
      script: ({ origin }) => {
        if (origin.agent !== "main") return { text: "did it" };
        return origin.step === 1 ? { calls: [delegate("helper", "a"), delegate("other", "b")] } : { text: "all done" };
      },
    });
    const held = childRunId({ parentRun: run, step: 1, call: 0, attempt: 1 });
    await deps.journal.appendInbox(pause(held));
    await startHost(deps);
    const response = ask(deps, request);
    const parked = await entriesOnce(deps, { session, run: held }, endsWith("run.parked"));
    // Paused before it started: its model was not called.
    expect(kinds(parked)).toEqual(["run.opened", "inbox.received", "run.parked"]);
    await entriesOnce(deps, request, (all) => all.some(({ kind }) => kind === "child.settled"));
    await sendCommand(deps, resume(held));
    expect(await response).toMatchObject({ status: "completed" });
    expect(deps.modelCalls.sort()).toEqual(["helper/1/1", "main/1/1", "main/1/2", "other/1/1"]);
  });

  it("calls its model no more, even without the announcement", async () => {
    const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const script: Script = async ({ origin }) => {
      if (origin.agent === "main" && origin.step === 1) return { calls: [delegate("helper", "a")] };
      if (origin.agent !== "main") {
        reached.resolve();
        await gate.promise;
      }
      return { text: "done" };
    };
    const deps = createTestDeps({ agents, script });
    await startHost(deps);
    const response = ask(deps, request);
    const child = await childOf(deps);
    await reached.promise;
    // Stored without an announcement: the root reads it before its next model call.
    await deps.journal.appendInbox(pause());
    await deps.journal.appendInbox(resume(child.run));
    gate.resolve();
    const parked = await entriesOnce(deps, request, endsWith("run.parked"));
    expect(kinds(parked).slice(-3)).toEqual(["child.settled", "inbox.received", "run.parked"]);
    expect(deps.modelCalls).toEqual(["main/1/1", "helper/1/1"]);
    await sendCommand(deps, resume());
    expect(await response).toMatchObject({ status: "completed" });
  });
});

describe("a run that is paused before its effects could start", () => {
  const pause: InboxItem = { ...head, kind: "run.paused", run, by };
  const resume: InboxItem = { ...head, kind: "run.resumed", run, by };

  it("starts no effect, and stays in memory if a child keeps it there", async () => {
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const tasks = [
      { agent: "other", task: "quick" },
      { agent: "helper", task: "slow" },
    ];
    const script: Script = async ({ origin: { agent, step } }) => {
      if (agent === "main" && step === 1)
        return { calls: [toolCall("delegate", { tasks, mode: "parallel_streaming" })] };
      if (agent !== "main") await (agent === "other" ? first : second).promise;
      return { text: `${agent} is done` };
    };
    const deps = createTestDeps({ agents, script });
    await startHost(deps);
    const response = ask(deps, request);
    // Both children are at work: the pause itself would hold back an effect that has not started.
    while (deps.modelCalls.length < 3) await new Promise((resolve) => setImmediate(resolve));
    await deps.journal.appendInbox(pause);
    first.resolve();
    // Read before its second model call, while one of its children is still running.
    await entriesOnce(deps, request, endsWith("inbox.received"));
    await sendCommand(deps, resume);
    await entriesOnce(deps, request, (all) => kinds(all).filter((kind) => kind === "model.replied").length === 2);
    second.resolve();
    expect(await response).toMatchObject({ status: "completed", details: "main is done" });
    expect(kinds(await entriesOf(deps, request))).not.toContain("run.parked");
  });

  it("does not repeat a running effect after a restart, until it is resumed", async () => {
    const reached = Promise.withResolvers<void>();
    const script: Script = ({ origin }) => (origin.step === 1 ? { calls: [toolCall("echo")] } : { text: "done" });
    const hanging = () => {
      reached.resolve();
      return new Promise<never>(() => {});
    };
    const before = createTestDeps({ agents, script, tools: { run: hanging } });
    const lost = createActorHost({ deps: before });
    await lost.start();
    void ask(before, request);
    await reached.promise;
    await before.journal.appendInbox(pause);

    const after = afterRestart(before, script);
    await startHost(after);
    expect(await recoverOpenRuns(after.journal, after.queue)).toEqual([run]);
    const parked = await entriesOnce(after, request, endsWith("run.parked"));
    expect(parked.at(-1)).toMatchObject({ reason: "pause" });
    expect(after.toolCalls).toEqual([]);
    const answer = answered(after);
    await sendCommand(after, resume);
    expect(await answer).toMatchObject({ status: "completed" });
    expect(after.toolCalls).toEqual([`${run}/1/0`]);
  });
});

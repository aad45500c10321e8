/**
 * A run that waits for an approval leaves memory, the answer reaches it on any host, and the wait does not count against
 * its time limit.
 */
import { LiveEvent } from "@troupe/core";
import { decode } from "@troupe/core/internal";
import { createSimulatedClock } from "@troupe/core/memory";
import { afterEach, describe, expect, it } from "vitest";
import {
  ask,
  createTestDeps,
  endsWith,
  entriesOf,
  entriesOnce,
  realClock,
  type Script,
  toolCall,
} from "../host-deps.test-helper.ts";
import { recoverOpenRuns } from "../recovery/resume-open-runs.ts";
import {
  afterRestart,
  agents,
  allowed,
  answered,
  answerTo,
  childOf,
  delegating,
  deploying,
  kinds,
  request,
  run,
  startHost,
  stopHosts,
} from "./commands.test-helper.ts";
import { sendCommand } from "./send-command.ts";

afterEach(stopHosts);

describe("a call that needs an approval", () => {
  it("leaves memory, survives its host, and continues with the answer", async () => {
    const before = createTestDeps({ agents, script: deploying });
    const lost = await startHost(before);
    void ask(before, request);
    const asked = await entriesOnce(before, request, endsWith("run.parked"));
    expect(kinds(asked)).toEqual(["run.opened", "model.replied", "approval.requested", "run.parked"]);
    expect(asked.at(-1)).toMatchObject({ reason: "approval" });
    await expect.poll(() => lost.activeRuns()).toBe(0);
    expect(before.toolCalls).toEqual([]);

    const after = afterRestart(before, deploying);
    await startHost(after);
    expect(await recoverOpenRuns(after.journal, after.queue)).toEqual([]);
    const answer = answered(after);
    await sendCommand(after, answerTo(asked, true));
    expect(await answer).toMatchObject({ status: "completed", toolsUsed: ["deploy"], details: 'echo {"to":"prod"}' });
    expect(after.toolCalls).toEqual([`${run}/1/0`]);
    expect(kinds(await entriesOf(after, request)).slice(4, 8)).toEqual([
      "run.claimed",
      "inbox.received",
      "tool.started",
      "tool.finished",
    ]);
  });

  it("is offered at the next start if it was answered while no host was running", async () => {
    const before = createTestDeps({ agents, script: deploying });
    await startHost(before);
    void ask(before, request);
    const asked = await entriesOnce(before, request, endsWith("run.parked"));
    await before.journal.appendInbox(answerTo(asked, true));

    const after = afterRestart(before, deploying);
    await startHost(after);
    const answer = answered(after);
    expect(await recoverOpenRuns(after.journal, after.queue)).toEqual([run]);
    expect(await answer).toMatchObject({ status: "completed" });
  });

  it("does not run if it is denied, and the model gets the reason", async () => {
    const deps = createTestDeps({ agents, script: deploying });
    await startHost(deps);
    const response = ask(deps, request);
    const asked = await entriesOnce(deps, request, endsWith("run.parked"));
    await sendCommand(deps, answerTo(asked, false));
    expect(await response).toMatchObject({
      status: "completed",
      details: expect.stringContaining("denied by a person"),
    });
    expect(deps.toolCalls).toEqual([]);
  });

  it("does not delay its siblings, and leaves memory only after them", async () => {
    const gate = Promise.withResolvers<void>();
    const script: Script = ({ origin }) =>
      origin.step === 1 ? { calls: [toolCall("deploy"), toolCall("echo")] } : { text: "done" };
    const deps = createTestDeps({ agents, script });
    const tools = deps.tools;
    deps.tools = {
      ...tools,
      async run(call, context) {
        if (call.name === "echo") await gate.promise;
        return await tools.run(call, context);
      },
    };
    await startHost(deps);
    const response = ask(deps, request);
    const asked = await entriesOnce(deps, request, endsWith("approval.requested"));
    gate.resolve();
    const parked = await entriesOnce(deps, request, endsWith("run.parked"));
    expect(kinds(parked).slice(-3)).toEqual(["approval.requested", "tool.finished", "run.parked"]);
    await sendCommand(deps, answerTo(asked, true));
    expect(await response).toMatchObject({ status: "completed" });
    expect(deps.toolCalls.sort()).toEqual([`${run}/1/0`, `${run}/1/1`]);
  });

  it("is allowed for the rest of its run if the answer has that scope", async () => {
    const script: Script = ({ origin }) =>
      origin.step < 3 ? { calls: [toolCall("deploy", { to: origin.step })] } : { text: "done" };
    const deps = createTestDeps({ agents, script });
    await startHost(deps);
    const response = ask(deps, request);
    const asked = await entriesOnce(deps, request, endsWith("run.parked"));
    await sendCommand(deps, answerTo(asked, true, "run"));
    expect(await response).toMatchObject({ status: "completed" });
    expect(deps.toolCalls).toEqual([`${run}/1/0`, `${run}/2/0`]);
  });

  it("gets an answer that arrives while its run is being parked", async () => {
    const deps = createTestDeps({ agents, script: deploying });
    const { journal } = deps;
    deps.journal = {
      ...journal,
      async append(append) {
        const result = await journal.append(append);
        // Too late for the run, which has parked; too early for the sender to find a task that can be offered.
        if (append.entries.some(({ text }) => text.includes('"kind":"run.parked"'))) {
          await journal.appendInbox(answerTo(await entriesOf(deps, request), true));
        }
        return result;
      },
    };
    await startHost(deps);
    expect(await ask(deps, request)).toMatchObject({ status: "completed", toolsUsed: ["deploy"] });
  });

  it("gets an answer that was read too late to be journaled", async () => {
    const deps = createTestDeps({ agents, script: deploying });
    const { journal } = deps;
    deps.journal = {
      ...journal,
      async append(append) {
        if (append.entries.some(({ text }) => text.includes('"kind":"run.parked"'))) {
          await sendCommand(deps, answerTo(await entriesOf(deps, request), true));
          await new Promise((resolve) => setImmediate(resolve));
        }
        return await journal.append(append);
      },
    };
    await startHost(deps);
    expect(await ask(deps, request)).toMatchObject({ status: "completed", toolsUsed: ["deploy"] });
    // It was parking: the next host records the answer that it had received.
    const entries = kinds(await entriesOf(deps, request));
    expect(entries.slice(3, 6)).toEqual(["run.parked", "run.claimed", "inbox.received"]);
  });

  it("is searched again if the inbox could not be read after the run was parked", async () => {
    const deps = createTestDeps({ agents, script: deploying });
    const { journal } = deps;
    let failures = 0;
    deps.journal = {
      ...journal,
      async append(append) {
        const result = await journal.append(append);
        if (append.entries.some(({ text }) => text.includes('"kind":"run.parked"'))) {
          await journal.appendInbox(answerTo(await entriesOf(deps, request), true));
          failures = 1;
        }
        return result;
      },
      readInbox: (of, after) => (failures-- > 0 ? Promise.reject(new Error("EIO")) : journal.readInbox(of, after)),
    };
    const sooner = (delayMs: number): number => (delayMs > 4_000 ? delayMs : Math.min(delayMs, 5));
    deps.clock = { ...realClock, after: (delayMs, callback) => realClock.after(sooner(delayMs), callback) };
    await startHost(deps);
    expect(await ask(deps, request)).toMatchObject({ status: "completed", toolsUsed: ["deploy"] });
  });

  it("takes no time from its run, nor from its parents", async () => {
    const deps = createTestDeps({ agents, script: delegating });
    const clock = createSimulatedClock(1_000);
    deps.clock = clock;
    const stands = Promise.withResolvers<void>();
    await deps.bus.subscribe(deps.subjects.live(request.session, request.run), ({ bytes }) => {
      if (new TextDecoder().decode(bytes).includes('"waiting":true')) stands.resolve();
    });
    await startHost(deps);
    const response = ask(deps, request);
    const child = await childOf(deps);
    const asked = await entriesOnce(deps, child, endsWith("run.parked"));
    // Not only in its journal: the run has seen it, and its clock stands still.
    await stands.promise;
    clock.advance(600_000);
    await sendCommand(deps, answerTo(asked, true));
    const settled = await response;
    expect(settled).toMatchObject({ status: "completed", details: "all done" });
    expect(settled.metrics.waitedMs).toBe(600_000);
    const waits = (await entriesOf(deps, request)).filter((entry) => entry.kind === "child.waiting");
    expect(waits).toMatchObject([{ waiting: true }, { waiting: false }]);
  });

  it("is not woken when its ancestors resume after a restart", async () => {
    const before = createTestDeps({ agents, script: delegating });
    await startHost(before);
    void ask(before, request);
    const child = await childOf(before);
    const asked = await entriesOnce(before, child, endsWith("run.parked"));
    await entriesOnce(before, request, endsWith("child.waiting"));

    const after = afterRestart(before, delegating);
    const host = await startHost(after);
    expect(await recoverOpenRuns(after.journal, after.queue)).toEqual([run]);
    await entriesOnce(after, request, endsWith("run.claimed"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(host.activeRuns()).toBe(1);
    expect(await entriesOf(after, child)).toHaveLength(asked.length);
    const answer = answered(after);
    await sendCommand(after, answerTo(asked, true));
    expect(await answer).toMatchObject({ status: "completed", details: "all done" });
    const waits = (await entriesOf(after, request)).filter((entry) => entry.kind === "child.waiting");
    expect(waits).toMatchObject([{ waiting: true }, { waiting: false }]);
  });

  it("waits for its answer, and not for the next start, if it arose during a stop of its host", async () => {
    const [reached, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const script: Script = async (question, signal) => {
      reached.resolve();
      await gate.promise;
      return await deploying(question, signal);
    };
    const deps = createTestDeps({ agents, script });
    const { tools } = deps;
    deps.tools = {
      ...tools,
      assess(call, context) {
        const decision = tools.assess(call, context);
        void host.stop({ graceMs: 5_000 });
        return decision;
      },
    };
    const host = await startHost(deps);
    void ask(deps, request);
    await reached.promise;
    gate.resolve();
    const parked = await entriesOnce(deps, request, endsWith("run.parked"));
    expect(parked.at(-1)).toMatchObject({ reason: "approval" });
  });

  it("is published as a wait, and no other call is", async () => {
    const received: unknown[] = [];
    const deps = createTestDeps({ agents, script: delegating, tools: { assess: () => allowed } });
    await deps.bus.subscribe(deps.subjects.all.live, ({ bytes }) => {
      const event = decode(LiveEvent, bytes, "live event");
      if (event.kind === "run.waiting") received.push(event);
    });
    await startHost(deps);
    expect(await ask(deps, request)).toMatchObject({ status: "completed" });
    expect(received).toEqual([]);
  });

  it("is found in its journal if the message of it was lost", async () => {
    const deps = createTestDeps({ agents, script: delegating });
    const { bus } = deps;
    deps.bus = {
      ...bus,
      publish(subject, bytes) {
        if (!new TextDecoder().decode(bytes).includes('"kind":"run.waiting"')) bus.publish(subject, bytes);
      },
    };
    const sooner = (delayMs: number): number => (delayMs > 10_000 ? delayMs : Math.min(delayMs, 5));
    deps.clock = { ...realClock, after: (delayMs, callback) => realClock.after(sooner(delayMs), callback) };
    await startHost(deps);
    const response = ask(deps, request);
    const child = await childOf(deps);
    const asked = await entriesOnce(deps, child, endsWith("run.parked"));
    await entriesOnce(deps, request, endsWith("child.waiting"));
    await sendCommand(deps, answerTo(asked, true));
    expect(await response).toMatchObject({ status: "completed" });
  });
});
